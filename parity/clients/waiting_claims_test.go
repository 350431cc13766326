package clients

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/echomq/emqd/parity/node"
	"github.com/echomq/emqd/server"
)

const (
	waitFlat = "EMQ.BCLAIM 3 emq:{q}:pending emq:{q}:active emq:{q}: 60000 "
	waitLane = "EMQ.GROUP.BCLAIM 3 emq:{q}:ring emq:{q}:active emq:{q}: 60000 "
)

// waitKinds are the two verbs that wait, each with what adds job %[1]s for it, what it then replies, and where the job stands.
var waitKinds = []struct{ name, wait, add, reply, pending string }{
	{"flat", waitFlat, "EMQ.ENQUEUE 2 emq:{q}:job:%[1]s emq:{q}:pending %[1]s p", `*[$"%s" $"p" :1]`, "emq:{q}:pending"},
	{"lane", waitLane, "EMQ.GROUP.ENQUEUE 3 emq:{q}:job:%[1]s emq:{q}:g:x:pending emq:{q}: %[1]s p x", `*[$"%s" $"p" :1 $"x"]`, "emq:{q}:g:x:pending"},
}

// installed starts a node with the fence and returns it with a connection.
func installed(t *testing.T) (*node.Node, *node.Conn) {
	n := node.Start(t)
	c := n.Dial()
	c.Want("EMQ.INSTALL", "+OK")
	return n, c
}

// untilBlocked returns when that many clients wait.
func untilBlocked(c *node.Conn, clients int) {
	for !strings.Contains(c.Do("INFO clients"), fmt.Sprintf(`blocked_clients:%d\r\n`, clients)) {
	}
}

// Thirty claimers that come back at once after each job are served strictly in turn.
func TestWaitingClaimersAreServedInTurn(t *testing.T) {
	for _, kind := range waitKinds {
		t.Run(kind.name, func(t *testing.T) {
			n, c := installed(t)
			const claimers, rounds = 30, 4
			var waiting []*node.Conn
			for i := range claimers {
				waiting = append(waiting, n.Dial())
				waiting[i].Send(kind.wait + "0")
				untilBlocked(c, i+1)
			}
			for i := range claimers * rounds {
				id := fmt.Sprintf("JOB%04d", i)
				c.Want(fmt.Sprintf(kind.add, id), ":1")
				w := waiting[i%claimers]
				require.Equal(t, fmt.Sprintf(kind.reply, id), w.Next())
				w.Send(kind.wait + "0")
				untilBlocked(c, claimers)
			}
		})
	}
}

// A claimer that is gone when a job comes takes nothing, also when nobody has noticed it yet, whichever way it was connected.
func TestWaitingClaimerThatLeftTakesNothing(t *testing.T) {
	dir, err := os.MkdirTemp("", "left") // a Unix socket's path must be short
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	for _, kind := range waitKinds {
		for _, network := range []string{"tcp", "unix"} {
			t.Run(kind.name+" "+network, func(t *testing.T) {
				path := filepath.Join(dir, kind.name)
				n := node.Start(t, func(c *server.Config) { c.UnixSocket = path })
				c := n.Dial()
				c.Want("EMQ.INSTALL", "+OK")
				address := map[string]string{"tcp": n.Addr, "unix": path}[network]
				for i := range 100 {
					conn, err := net.Dial(network, address)
					require.NoError(t, err)
					left := node.Wrap(t, conn)
					left.Send(kind.wait + "0")
					untilBlocked(c, 1)
					require.NoError(t, left.Close())
					id := fmt.Sprintf("JOB%04d", i)
					c.Want(fmt.Sprintf(kind.add, id), ":1")
					c.Want("ZCARD emq:{q}:active", ":0")
					c.Want("ZRANGE "+kind.pending+" 0 -1", fmt.Sprintf(`*[$"%s"]`, id))
					untilBlocked(c, 0)
					c.Want("DEL "+kind.pending+" emq:{q}:ring emq:{q}:job:"+id, map[string]string{"flat": ":2", "lane": ":3"}[kind.name])
				}
			})
		}
	}
}

func TestWaitingClaimerIsUnblocked(t *testing.T) {
	for _, kind := range waitKinds {
		t.Run(kind.name, func(t *testing.T) {
			n, c := installed(t)
			w := n.Dial()
			id := strings.TrimPrefix(w.Do("CLIENT ID"), ":")
			for how, reply := range map[string]string{
				"": "*[]", " TIMEOUT": "*[]", " ERROR": "-UNBLOCKED client unblocked via CLIENT UNBLOCK",
			} {
				w.Send(kind.wait + "0")
				untilBlocked(c, 1)
				c.Want("CLIENT UNBLOCK "+id+how, ":1")
				require.Equal(t, reply, w.Next())
				c.Want("CLIENT UNBLOCK "+id, ":0")
			}
			w.Send(kind.wait + "0")
			untilBlocked(c, 1)
			c.Want("CLIENT KILL ID "+id, ":1")
			untilBlocked(c, 0)
			c.Want(fmt.Sprintf(kind.add, "JOB1"), ":1")
			c.Want("ZCARD emq:{q}:active", ":0")
		})
	}
}

// A timeout is never early, and less than 10 ms late while other clients keep the node busy. How late a reply is seen
// depends on the test's own machine, so the best of a few has to be that good.
func TestWaitingClaimerTimesOutInTime(t *testing.T) {
	for _, kind := range waitKinds {
		t.Run(kind.name, func(t *testing.T) {
			n, c := installed(t)
			busy := make(chan struct{})
			done := make(chan struct{})
			go func() {
				defer close(done)
				for {
					select {
					case <-busy:
						return
					default:
						c.Send(strings.Split(strings.Repeat("SET k v\n", 100)+"GET k", "\n")...)
						for range 101 {
							c.Bytes()
						}
					}
				}
			}()
			w, best := n.Dial(), time.Hour
			for range 10 {
				start := time.Now()
				w.Want(kind.wait+"0.05", "*[]")
				late := time.Since(start) - 50*time.Millisecond
				require.GreaterOrEqual(t, late, time.Duration(0))
				best = min(best, late)
			}
			close(busy)
			<-done
			require.Less(t, best, 10*time.Millisecond)
		})
	}
}

// A job that is claimed again and again goes to the claimer that has waited longest, whichever way it came back.
func TestWaitingClaimersWakeByEveryWay(t *testing.T) {
	n, c := installed(t)
	const lane = "EMQ.GROUP."
	back := []struct{ name, verb, reply string }{
		{"requeue", lane + "REQUEUE 4 emq:{q}:active emq:{q}:pending emq:{q}:job:JOB1 emq:{q}: JOB1 %d", ":1"},
		{"reap", "EMQ.REAP 3 emq:{q}:active emq:{q}:pending emq:{q}: 10", ":1"},
		{"group reap", lane + "REAP 2 emq:{q}:active emq:{q}: x 10", ":1"},
		{"stalled check", lane + "STALLED.CHECK 4 emq:{q}:active emq:{q}:pending emq:{q}:dead emq:{q}: 99 10", `*[*[$"JOB1"] *[]]`},
		{"delay and promote", lane + "DELAY 4 emq:{q}:job:JOB1 emq:{q}:active emq:{q}:schedule emq:{q}: JOB1 %d at 1", ":1"},
		{"failure and promote", lane + "FAIL 5 emq:{q}:active emq:{q}:schedule emq:{q}:dead emq:{q}:job:JOB1 emq:{q}: JOB1 %d -5 99 boom", `$"scheduled"`},
		{"death and reprocess", lane + "FAIL 5 emq:{q}:active emq:{q}:schedule emq:{q}:dead emq:{q}:job:JOB1 emq:{q}: JOB1 %d 0 1 boom", `$"dead"`},
	}
	c.Want("EMQ.GROUP.LIMIT 1 emq:{q}: x 1", ":1")
	c.Want(fmt.Sprintf(waitKinds[1].add, "JOB1"), ":1")
	a, b := n.Dial(), n.Dial()
	a.Want(waitLane+"0", `*[$"JOB1" $"p" :1 $"x"]`)
	for i, way := range back {
		token := i + 1
		a.Send(waitLane + "0")
		untilBlocked(c, 1)
		b.Send(waitLane + "0")
		untilBlocked(c, 2)
		c.Want("ZADD emq:{q}:active XX 1 JOB1", ":0")
		verb := way.verb
		if strings.Contains(verb, "%d") {
			verb = fmt.Sprintf(verb, token)
		}
		c.Want(verb, way.reply)
		switch {
		case strings.HasSuffix(way.name, "promote"):
			c.Want("EMQ.GROUP.PROMOTE 3 emq:{q}:schedule emq:{q}:pending emq:{q}: 10", ":1")
		case strings.HasSuffix(way.name, "reprocess"):
			c.Want("EMQ.GROUP.REPROCESS 4 emq:{q}:job:JOB1 emq:{q}:dead emq:{q}:pending emq:{q}: JOB1", ":1")
		}
		require.Equal(t, fmt.Sprintf(`*[$"JOB1" $"p" :%d $"x"]`, token+1), a.Next(), way.name)
		untilBlocked(c, 1)
		a, b = b, a
		c.Want("HGETALL emq:{q}:gactive", `*[$"x" $"1"]`)
		c.Want("CLIENT UNBLOCK "+clientOf(t, c, a), ":1")
		require.Equal(t, "*[]", a.Next())
	}
}

// clientOf returns the id of a connection, as others see it.
func clientOf(t *testing.T, c *node.Conn, of *node.Conn) string {
	for line := range strings.SplitSeq(c.Do("CLIENT LIST"), `\n`) {
		if strings.Contains(line, "addr="+of.LocalAddr().String()+" ") {
			id, _, _ := strings.Cut(line[strings.Index(line, "id=")+3:], " ")
			return id
		}
	}
	require.Fail(t, "the connection is not listed")
	return ""
}
