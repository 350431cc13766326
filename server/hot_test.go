package server

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/emqd/commands"
	"github.com/echomq/emqd/server/resp"
)

// hotDepth is how many requests of one connection a turn brings in what is measured here.
const hotDepth = 16

// hotPath is a request that busy nodes serve most of the time.
type hotPath struct {
	name string
	// request is the i-th request, as words.
	request func(i int) string
	// before is a path that has brought in what this one takes away, i for i; nil when nothing is needed.
	before *hotPath
	// log says that effects are written to a log.
	log bool
	// change changes the settings, and begin what the node holds before the path; nil when nothing is to be changed.
	change func(*Config)
	begin  func(h *hot)
	// as is the path that this one may cost no more than, for what it has besides is for nobody; nil when there is none.
	as *hotPath
	// reply is the reply to each request, or how it begins.
	reply string
}

// hotPaths are what bench-guard, the benchmarks and the test of allocations go through. The keys are many, so that
// tables and sets are large.
var hotPaths = func() []*hotPath {
	ping := &hotPath{name: "PING", reply: "+PONG", request: func(int) string { return "PING" }}
	set := &hotPath{name: "SET", reply: "+OK", request: func(i int) string { return fmt.Sprintf("SET key:%012d xxxxxxxxxxxxxxxx", i) }}
	get := &hotPath{name: "GET", reply: "$16", before: set, request: func(i int) string { return fmt.Sprintf("GET key:%012d", i) }}
	hset := &hotPath{name: "HSET", reply: ":", request: func(i int) string { return fmt.Sprintf("HSET h:%012d f v", i*7919%5003) }}
	zadd := &hotPath{name: "ZADD", reply: ":1", request: func(i int) string { return fmt.Sprintf("ZADD z %d m:%012d", i*7919%50021, i) }}
	zpop := &hotPath{name: "ZPOPMIN", reply: "*2", before: zadd, request: func(int) string { return "ZPOPMIN z" }}
	enqueue := &hotPath{name: "EMQ.ENQUEUE", reply: ":1", request: hotEnqueue}
	claim := &hotPath{name: "EMQ.CLAIM", reply: "*3", before: enqueue, request: hotClaim}
	extend := &hotPath{name: "EMQ.EXTEND", reply: ":1", before: claim, request: func(i int) string {
		return fmt.Sprintf("EMQ.EXTEND 2 emq:{q}:active emq:{q}:job:%s %[1]s 1 60000", hotJob(i))
	}}
	complete := &hotPath{name: "EMQ.COMPLETE", reply: ":1", before: claim, request: hotComplete}
	cycle := &hotPath{name: "cycle, logged", log: true, request: hotCycle}
	events := &hotPath{name: "cycle, events that nobody hears", log: true, request: hotCycle, as: cycle,
		change: func(c *Config) { c.EMQEvents = true }}
	pump := &hotPath{name: "cycle, pump", log: true, request: hotCycle, change: hotPump}
	idle := &hotPath{name: "cycle, pump and 10,000 idle queues", log: true, request: hotCycle, change: hotPump, as: pump, begin: hotIdleQueues}
	return []*hotPath{ping, get, set, hset, zadd, zpop, enqueue, claim, extend, complete, cycle, events, pump, idle}
}()

func hotPump(c *Config) { c.Pump = 250 }

// hotIdleQueues adds queues that have something due in an hour.
func hotIdleQueues(h *hot) {
	for i := range 10_000 {
		line := fmt.Sprintf("EMQ.SCHEDULE 2 emq:{idle%d}:job:JOB1 emq:{idle%[1]d}:schedule JOB1 p in 3600000", i)
		h.turn(appendWords(nil, line))
	}
	for range 10_000 { // until the pump knows them all
		h.turn(nil)
	}
}

func hotJob(i int) string { return fmt.Sprintf("JOB%011d", i) }

func hotEnqueue(i int) string {
	return fmt.Sprintf("EMQ.ENQUEUE 2 emq:{q}:job:%s emq:{q}:pending %[1]s %s", hotJob(i), strings.Repeat("x", 100))
}

func hotClaim(int) string { return "EMQ.CLAIM 3 emq:{q}:pending emq:{q}:active emq:{q}: 30000" }

func hotComplete(i int) string {
	return fmt.Sprintf("EMQ.COMPLETE 3 emq:{q}:active emq:{q}:job:%s emq:{q}: %[1]s 1", hotJob(i))
}

// hotCycle is the life of jobs as a connection sends it: a turn of enqueues, one of claims, one of completions.
func hotCycle(i int) string {
	turn, at := i/hotDepth, i%hotDepth
	job := turn/3*hotDepth + at
	return [](func(int) string){hotEnqueue, hotClaim, hotComplete}[turn%3](job)
}

// hot is a node without sockets that is driven as the event loop drives it: a turn takes the bytes that one connection
// sent at once, commits, and takes its replies away.
type hot struct {
	srv  *Server
	s    *session
	idle int // steps of work for nothing in each request, to be found by the guard
	// counted says that the statistics count each request once more, so that the guard can tell what they cost.
	counted bool
}

func newHot(t testing.TB, p *hotPath) *hot {
	cfg := NewConfig()
	cfg.Install, cfg.Dir, cfg.AppendOnly, cfg.AppendFsync = true, t.TempDir(), p.log, "no"
	if p.change != nil {
		p.change(cfg)
	}
	srv, err := New(cfg, mute())
	require.NoError(t, err)
	srv.store = commands.NewStore(cfg.Databases, 1)
	load, err := srv.prepare(context.Background())
	require.NoError(t, err)
	if load != nil {
		load()
	}
	t.Cleanup(func() { require.NoError(t, srv.closeLog()) })
	h := &hot{srv: srv, s: srv.open(quiet{}, "hot:1", "hot:2")}
	if p.begin != nil {
		p.begin(h)
	}
	return h
}

// turn is a turn of the event loop in which input has arrived. The replies are valid until the next.
func (h *hot) turn(input []byte) []byte {
	srv := h.srv
	srv.mu.Lock()
	srv.now = srv.clock.milli()
	for i := range h.idle * hotDepth {
		srv.stats.rejected += int64(i & 1)
	}
	h.s.feed(input)
	if h.counted {
		for range hotDepth {
			srv.account(h.s, h.s.lastRow, nil, srv.mono, nil)
		}
	}
	srv.tick()
	srv.commitLog()
	out := h.s.out
	srv.buffers.give(out)
	h.s.out, h.s.queued = nil, false
	srv.mu.Unlock()
	return out
}

// turns returns the requests from number from on in turns, in the form that clients send.
func (p *hotPath) turns(from, count int) [][]byte {
	list := make([][]byte, 0, count/hotDepth)
	for n := 0; n < count; n += hotDepth {
		var b []byte
		for i := range hotDepth {
			b = appendWords(b, p.request(from+n+i))
		}
		list = append(list, b)
	}
	return list
}

// appendWords appends a request.
func appendWords(b []byte, request string) []byte {
	return resp.AppendRequest(b, strings.Fields(request)...)
}

// prepare brings in what count requests from number from on take away.
func (p *hotPath) prepare(h *hot, from, count int) {
	if p.before != nil {
		p.before.prepare(h, from, count)
		for _, input := range p.before.turns(from, count) {
			h.turn(input)
		}
	}
}

// check looks at the replies to one turn.
func (p *hotPath) check(t testing.TB, out []byte) {
	require.NotContains(t, string(out), "-", "an error or a null") // no other reply here has this sign
	require.True(t, strings.HasPrefix(string(out), p.reply), "%s answered %q", p.name, out)
}

// TestHotPathsAllocateNothing: the keyspace is outside of the Go heap, so from the bytes that arrive to the bytes
// that leave nothing is allocated but, now and then, a larger table.
func TestHotPathsAllocateNothing(t *testing.T) {
	for _, p := range hotPaths {
		t.Run(p.name, func(t *testing.T) {
			const turns = 100
			h := newHot(t, p)
			p.prepare(h, 0, 4*turns*hotDepth)
			list := p.turns(0, 4*turns*hotDepth)
			for range 2 * turns {
				p.check(t, h.turn(list[0]))
				list = list[1:]
			}
			require.Zero(t, testing.AllocsPerRun(turns, func() {
				h.turn(list[0])
				list = list[1:]
			}))
			p.check(t, h.turn(list[0]))
		})
	}
}

// BenchmarkHot measures each hot path from bytes to bytes; an operation is one request.
func BenchmarkHot(b *testing.B) {
	for _, p := range hotPaths {
		b.Run(p.name, func(b *testing.B) {
			h := newHot(b, p)
			count := (b.N + hotDepth) &^ (hotDepth - 1)
			if p.log {
				count *= 3 // an operation is a whole job
			}
			p.prepare(h, 0, count)
			list := p.turns(0, count)
			b.ReportAllocs()
			b.ResetTimer()
			for _, input := range list {
				h.turn(input)
			}
		})
	}
}
