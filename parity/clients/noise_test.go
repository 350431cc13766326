package clients

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/emqd/parity/node"
	"github.com/echomq/emqd/server"
	"github.com/echomq/emqd/server/resp"
)

var (
	noise     = flag.Int("noise", 60, "connections of TestNoiseHurtsNobody")
	noiseSeed = flag.Uint64("noise-seed", 1, "seed of TestNoiseHurtsNobody")
)

// noiseWords are what arguments are drawn from: small keys, numbers at limits, options of many commands.
var noiseWords = strings.Fields(`k k2 h l s z st {q} emq:{q}: emq:{q}:pending emq:{q}:job:JOB1 JOB1 * ? [a-c] 0 1 -1 2 3 10 100
	9223372036854775807 -9223372036854775808 1e308 nan inf -inf ( [ [a (1 + - $ > ~ = 0-0 1-1 NX XX GT LT CH INCR EX PX EXAT PXAT
	KEEPTTL GET WITHSCORES LIMIT BYSCORE BYLEX REV COUNT MATCH TYPE STREAMS GROUP MKSTREAM BLOCK NOACK MAXLEN MINID FIELDS FNX
	AND OR XOR NOT BIT BYTE u8 i64 SET GET OVERFLOW WRAP SAT FAIL LEFT RIGHT BEFORE AFTER ON OFF YES NO SKIP OPTIN BCAST PREFIX
	REDIRECT ID ADDR USER default SKIPME HELP LEN IDX MINMATCHLEN REPLACE DB ABSTTL COPY FREQ IDLETIME in at`)

// mute are commands that end or stall the node or the conversation by design.
var mute = map[string]bool{"shutdown": true, "client": true, "debug": true, "acl": true, "config": true, "failover": true}

// TestNoiseHurtsNobody sends random commands, cut, torn and with flipped bytes, over TCP and a Unix socket: the
// node lives and answers others.
func TestNoiseHurtsNobody(t *testing.T) {
	t.Logf("-noise-seed %d", *noiseSeed)
	dir, err := os.MkdirTemp("", "emqd")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	path := filepath.Join(dir, "s")
	n := node.Start(t, func(c *server.Config) { c.UnixSocket = path }, node.Set("maxmemory", "64mb"), node.Set("proto-max-bulk-len", "1mb"))
	witness := n.Dial()
	witness.Want("PING", "+PONG")
	var names []string
	for _, word := range strings.Fields(strings.Trim(witness.Do("COMMAND LIST"), "*[]")) {
		if name := strings.Trim(word, `$"`); !mute[name] {
			names = append(names, name)
		}
	}
	require.Greater(t, len(names), 200)
	var all sync.WaitGroup
	for worker := range 4 {
		all.Go(func() {
			for i := range *noise / 4 {
				random := rand.New(rand.NewPCG(*noiseSeed, uint64(worker*1_000_000+i)))
				network, address := "tcp", n.Addr
				if random.IntN(3) == 0 {
					network, address = "unix", path
				}
				if err := makeNoise(random, names, network, address); err != nil {
					t.Error(err)
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { all.Wait(); close(done) }()
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
			witness.Want("ECHO still", `$"still"`)
		}
	}
}

// makeNoise runs one noisy connection. When it is closed is of no interest, and of its answers only that no handler
// has panicked.
func makeNoise(random *rand.Rand, names []string, network, address string) error {
	c, err := net.Dial(network, address)
	if err != nil {
		return err
	}
	answers := make(chan []byte, 1)
	go func() {
		got, _ := io.ReadAll(c) // ends with the connection, in whatever way
		answers <- got
	}()
	b := []byte("HELLO 3\r\n") // in version 2 a subscription would end the noise
	for range 200 {
		args := []string{names[random.IntN(len(names))]}
		for range random.IntN(8) {
			word := noiseWords[random.IntN(len(noiseWords))]
			if random.IntN(30) == 0 {
				word = strings.Repeat(word, random.IntN(2000))
			}
			args = append(args, word)
		}
		b = resp.AppendRequest(b, args...)
		if random.IntN(20) == 0 {
			b = append(b, strings.Join(args, " ")+"\r\n"...)
		}
	}
	for range random.IntN(4) - 1 {
		b[random.IntN(len(b))] = byte(random.IntN(256))
	}
	if random.IntN(4) == 0 {
		b = append(b, "*2\r\n$4\r\nECHO\r\n$"+strconv.Itoa(random.IntN(2_000_000))+"\r\n"+strings.Repeat("e", 100_000)...)
	}
	for r := bytes.NewBuffer(b); r.Len() > 0; {
		if _, err := c.Write(r.Next(1 + random.IntN(5000))); err != nil {
			break // closed by the server
		}
	}
	if err := c.(interface{ CloseWrite() error }).CloseWrite(); err != nil && !errors.Is(err, syscall.ENOTCONN) {
		return err
	}
	got := <-answers
	if i := bytes.Index(got, []byte("internal error")); i >= 0 {
		return fmt.Errorf("a handler panicked: %q", got[max(0, i-200):min(len(got), i+200)])
	}
	return c.Close()
}
