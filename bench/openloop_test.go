package bench

import (
	"bufio"
	"context"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// fake is a server that answers INFO with nothing of interest, other requests with what answer returns.
func fake(t *testing.T, answer func(n int) string) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, ln.Close()) })
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go converse(c, answer)
		}
	}()
	return ln.Addr().String()
}

// converse answers the requests of one connection, in which PING is the whole request.
func converse(c net.Conn, answer func(n int) string) {
	defer func() { _ = c.Close() }()
	in := bufio.NewReader(c)
	for n := 0; ; {
		word, err := in.ReadString('\n')
		if err != nil {
			return
		}
		reply := ""
		switch strings.TrimSpace(word) {
		case "INFO":
			reply = "$16\r\nredis_version:0\n\r\n"
		case "EMQ.VERSION":
			reply = "-ERR unknown command\r\n"
		case "PING":
			reply = answer(n)
			n++
		}
		if _, err := io.WriteString(c, reply); err != nil {
			return
		}
	}
}

// TestStallShows has a server that stalls once: in a closed loop one request took long, in an open loop all that were to
// begin meanwhile did.
func TestStallShows(t *testing.T) {
	const stall = 200 * time.Millisecond
	for _, portable := range []bool{false, true} {
		for _, rate := range []float64{0, 1000} {
			addr := fake(t, func(n int) string {
				if n == 200 {
					time.Sleep(stall) // the fault that is to be measured
				}
				return "+PONG\r\n"
			})
			s := open(t, addr)
			l := NewLoad("ping")
			l.Conns, l.Ops, l.Rate, l.portable, l.PauseLimit = 1, 1000, rate, portable, stall/2
			r, err := s.Run(context.Background(), l)
			require.NoError(t, err)
			require.Equal(t, int64(1000), r.Ops)
			require.Empty(t, r.Errors)
			require.GreaterOrEqual(t, r.Latency.Max, float64(stall.Microseconds()))
			require.NotEmpty(t, r.Pauses)
			h, err := r.Latency.Histogram()
			require.NoError(t, err)
			var slow int64
			for _, bar := range h.Distribution() {
				if bar.From >= int64(stall)/2 {
					slow += bar.Count
				}
			}
			if rate > 0 { // a thousand a second: about a hundred waited for half of the stall or longer
				require.GreaterOrEqual(t, slow, int64(90))
				require.GreaterOrEqual(t, r.Latency.P99, float64(stall.Microseconds())*0.9)
			} else {
				require.Less(t, slow, int64(90))
			}
		}
	}
}

// TestBrokenServers has servers that answer nonsense, close the connection or answer with errors.
func TestBrokenServers(t *testing.T) {
	for _, portable := range []bool{false, true} {
		l := NewLoad("ping")
		l.Conns, l.Ops, l.portable = 3, 50, portable
		_, err := open(t, fake(t, func(int) string { return "nonsense\r\n" })).Run(context.Background(), l)
		require.ErrorContains(t, err, "malformed")

		r, err := open(t, fake(t, func(n int) string {
			if n%10 == 9 {
				return "-ERR no\r\n"
			}
			return "+PONG\r\n"
		})).Run(context.Background(), l)
		require.NoError(t, err)
		require.Equal(t, int64(50), r.Ops+r.Errors[0].Count)
		require.Equal(t, "ping: -ERR no", r.Errors[0].Text)
	}
}

// TestAnswersInPieces has replies come byte by byte.
func TestAnswersInPieces(t *testing.T) {
	for _, reply := range []string{"+OK\r\n", "-ERR x\r\n", ":12\r\n", "$-1\r\n", "$0\r\n\r\n", "$12\r\nhello\r\nworld\r\n", "*0\r\n", "*-1\r\n", "*2\r\n$1\r\na\r\n*1\r\n:1\r\n"} {
		for cut := range len(reply) {
			n, err := frame([]byte(reply[:cut]))
			require.NoError(t, err)
			require.Zero(t, n, "%q", reply[:cut])
		}
		n, err := frame([]byte(reply + "+next\r\n"))
		require.NoError(t, err)
		require.Equal(t, len(reply), n)
	}
}

func TestTemplate(t *testing.T) {
	const id = int64(320636799581945856) // NgWEfAEJfs
	w := compile(strings.Fields("EMQ.EXTEND 2 %bactive %bjob:%i %i %t 5 %p"), names{base: "emq:{q-%q}:", payload: "xx"})
	f := &filling{ids: []int64{id}, queue: 12, token: []byte("345")}
	require.Equal(t, "*8\r\n$10\r\nEMQ.EXTEND\r\n$1\r\n2\r\n$21\r\nemq:{q-000012}:active\r\n$33\r\nemq:{q-000012}:job:JOB0NgWEfAEJfs\r\n"+
		"$14\r\nJOB0NgWEfAEJfs\r\n$3\r\n345\r\n$1\r\n5\r\n$2\r\nxx\r\n", string(w.append(nil, f)))
	require.Equal(t, id, readID([]byte("JOB0NgWEfAEJfs")))
	for _, bad := range []string{"", "JOB0NgWEfAEJf", "JOX0NgWEfAEJfs", "JOB0NgWEfAEJf-"} {
		require.Equal(t, int64(-1), readID([]byte(bad)))
	}
}

func TestLedger(t *testing.T) {
	l := newLedger(10, 1000)
	first := l.mint(5, 0)
	child := l.mint(6, first)
	require.Nil(t, l.claim(999))
	require.Equal(t, first, l.claim(child).parent)
	require.Nil(t, l.claim(child), "claimed twice")
	for range 3 * len(l.rows) { // numbers that fall on a job which is still there are left out
		id := l.mint(7, 0)
		require.NotNil(t, l.claim(id))
		l.release(id)
	}
	require.Equal(t, int64(5), l.claim(first).born)
}

func TestSpread(t *testing.T) {
	require.Equal(t, Spread{}, SpreadOf(nil))
	require.Equal(t, Spread{2, 1, 9}, SpreadOf([]float64{9, 1, 2}))
	require.Equal(t, Spread{1.5, 1, 2}, SpreadOf([]float64{2, 1}))
	runs := func(rates ...float64) (list []*Result) {
		for _, r := range rates {
			list = append(list, &Result{PerSec: r})
		}
		return list
	}
	s := Series{Runs: runs(10, 20, 30), Peer: runs(10, 10, 10)}
	require.Equal(t, Spread{2, 1, 3}, s.Ratio(PerSec))
	require.Equal(t, Spread{}, s.Ratio(CPU), "nothing is known of it")
}
