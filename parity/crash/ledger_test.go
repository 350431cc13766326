package crash

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/echomq/emqd/parity/script"
	"github.com/echomq/emqd/server/resp"
)

// client is a connection that may break at any time.
type client struct {
	net.Conn
	replies *resp.ReplyReader
}

func newClient(c net.Conn) *client {
	if c == nil {
		return &client{}
	}
	return &client{c, resp.NewReplyReader(c)}
}

func connect(socket string) (*client, error) {
	c, err := net.Dial("unix", socket)
	return newClient(c), err
}

// do sends one request and returns its reply in the notation of the scripts. An error is one of the connection: then it
// is not known whether the request was done.
func (c *client) do(words ...string) (string, error) {
	if c.Conn == nil {
		return "", io.EOF
	}
	if err := c.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		return "", err
	}
	if _, err := c.Write(resp.AppendRequest(nil, words...)); err != nil {
		return "", err
	}
	return c.next()
}

// leave closes the connection, if there is one.
func (c *client) leave() {
	if c.Conn != nil {
		_ = c.Close() // nothing is left to be sent
	}
}

func (c *client) next() (string, error) {
	b, err := c.replies.Next()
	if err != nil {
		return "", err
	}
	v, _, err := script.Decode(b)
	return v.String(), err
}

const q = "emq:{q}:"

// ledger is the account of what emqd has acknowledged, kept outside of it.
type ledger struct {
	t         *testing.T
	mu        sync.Mutex
	stopped   bool            // producers have stopped
	added     map[string]bool // acknowledged
	maybe     map[string]bool // sent, and the connection broke before the reply
	token     map[string]int  // the last that was given for a job
	completed map[string]bool // acknowledged
	unsure    map[string]bool // completion sent without a reply
	replies   int
	claims    int
	fails     int
}

func newLedger(t *testing.T) *ledger {
	return &ledger{t: t, added: map[string]bool{}, maybe: map[string]bool{}, token: map[string]int{},
		completed: map[string]bool{}, unsure: map[string]bool{}}
}

func payload(id string) string { return strings.Repeat(id+" ", 1+len(id)*int(id[len(id)-1]-'0')) }

// load adds jobs that nobody works.
func (l *ledger) load(c *client, n int) {
	for first := 0; first < n; first += 1000 {
		var b []byte
		last := min(first+1000, n)
		for i := first; i < last; i++ {
			id := fmt.Sprintf("JOB%d", i)
			b = resp.AppendRequest(b, "EMQ.ENQUEUE", "2", "emq:{still}:job:"+id, "emq:{still}:pending", id, payload(id))
		}
		_, err := c.Write(b)
		require.NoError(l.t, err)
		for range last - first {
			reply, err := c.next()
			require.NoError(l.t, err)
			require.Equal(l.t, ":1", reply)
		}
	}
}

// produce adds jobs until it is stopped. What it does not know the fate of it never sends again.
func (l *ledger) produce(k *killed, who int) {
	c, life := k.dial(0)
	for i := 0; c != nil; i++ {
		id := fmt.Sprintf("JOB%d%07d", who+1, i)
		request := []string{"EMQ.ENQUEUE", "2", q + "job:" + id, q + "pending", id, payload(id)}
		if i%5 == 0 {
			request = []string{"EMQ.SCHEDULE", "2", q + "job:" + id, q + "schedule", id, payload(id), "in", "30"}
		}
		reply, err := c.do(request...)
		l.mu.Lock()
		switch {
		case err != nil:
			l.maybe[id] = true
		case reply == ":1":
			l.added[id] = true
			l.replies++
		default:
			l.t.Errorf("adding %s: %s", id, reply)
		}
		stopped := l.stopped
		l.mu.Unlock()
		if stopped {
			return
		}
		if err != nil {
			c.leave()
			c, life = k.dial(life)
		}
	}
}

// work claims and completes jobs until the end; one in twenty fails, one in twenty is left.
func (l *ledger) work(k *killed, who int) {
	c, life := k.dial(0)
	for i := 0; c != nil && !k.ending(); i++ {
		reply, err := c.do("EMQ.BCLAIM", "3", q+"pending", q+"active", q, "1000", "0.05")
		if err == nil {
			err = l.handle(c, reply, (i+who)%20)
		}
		if err != nil {
			c.leave()
			c, life = k.dial(life)
		}
	}
}

func (l *ledger) handle(c *client, claim string, fate int) error {
	if claim == "*-1" || claim == "*[]" || claim == "_" {
		return nil
	}
	var id, text string
	var token int
	v, err := fmt.Sscanf(strings.NewReplacer("*[$", "", " $", " ", ":", "", "]", "").Replace(claim), "%q %q %d", &id, &text, &token)
	if v != 3 {
		l.t.Errorf("claimed %s: %v", claim, err)
		return errors.New("not a claim")
	}
	l.mu.Lock()
	l.claims++
	l.replies++
	switch {
	case text != payload(id):
		l.t.Errorf("%s has another payload: %q", id, text)
	case l.completed[id]:
		l.t.Errorf("%s is claimed after it was completed", id)
	case token <= l.token[id]:
		l.t.Errorf("%s has the token %d again; %d was given before", id, token, l.token[id])
	}
	l.token[id] = token
	l.mu.Unlock()
	if fate == 1 {
		return nil // the lease lapses
	}
	words := fmt.Sprint(token)
	if fate == 0 {
		reply, err := c.do("EMQ.FAIL", "5", q+"active", q+"schedule", q+"dead", q+"job:"+id, q, id, words, "10", "100", "failed")
		l.mu.Lock()
		l.fails++
		l.mu.Unlock()
		if err == nil && reply != `$"scheduled"` && !strings.HasPrefix(reply, "-EMQSTALE") {
			l.t.Errorf("failing %s: %s", id, reply)
		}
		return err
	}
	reply, err := c.do("EMQ.COMPLETE", "3", q+"active", q+"job:"+id, q, id, words)
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case err != nil:
		l.unsure[id] = true
	case reply == ":1" && l.completed[id]:
		l.t.Errorf("%s is completed twice", id)
	case reply == ":1":
		l.completed[id] = true
		l.replies++
	case reply != ":0" && !strings.HasPrefix(reply, "-EMQSTALE"):
		l.t.Errorf("completing %s: %s", id, reply)
	}
	return err
}

// mend gives the jobs of lapsed leases back and lets due ones be claimed.
func (l *ledger) mend(k *killed) {
	c, life := k.dial(0)
	every := time.NewTicker(20 * time.Millisecond)
	defer every.Stop()
	for ; c != nil && !k.ending(); <-every.C {
		_, err := c.do("EMQ.PROMOTE", "3", q+"schedule", q+"pending", q, "1000")
		if err == nil {
			_, err = c.do("EMQ.STALLED.CHECK", "4", q+"active", q+"pending", q+"dead", q, "1000000", "1000")
		}
		if err != nil {
			c.leave()
			c, life = k.dial(life)
		}
	}
}

// stop ends the producers.
func (l *ledger) stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stopped = true
}

// drain waits until the workers have completed everything.
func (l *ledger) drain(k *killed) {
	c, err := connect(k.socket)
	require.NoError(l.t, err)
	deadline := time.Now().Add(2 * time.Minute)
	for every := time.Tick(20 * time.Millisecond); time.Now().Before(deadline); <-every {
		left := ""
		for _, set := range []string{"pending", "active", "schedule"} {
			n, err := c.do("ZCARD", q+set)
			require.NoError(l.t, err)
			left += n
		}
		if left == ":0:0:0" {
			return
		}
	}
	require.Fail(l.t, "jobs are left")
}

// check compares the ledger with what emqd holds in the end.
func (l *ledger) check(c *client, ballast int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	lost := 0
	for id := range l.added {
		if !l.completed[id] && !l.unsure[id] {
			lost++
			l.t.Errorf("%s is lost", id)
		}
	}
	n, err := c.do("ZCARD", "emq:{still}:pending")
	require.NoError(l.t, err)
	require.Equal(l.t, fmt.Sprintf(":%d", ballast), n)
	keys, err := c.do("DBSIZE")
	require.NoError(l.t, err)
	// The jobs that wait, their set, the fence, and the count of completed jobs.
	require.Equal(l.t, fmt.Sprintf(":%d", ballast+3), keys)
	dead, err := c.do("EXISTS", q+"dead")
	require.NoError(l.t, err)
	require.Equal(l.t, ":0", dead)
	require.Zero(l.t, lost)
}

func (l *ledger) report() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return fmt.Sprintf("%d jobs acknowledged and %d of unknown fate, %d claims, %d failures, %d completed, %d completions of unknown fate: "+
		"lost 0, completed twice 0", len(l.added), len(l.maybe), l.claims, l.fails, len(l.completed), len(l.unsure))
}
