package server

import (
	"fmt"
	"runtime/debug"
	"strconv"

	"github.com/echomq/emqd/commands"
	"github.com/echomq/emqd/store/num"
)

var memoryRows = []commands.Row{{
	Name: "memory", Family: "server", Arity: -2, Since: "4.0.0",
	Summary: "The commands about memory.", Complexity: "That of the subcommand",
	Subs: []commands.Row{
		{Name: "doctor", Tips: []string{commands.TipVaries, "request_policy:all_shards", "response_policy:special"}, Arity: 2, Do: cmdMemoryDoctor, Since: "4.0.0", Complexity: "O(1)", Summary: "Says in words whether memory looks well."},
		commands.HelpRow("4.0.0"),
		{Name: "malloc-stats", Tips: []string{commands.TipVaries, "request_policy:all_shards", "response_policy:special"}, Arity: 2, Do: cmdMemoryMallocStats, Since: "4.0.0", Complexity: "O(1)", Summary: "Tells what the arena holds."},
		{Name: "purge", Tips: []string{"request_policy:all_shards", "response_policy:all_succeeded"}, Arity: 2, Do: cmdMemoryPurge, Since: "4.0.0", Complexity: "O(1)", Summary: "Gives free memory back to the system."},
		{Name: "stats", Tips: []string{commands.TipVaries, "request_policy:all_shards", "response_policy:special"}, Arity: 2, Do: cmdMemoryStats, Since: "4.0.0", Complexity: "O(1)", Summary: "Tells where memory goes."},
		{
			Name: "usage", Arity: -3, Flags: commands.ReadOnly, Do: cmdMemoryUsage, Since: "4.0.0", Complexity: "O(N), N being the samples",
			Keys:   []commands.KeySpec{{Index: 2, Flags: commands.KeyRO}},
			Syntax: "key [SAMPLES count]", Summary: "Estimates the bytes that a key takes.",
		},
	},
}}

// cmdMemoryUsage handles MEMORY USAGE key [SAMPLES count].
//
// Reply:   bytes, null when the key is absent
// Errors:  syntax, a negative count
// Effects: none
func cmdMemoryUsage(c *commands.Call) error {
	samples := int64(5)
	switch {
	case len(c.Args) == 5 && commands.Is(c.Args[3], "samples"):
		n, ok := num.Int(c.Args[4])
		if !ok {
			return commands.ErrNotInteger
		}
		if n < 0 {
			return commands.ErrSyntax
		}
		samples = n
	case len(c.Args) != 3:
		return commands.ErrSyntax
	}
	n, ok := c.Tx.Usage(c.Args[2], int(min(samples, 1<<30)))
	if !ok {
		c.Reply.Null()
		return nil
	}
	c.Reply.Int(n)
	return nil
}

// cmdMemoryDoctor handles MEMORY DOCTOR.
//
// Reply:   text
// Effects: none
func cmdMemoryDoctor(c *commands.Call) error {
	srv := c.Peer.(*session).srv
	used, clients := srv.usedMemory(), srv.clientMem
	rss, mapped := residentMemory(), srv.store.Mapped()
	text := fmt.Sprintf("In use: %s, resident: %s.\n", human(used), human(rss))
	healthy := true
	say := func(bad bool, words string) {
		if bad {
			healthy = false
			text += words + "\n"
		}
	}
	limit := srv.cfg.MaxMemory
	say(mapped > 64<<20 && srv.store.Memory() < mapped/2, "More than half of the mapped memory is free: a peak has passed. It is reused before more is asked for.")
	say(clients > used/2 && clients > 16<<20, "Clients hold more than half of the memory: look for large buffers in CLIENT LIST.")
	say(limit > 0 && used > limit/10*9, "Over nine tenths of maxmemory are in use: new jobs are refused soon, claims and completions are not.")
	if healthy {
		text += "Nothing to worry about.\n"
	}
	c.Reply.Verbatim(text)
	return nil
}

// cmdMemoryMallocStats handles MEMORY MALLOC-STATS.
//
// Reply:   text
// Effects: none
func cmdMemoryMallocStats(c *commands.Call) error {
	st := c.Peer.(*session).srv.store
	c.Reply.Verbatim(fmt.Sprintf("in use %d\nmapped %d\nvalues to reclaim %d\n", st.Memory(), st.Mapped(), st.Pending()))
	return nil
}

// cmdMemoryPurge handles MEMORY PURGE.
//
// Reply:   OK
// Effects: none
func cmdMemoryPurge(c *commands.Call) error {
	c.Peer.(*session).srv.store.Purge()
	debug.FreeOSMemory()
	c.Reply.OK()
	return nil
}

// cmdMemoryStats handles MEMORY STATS.
//
// Reply:   map of facts: bytes, a few counts and ratios, and for each database with keys a map of its tables
// Effects: none
func cmdMemoryStats(c *commands.Call) error {
	srv, r := c.Peer.(*session).srv, c.Reply
	m := srv.memoryFacts()
	var used []int
	for i := range srv.store.Databases() {
		if srv.store.Len(i) > 0 {
			used = append(used, i)
		}
	}
	pairs := 0
	number := func(name string, n int64) {
		r.Text(name)
		r.Int(n)
		pairs++
	}
	double := func(name string, f float64) {
		r.Text(name)
		r.Double(f)
		pairs++
	}
	start := r.Later()
	number("peak.allocated", srv.stats.peak)
	number("total.allocated", m.used)
	number("startup.allocated", baseMemory)
	number("replication.backlog", 0)
	number("clients.slaves", 0)
	number("clients.normal", srv.clientMem)
	number("cluster.links", 0)
	number("aof.buffer", m.log)
	number("lua.caches", 0)
	number("functions.caches", 0)
	for _, i := range used {
		t := srv.store.Tables(i)
		r.Text("db." + strconv.Itoa(i))
		r.Map(2)
		number("overhead.hashtable.main", t.Keys)
		number("overhead.hashtable.expires", t.Times)
		pairs-- // the two are one of the map around them
	}
	number("overhead.db.hashtable.lut", m.tables)
	number("overhead.db.hashtable.rehashing", m.leaving)
	number("db.dict.rehashing.count", m.moving)
	number("overhead.total", m.overhead)
	number("keys.count", m.keys)
	number("keys.bytes-per-key", m.perKey())
	number("dataset.bytes", m.data)
	double("dataset.percentage", m.dataPart())
	double("peak.percentage", percent(m.used, srv.stats.peak))
	number("allocator.allocated", m.Live)
	number("allocator.active", m.Active)
	number("allocator.resident", m.Resident)
	number("allocator.muzzy", 0)
	holes, resident, process, all := m.excesses()
	double("allocator-fragmentation.ratio", holes.ratio)
	number("allocator-fragmentation.bytes", holes.bytes)
	double("allocator-rss.ratio", resident.ratio)
	number("allocator-rss.bytes", resident.bytes)
	double("rss-overhead.ratio", process.ratio)
	number("rss-overhead.bytes", process.bytes)
	double("fragmentation", all.ratio)
	number("fragmentation.bytes", all.bytes)
	number("lazyfree.pending", int64(srv.store.Pending()))
	r.Fill(start, func() { r.Map(pairs) })
	return nil
}
