package server

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// fact returns a field of INFO, or of a line of CLIENT LIST, as text.
func fact(t *testing.T, text, name string) string {
	t.Helper()
	found := regexp.MustCompile(`(?m)(?:^| )` + name + `[:=]([^\s]*)`).FindStringSubmatch(text)
	require.NotNil(t, found, "%s in %s", name, text)
	return found[1]
}

func factInt(t *testing.T, text, name string) int {
	t.Helper()
	n, err := strconv.Atoi(fact(t, text, name))
	require.NoError(t, err)
	return n
}

func TestRateIsTheMeanOfTheLastSamples(t *testing.T) {
	var r rate
	r.sample(1000, 0, 1000)
	require.Zero(t, r.mean(), "what was before the first sample does not count")
	for i := int64(1); i <= 8; i++ {
		r.sample(1000+i*50, i*100, 1000)
	}
	require.Equal(t, int64(250), r.mean())
	for i := int64(9); i <= 24; i++ {
		r.sample(1400, i*100, 1000)
	}
	require.Zero(t, r.mean())
}

func TestBufferPeaksForgetAfterEightSeconds(t *testing.T) {
	var p bufferPeaks
	p.note(1000, 7, 3)
	p.note(1500, 5, 4)
	p.note(8999, 1, 1)
	in, out := p.max()
	require.Equal(t, []int64{7, 4}, []int64{in, out})
	p.note(9000, 1, 2)
	in, out = p.max()
	require.Equal(t, []int64{1, 2}, []int64{in, out})
}

func TestInfoAddsUp(t *testing.T) {
	c := dial(t, startServer(t))
	for i := range 100 {
		require.Equal(t, "+OK\r\n", c.do("SET k"+strconv.Itoa(i)+" v EX 1000"))
	}
	info := c.do("INFO everything")
	number := func(name string) int { return factInt(t, info, name) }
	require.Equal(t, number("used_memory"), number("used_memory_overhead")+number("used_memory_dataset"))
	require.Equal(t, number("used_memory_rss")-number("used_memory"), number("mem_fragmentation_bytes"))
	require.Equal(t, number("allocator_active")-number("allocator_allocated"), number("allocator_frag_bytes"))
	require.Equal(t, number("total_commands_processed"), 100)
	require.GreaterOrEqual(t, number("total_reads_processed"), 100)
	require.GreaterOrEqual(t, number("total_writes_processed"), 100)
	require.GreaterOrEqual(t, number("eventloop_duration_sum"), number("eventloop_duration_cmd_sum"))
	ttl := regexp.MustCompile(`db0:keys=100,expires=100,avg_ttl=(\d+)`).FindStringSubmatch(info)
	require.NotNil(t, ttl, info)
	ms, err := strconv.Atoi(ttl[1])
	require.NoError(t, err)
	require.InDelta(t, 1_000_000, ms, 60_000)
}

func TestInfoOfTrackingAndPauses(t *testing.T) {
	addr := startServer(t)
	x, y := dial(t, addr), dial(t, addr)
	for _, c := range []*client{x, y} {
		require.Contains(t, c.do("HELLO 3"), "server")
		require.Equal(t, "+OK\r\n", c.do("CLIENT TRACKING ON"))
	}
	for _, line := range []string{"GET a", "GET a", "GET b"} {
		require.Equal(t, "_\r\n", x.do(line))
	}
	require.Equal(t, "_\r\n", y.do("GET a"))
	info := x.do("INFO")
	require.Equal(t, []int{2, 3}, []int{factInt(t, info, "tracking_total_keys"), factInt(t, info, "tracking_total_items")})
	require.Equal(t, "none", fact(t, info, "paused_actions"))

	require.Equal(t, "+OK\r\n", y.do("SET b 1"))
	require.Equal(t, ">2\r\n$10\r\ninvalidate\r\n*1\r\n$1\r\nb\r\n", x.next())
	require.Equal(t, "+OK\r\n", x.do("CLIENT PAUSE 100000 WRITE"))
	info = x.do("INFO")
	require.Equal(t, []int{1, 2}, []int{factInt(t, info, "tracking_total_keys"), factInt(t, info, "tracking_total_items")})
	require.Equal(t, []string{"client_pause", "write", "1"}, []string{fact(t, info, "paused_reason"), fact(t, info, "paused_actions"), fact(t, info, "clients_paused")})
	require.Positive(t, factInt(t, info, "paused_timeout_milliseconds"))
	require.Equal(t, "+OK\r\n", x.do("CLIENT UNPAUSE"))
	for _, c := range []*client{x, y} {
		require.Equal(t, "+OK\r\n", c.do("CLIENT TRACKING OFF"))
	}
	require.Zero(t, factInt(t, x.do("INFO stats"), "tracking_total_items"))
}

// TestClientMemory has what a client keeps in its line, and gone from it when the client gives it up.
func TestClientMemory(t *testing.T) {
	addr := startServer(t)
	c, watcher := dial(t, addr), dial(t, addr)
	require.Equal(t, "+OK\r\n", c.do("CLIENT SETNAME it"))
	line := func() string {
		for _, l := range strings.Split(watcher.do("CLIENT LIST"), "\n") {
			if strings.Contains(l, "name=it ") {
				return l
			}
		}
		return ""
	}
	long := strings.Repeat("x", 1000)
	none := factInt(t, line(), "tot-mem")
	for _, step := range []struct {
		take, give, field string
	}{
		{"WATCH " + long, "UNWATCH", "multi-mem"},
		{"SUBSCRIBE " + long, "UNSUBSCRIBE " + long, ""},
		{"PSUBSCRIBE " + long, "PUNSUBSCRIBE " + long, ""},
		{"SSUBSCRIBE " + long, "SUNSUBSCRIBE " + long, ""},
		{"CLIENT TRACKING ON BCAST PREFIX " + long, "CLIENT TRACKING OFF", ""},
	} {
		require.NotContains(t, c.do(step.take), "-ERR", step.take[:6])
		require.Greater(t, factInt(t, line(), "tot-mem"), none+1000, step.take[:6])
		if step.field != "" {
			require.Greater(t, factInt(t, line(), step.field), 1000, step.take[:6])
		}
		require.NotContains(t, c.do(step.give), "-ERR", step.give[:6])
		require.Equal(t, none, factInt(t, line(), "tot-mem"), step.give[:6])
	}
	require.Equal(t, "+OK\r\n", c.do("MULTI"))
	require.Equal(t, "+QUEUED\r\n", c.do("SET k "+long))
	require.Greater(t, factInt(t, line(), "multi-mem"), 1000)
	require.Equal(t, "+OK\r\n", c.do("DISCARD"))
	require.Equal(t, none, factInt(t, line(), "tot-mem"))
	c.send("BLPOP " + long + " 0")
	awaitFact(t, watcher, "blocked_clients", 1)
	require.Greater(t, factInt(t, line(), "argv-mem"), 1000)
	require.Equal(t, ":1\r\n", watcher.do("RPUSH "+long+" x"))
	require.Contains(t, c.next(), long)
	require.Equal(t, none, factInt(t, line(), "tot-mem"))
}

// awaitFact asks until a field of INFO has a value.
func awaitFact(t *testing.T, c *client, name string, n int) {
	t.Helper()
	for factInt(t, c.do("INFO"), name) != n {
	}
}

// TestOutputThatWaitsIsInTheClientsLine has a client that does not read.
func TestOutputThatWaitsIsInTheClientsLine(t *testing.T) {
	addr := startServer(t)
	c, slow := dial(t, addr), dial(t, addr)
	require.Equal(t, "+OK\r\n", slow.do("CLIENT SETNAME slow"))
	require.Equal(t, "+OK\r\n", c.do("SET k "+strings.Repeat("x", 60_000)))
	for range 400 {
		slow.send("GET k")
	}
	var line string
	for {
		line = regexp.MustCompile(`(?m)^.*name=slow .*$`).FindString(c.do("CLIENT LIST"))
		if factInt(t, line, "omem") > 8<<20 {
			break
		}
	}
	require.Equal(t, []int{1, 0}, []int{factInt(t, line, "oll"), factInt(t, line, "obl")})
	require.Greater(t, factInt(t, line, "tot-mem"), factInt(t, line, "omem"))
	require.Greater(t, factInt(t, c.do("INFO clients"), "client_recent_max_output_buffer"), 8<<20)
}

func TestClientsCountForMaxmemory(t *testing.T) {
	addr := startServer(t, func(c *Config) { c.MaxMemory = 4 << 20 })
	c, hoarder := dial(t, addr), dial(t, addr)
	require.Equal(t, "+OK\r\n", c.do("SET k v"))
	require.Equal(t, "+OK\r\n", hoarder.do("MULTI"))
	for range 100 {
		require.Equal(t, "+QUEUED\r\n", hoarder.do("GET "+strings.Repeat("x", 60_000)))
	}
	require.Greater(t, factInt(t, c.do("INFO memory"), "mem_clients_normal"), 5<<20)
	require.Contains(t, c.do("SET k v"), "-OOM")
	require.Contains(t, c.do("GET k"), "v")
	require.Equal(t, "+OK\r\n", hoarder.do("DISCARD"))
	require.Less(t, factInt(t, c.do("INFO memory"), "mem_clients_normal"), 1<<20)
	require.Equal(t, "+OK\r\n", c.do("SET k v"))
}

func TestMaxmemoryClientsClosesTheLargest(t *testing.T) {
	addr := startServer(t)
	c, hoarder, kept := dial(t, addr), dial(t, addr), dial(t, addr)
	require.Equal(t, "+OK\r\n", kept.do("CLIENT NO-EVICT ON"))
	for _, h := range []*client{hoarder, kept} {
		require.Equal(t, "+OK\r\n", h.do("MULTI"))
		for range 50 {
			require.Equal(t, "+QUEUED\r\n", h.do("GET "+strings.Repeat("x", 60_000)))
		}
	}
	require.Equal(t, "+OK\r\n", c.do("CONFIG SET maxmemory-clients 1mb"))
	_, err := hoarder.r.Next()
	require.Error(t, err)
	require.Equal(t, 1, factInt(t, c.do("INFO stats"), "evicted_clients"))
	require.Equal(t, "+QUEUED\r\n", kept.do("PING"))
}
