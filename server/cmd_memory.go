package server

import (
	"fmt"
	"runtime/debug"

	"github.com/echomq/emqd/commands"
	"github.com/echomq/emqd/store/num"
)

var memoryRows = []commands.Row{{
	Name: "memory", Family: "server", Arity: -2, Since: "4.0.0",
	Summary: "The commands about memory.", Complexity: "That of the subcommand",
	Subs: []commands.Row{
		{Name: "doctor", Arity: 2, Do: cmdMemoryDoctor, Since: "4.0.0", Complexity: "O(1)", Summary: "Says in words whether memory looks well."},
		commands.HelpRow("4.0.0"),
		{Name: "malloc-stats", Arity: 2, Do: cmdMemoryMallocStats, Since: "4.0.0", Complexity: "O(1)", Summary: "Tells what the arena holds."},
		{Name: "purge", Arity: 2, Do: cmdMemoryPurge, Since: "4.0.0", Complexity: "O(1)", Summary: "Gives free memory back to the system."},
		{Name: "stats", Arity: 2, Do: cmdMemoryStats, Since: "4.0.0", Complexity: "O(1)", Summary: "Tells where memory goes."},
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
	used, clients := srv.usedMemory()
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
// Reply:   map of facts in bytes, and a few counts
// Effects: none
func cmdMemoryStats(c *commands.Call) error {
	srv := c.Peer.(*session).srv
	used, clients := srv.usedMemory()
	keys, data := srv.store.Keys(), srv.store.Memory()
	facts := []struct {
		name string
		n    int64
	}{
		{"peak.allocated", srv.stats.peak}, {"total.allocated", used}, {"startup.allocated", 0}, {"replication.backlog", 0},
		{"clients.slaves", 0}, {"clients.normal", clients}, {"aof.buffer", 0}, {"overhead.total", clients},
		{"keys.count", keys}, {"keys.bytes-per-key", data / max(keys, 1)}, {"dataset.bytes", data},
		{"allocator.allocated", data}, {"allocator.active", srv.store.Mapped()}, {"allocator.resident", residentMemory()},
		{"lazyfree.pending", int64(srv.store.Pending())},
	}
	c.Reply.Map(len(facts))
	for _, f := range facts {
		c.Reply.Text(f.name)
		c.Reply.Int(f.n)
	}
	return nil
}
