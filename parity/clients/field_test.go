package clients

import (
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/echomq/emqd/parity/node"
)

func TestBadCommandSpoilsTheTransaction(t *testing.T) {
	c := node.Start(t).Dial()
	c.Send("MULTI", "INVALIDCMD", "SET leaked 1", "MGET", "EXEC", "EXISTS leaked")
	require.Equal(t, "+OK", c.Next())
	require.Contains(t, c.Bytes(), "-ERR unknown command 'INVALIDCMD'")
	require.Equal(t, "+QUEUED", c.Next())
	require.Equal(t, "-ERR wrong number of arguments for 'mget' command", c.Next())
	require.Equal(t, "-EXECABORT Transaction discarded because of previous errors.", c.Next())
	require.Equal(t, ":0", c.Next())
}

// TestWatchAndExpiry watches a key whose time comes, and one whose time had come before.
func TestWatchAndExpiry(t *testing.T) {
	n := node.Start(t)
	c, other := n.Dial(), n.Dial()
	expire := func() {
		for other.Do("EXISTS w") == ":1" {
		}
	}
	exec := func() string {
		c.Send("MULTI", "PING", "EXEC")
		c.Next()
		c.Next()
		return c.Next()
	}
	c.Want("SET w 1 PX 100", "+OK")
	c.Want("WATCH w", "+OK")
	expire()
	require.Equal(t, "*-1", exec())
	c.Want("SET w 1 PX 1", "+OK")
	expire()
	c.Want("WATCH w", "+OK")
	require.Equal(t, "*[+PONG]", exec())
}

// TestTimeoutsHoldUnderChurn has a client wait while others connect and go.
func TestTimeoutsHoldUnderChurn(t *testing.T) {
	n := node.Start(t)
	c := n.Dial()
	stop, churned := make(chan struct{}), make(chan int)
	go func() {
		count := 0
		defer func() { churned <- count }()
		for {
			select {
			case <-stop:
				return
			default:
			}
			nc, err := net.Dial("tcp", n.Addr)
			if err != nil {
				t.Error(err)
				return
			}
			if err := nc.Close(); err != nil {
				t.Error(err)
			}
			count++
		}
	}()
	for range 3 {
		start := time.Now()
		c.Want("BLPOP q 0.2", "*-1")
		took := time.Since(start)
		require.GreaterOrEqual(t, took, 200*time.Millisecond)
		require.Less(t, took, 700*time.Millisecond)
	}
	close(stop)
	t.Logf("%d connections meanwhile", <-churned)
}

// TestServingOneDoesNotProlongAnother has a second consumer wait on while a first one is served.
func TestServingOneDoesNotProlongAnother(t *testing.T) {
	n := node.Start(t)
	first, second, timer := n.Dial(), n.Dial(), n.Dial()
	timer.Want("XGROUP CREATE s g $ MKSTREAM", "+OK")
	first.Send("XREADGROUP GROUP g a BLOCK 0 STREAMS s >")
	for !strings.Contains(timer.Do("INFO clients"), "blocked_clients:1") {
	}
	start := time.Now()
	second.Send("XREADGROUP GROUP g b BLOCK 1000 STREAMS s >")
	timer.Want("BLPOP nothing 0.6", "*-1")
	timer.Want("XADD s 1-1 f v", `$"1-1"`)
	require.Equal(t, `*[*[$"s" *[*[$"1-1" *[$"f" $"v"]]]]]`, first.Next())
	require.Equal(t, "*-1", second.Next())
	took := time.Since(start)
	require.GreaterOrEqual(t, took, time.Second)
	require.Less(t, took, 1600*time.Millisecond) // 0.6 s later it began anew if serving the first prolonged it
}

// TestFullNodeServesReadsAndRemovals fills a node to maxmemory.
func TestFullNodeServesReadsAndRemovals(t *testing.T) {
	n := node.Start(t, node.Set("maxmemory", "4mb"), node.Set("emq-admission-reserve", "0"))
	c := n.Dial()
	const oom = "-OOM command not allowed when used memory > 'maxmemory'."
	c.Want("EMQ.INSTALL", "+OK")
	c.Want("EMQ.ENQUEUE 2 emq:{q}:job:JOB1 emq:{q}:pending JOB1 p", ":1")
	c.Want("EMQ.ENQUEUE 2 emq:{q}:job:JOB2 emq:{q}:pending JOB2 p", ":1")
	c.Want("EMQ.CLAIM 3 emq:{q}:pending emq:{q}:active emq:{q}: 1000000", `*[$"JOB1" $"p" :1]`)
	reply := "+OK"
	for i := 0; reply == "+OK"; i++ {
		require.Less(t, i, 1000)
		reply = c.Do(fmt.Sprintf(`SET key:%d "v"*100000`, i))
	}
	require.Equal(t, oom, reply)
	c.Want("STRLEN key:0", ":100000")
	c.Want("MULTI", "+OK")
	c.Want("SET a b", oom)
	c.Want("EXEC", "-EXECABORT Transaction discarded because of previous errors.")
	c.Want("EMQ.ENQUEUE 2 emq:{q}:job:JOB3 emq:{q}:pending JOB3 p", oom)
	c.Want("EMQ.ENQUEUE 2 emq:{q}:job:JOB2 emq:{q}:pending JOB2 p", ":0")
	c.Want("EMQ.COMPLETE 3 emq:{q}:active emq:{q}:job:JOB1 emq:{q}: JOB1 1", ":1")
	c.Want("DEL key:0 key:1", ":2")
	c.Want("SET a b", "+OK")
}

// TestScanSeesEveryKeyThatStays scans ten thousand keys in small steps while others come and go.
func TestScanSeesEveryKeyThatStays(t *testing.T) {
	n := node.Start(t)
	c, other := n.Dial(), n.Dial()
	const stay = 10_000
	var pairs strings.Builder
	for i := range stay {
		fmt.Fprintf(&pairs, " stay:%d v", i)
	}
	c.Want("MSET"+pairs.String(), "+OK")
	seen := map[string]int{}
	steps := 0
	for cursor := "0"; ; steps++ {
		reply := c.Do("SCAN " + cursor + " COUNT 7")
		for _, word := range strings.Fields(strings.Trim(reply, "*[]")) {
			seen[strings.Trim(word, `$*[]"`)]++
		}
		cursor, _, _ = strings.Cut(strings.TrimPrefix(reply, `*[$"`), `"`)
		if cursor == "0" {
			break
		}
		other.Want(fmt.Sprintf("MSET come:%d v come:%d v come:%d v", 3*steps, 3*steps+1, 3*steps+2), "+OK")
		if steps%2 == 1 {
			other.Want(fmt.Sprintf("DEL come:%d come:%d", 3*steps, 3*steps-1), ":2")
		}
	}
	for i := range stay {
		require.Positive(t, seen[fmt.Sprint("stay:", i)], i)
	}
	require.Less(t, steps, stay)
}

// TestHelloTellsNumbersAsNumbers has what clients read before anything else in both versions.
func TestHelloTellsNumbersAsNumbers(t *testing.T) {
	c := node.Start(t).Dial()
	require.Regexp(t, `^%\{\$"server" \$"emqd" \$"version" \$"[0-9.]+" \$"proto" :3 \$"id" :\d+ \$"mode" \$"standalone" \$"role" \$"master" \$"modules" \*\[\]\}$`, c.Do("HELLO 3"))
	require.Regexp(t, `^\*\[\$"server" .* \$"proto" :2 \$"id" :\d+ .* \$"modules" \*\[\]\]$`, c.Do("HELLO 2"))
	require.Len(t, strings.Fields(c.Do("HELLO")), 14)
}

// TestPublishOnASubscribedConnection has the reply first, then the message, and the connection serves on.
func TestPublishOnASubscribedConnection(t *testing.T) {
	c := node.Start(t).Dial()
	c.Do("HELLO 3")
	c.Want("SUBSCRIBE c", `>[$"subscribe" $"c" :1]`)
	c.Send("PUBLISH c hi", "GET a", "PING")
	for _, want := range []string{":1", `>[$"message" $"c" $"hi"]`, "_", "+PONG"} {
		require.Equal(t, want, c.Next())
	}
}
