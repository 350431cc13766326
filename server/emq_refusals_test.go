package server

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/emqd/commands"
	"github.com/echomq/emqd/store/aof/memfs"
)

// emqCase is a call of a verb that has something to do, and what has to be there before. ~ is the base of a queue of its own.
type emqCase struct {
	before string // calls, separated by lines
	call   string
}

const (
	flatPending   = "EMQ.ENQUEUE 2 ~job:JOB1 ~pending JOB1 p"
	flatActive    = flatPending + "\nEMQ.CLAIM 3 ~pending ~active ~ 60000"
	flatLapsed    = flatActive + "\nZADD ~active 1 JOB1"
	flatScheduled = "EMQ.SCHEDULE 2 ~job:JOB1 ~schedule JOB1 p in 0"
	flatDead      = flatActive + "\nEMQ.FAIL 5 ~active ~schedule ~dead ~job:JOB1 ~ JOB1 1 0 1 boom"
	lanePending   = "EMQ.GROUP.ENQUEUE 3 ~job:JOB1 ~g:x:pending ~ JOB1 p x"
	laneActive    = lanePending + "\nEMQ.GROUP.CLAIM 3 ~ring ~active ~ 60000"
	laneLapsed    = laneActive + "\nZADD ~active 1 JOB1"
	laneDead      = laneActive + "\nEMQ.GROUP.FAIL 5 ~active ~schedule ~dead ~job:JOB1 ~ JOB1 1 0 1 boom"
	heldParent    = `EMQ.FLOW.ADD 2 ~job:JOB0 ~job:JOB1 JOB0 p "" "" JOB1 p JOB0 fp`
	heldChild     = heldParent + "\nEMQ.CLAIM 3 ~pending ~active ~ 60000"
	repeatable    = "EMQ.REPEAT.REGISTER 2 ~repeat ~repeat:r r 1000 t 1"
)

// emqCases has a case for each verb that declares keys.
var emqCases = []emqCase{
	{"", flatPending}, {"", flatScheduled}, {"", lanePending}, {"", heldParent},
	{flatPending, "EMQ.CLAIM 3 ~pending ~active ~ 60000"}, {flatPending, "EMQ.CLAIMS 3 ~pending ~active ~ 60000 2"},
	{flatPending, "EMQ.BCLAIM 3 ~pending ~active ~ 60000 0"},
	{flatActive, "EMQ.EXTEND 2 ~active ~job:JOB1 JOB1 1 90000"}, {flatActive, "EMQ.EXTENDS 2 ~active ~ 90000 JOB1 1"},
	{flatActive, "EMQ.COMPLETE 3 ~active ~job:JOB1 ~ JOB1 1"}, {flatScheduled, "EMQ.PROMOTE 3 ~schedule ~pending ~ 10"},
	{flatScheduled, "EMQ.RESCHEDULE 2 ~schedule ~job:JOB1 JOB1 in 5"}, {flatActive, "EMQ.DELAY 3 ~job:JOB1 ~active ~schedule JOB1 1 in 5"},
	{flatActive, "EMQ.FAIL 5 ~active ~schedule ~dead ~job:JOB1 ~ JOB1 1 0 1 boom"},
	{flatDead, "EMQ.REPROCESS 3 ~job:JOB1 ~dead ~pending JOB1"}, {flatActive, "EMQ.REQUEUE 3 ~active ~pending ~job:JOB1 JOB1 1"},
	{flatLapsed, "EMQ.STALLED.CHECK 4 ~active ~pending ~dead ~ 3 10"}, {flatLapsed, "EMQ.REAP 3 ~active ~pending ~ 10"},
	{"", "EMQ.APPEND 1 ~stream:s EVT0KHTOWnGLuC a b"}, {"", "EMQ.FAILURES.INCR 1 ~stream:s:failures:g 1-1"}, {"", "EMQ.PUBLISH 1 ~events done JOB1"},

	{lanePending, "EMQ.GROUP.CLAIM 3 ~ring ~active ~ 60000"}, {lanePending, "EMQ.GROUP.CLAIMS 3 ~ring ~active ~ 60000"},
	{lanePending, "EMQ.GROUP.WCLAIM 3 ~ring ~active ~ 60000"}, {lanePending, "EMQ.GROUP.BCLAIM 3 ~ring ~active ~ 60000 0"},
	{laneActive, "EMQ.GROUP.COMPLETE 3 ~active ~job:JOB1 ~ JOB1 1"},
	{laneActive, "EMQ.GROUP.FAIL 5 ~active ~schedule ~dead ~job:JOB1 ~ JOB1 1 0 2 boom"},
	{laneActive, "EMQ.GROUP.DELAY 4 ~job:JOB1 ~active ~schedule ~ JOB1 1 in 5"},
	{laneActive, "EMQ.GROUP.REQUEUE 4 ~active ~pending ~job:JOB1 ~ JOB1 1"}, {laneDead, "EMQ.GROUP.REPROCESS 4 ~job:JOB1 ~dead ~pending ~ JOB1"},
	{flatScheduled, "EMQ.GROUP.PROMOTE 3 ~schedule ~pending ~ 10"}, {laneLapsed, "EMQ.GROUP.REAP 2 ~active ~ x 10"},
	{laneLapsed, "EMQ.GROUP.STALLED.CHECK 4 ~active ~pending ~dead ~ 1 10"}, {lanePending, "EMQ.GROUP.PAUSE 3 ~paused ~ring ~ x"},
	{lanePending + "\nEMQ.GROUP.PAUSE 3 ~paused ~ring ~ x", "EMQ.GROUP.RESUME 3 ~paused ~ring ~ x"}, {"", "EMQ.GROUP.LIMIT 1 ~ x 2"},
	{"", "EMQ.GROUP.WEIGHT 1 ~ x 2"}, {lanePending, "EMQ.GROUP.REASSIGN 3 ~job:JOB1 ~g:y:pending ~ JOB1 y"},
	{lanePending, "EMQ.GROUP.DRAIN 3 ~g:x:pending ~ring ~ x"}, {lanePending, "EMQ.GROUP.DEPTHS 1 ~ x"},

	{"", "EMQ.FLOW.HOLD 2 ~job:JOB0 ~ JOB0 p 2"}, {"EMQ.FLOW.HOLD 2 ~job:JOB0 ~ JOB0 p 2", "EMQ.FLOW.CHILD 3 ~job:JOB1 ~ ~job:JOB0 JOB1 p fp planned"},
	{heldChild, "EMQ.FLOW.COMPLETE 4 ~active ~job:JOB1 ~ ~job:JOB0 JOB1 1 r"},
	{heldChild, "EMQ.FLOW.FAIL 6 ~active ~schedule ~dead ~job:JOB1 ~ ~job:JOB0 JOB1 1 0 1 boom"},
	{heldParent, "EMQ.FLOW.DELIVER 2 ~job:JOB0 ~ JOB1 r"}, {heldParent, "EMQ.FLOW.FAILDELIVER 2 ~job:JOB0 ~ JOB1 boom id"},

	{"", "EMQ.PAUSE 1 ~meta"}, {"EMQ.PAUSE 1 ~meta", "EMQ.RESUME 1 ~meta"}, {flatPending, "EMQ.DRAIN 2 ~ ~pending"},
	{flatPending + "\nEMQ.PAUSE 1 ~meta", `EMQ.OBLITERATE 2 ~meta ~ "" 10`},
	{flatPending, `EMQ.REMOVE 6 ~job:JOB1 ~pending ~active ~schedule ~dead ~de: JOB1 ""`}, {flatPending, "EMQ.UPDATE 1 ~job:JOB1 new"},
	{flatPending, "EMQ.PROGRESS 2 ~job:JOB1 ~events JOB1 50"}, {flatPending, "EMQ.LOG 2 ~job:JOB1 ~job:JOB1:logs line 3"},
	{flatPending, "EMQ.COUNTS 1 ~ pending"}, {flatPending, "EMQ.STATE 5 ~job:JOB1 ~pending ~active ~schedule ~dead JOB1"},
	{flatPending, "EMQ.EXPLAIN 1 ~ JOB1"}, {"", "EMQ.RATE 2 ~limiter ~meta 1"}, {"", "EMQ.MAXED 2 ~meta ~active"},
	{"", repeatable}, {repeatable, "EMQ.REPEAT.CANCEL 2 ~repeat ~repeat:r r"}, {repeatable, "EMQ.REPEAT.ADVANCE 2 ~repeat ~repeat:r r 5"},
}

// spelt is a call of case i.
func spelt(i int, line string) string {
	return strings.ReplaceAll(line, "~", fmt.Sprintf("emq:{%d}:", i))
}

// TestEMQRefusalsOfTheNode sends every verb, with something to do, to a node that is full, whose log cannot be written and that is
// reading its data, over the wire. A refusal has changed nothing; what only settles goes on while the node is full; reading goes
// on while the log is broken.
func TestEMQRefusalsOfTheNode(t *testing.T) {
	fsys := memfs.New()
	n := startLogged(t, fsys, func(c *Config) { c.Install, c.EnableDebugCommand = true, "yes" })
	c := dial(t, n.addr)
	var seen []string
	for i, e := range emqCases {
		for line := range strings.Lines(e.before) {
			require.NotEqual(t, byte('-'), c.do(spelt(i, strings.TrimSpace(line)))[0], line)
		}
		name, _, _ := strings.Cut(e.call, " ")
		seen = append(seen, strings.ToLower(name))
	}
	for _, row := range n.srv.table.Rows() {
		if strings.HasPrefix(row.Name, "emq.") && len(row.Layout)+row.Rows > 0 {
			require.Contains(t, seen, row.Name, "there is no case for it")
		}
	}
	slices.Sort(seen)
	require.Len(t, slices.Compact(seen), len(emqCases), "a case is there twice")

	each := func(want func(row *commands.Row) string) {
		t.Helper()
		for i, e := range emqCases {
			before := c.do("DEBUG DIGEST")
			name, _, _ := strings.Cut(e.call, " ")
			refusal := want(n.srv.table.Lookup([]byte(strings.ToLower(name))))
			if refusal == "" {
				continue
			}
			require.Contains(t, c.do(spelt(i, e.call)), refusal, e.call)
			require.Equal(t, before, c.do("DEBUG DIGEST"), e.call)
		}
	}
	require.Equal(t, "+OK\r\n", c.do("CONFIG SET maxmemory 1"))
	each(func(row *commands.Row) string {
		if row.Has(commands.DenyOOM) {
			return "-OOM command not allowed when used memory > 'maxmemory'.\r\n"
		}
		return ""
	})
	require.Equal(t, "+OK\r\n", c.do("CONFIG SET maxmemory 0"))

	var failing atomic.Bool
	failing.Store(true)
	fsys.SetFail(func(did, _ string) error {
		if failing.Load() && (did == "write" || did == "create") {
			return syscall.EIO
		}
		return nil
	})
	c.send("SET broken v")
	_, err := c.r.Next()
	require.Error(t, err)
	c = dial(t, n.addr)
	each(func(row *commands.Row) string {
		if row.Has(commands.Write) {
			return "-MISCONF Errors writing to the AOF file: "
		}
		return ""
	})
	for i, e := range emqCases { // and what reads is answered
		name, _, _ := strings.Cut(e.call, " ")
		if row := n.srv.table.Lookup([]byte(strings.ToLower(name))); row.Has(commands.ReadOnly) {
			require.NotEqual(t, byte('-'), c.do(spelt(i, e.call))[0], e.call)
		}
	}
	failing.Store(false)
	for field(c.do("INFO persistence"), "aof_last_write_status") != "ok" {
	}

	n.srv.mu.Lock()
	n.srv.loading = &loading{total: 2, done: 1}
	n.srv.mu.Unlock()
	for i, e := range emqCases {
		require.Equal(t, "-LOADING emqd is loading the dataset in memory\r\n", c.do(spelt(i, e.call)), e.call)
	}
	n.srv.mu.Lock()
	n.srv.loading = nil
	n.srv.mu.Unlock()

	require.Equal(t, "+OK\r\n", c.do("CONFIG SET maxmemory 1"))
	for _, deny := range []bool{false, true} { // what is not refused does its work, on a full node too
		for i, e := range emqCases {
			name, _, _ := strings.Cut(e.call, " ")
			row := n.srv.table.Lookup([]byte(strings.ToLower(name)))
			if row.Has(commands.DenyOOM) != deny {
				continue
			}
			before := c.do("DEBUG DIGEST")
			require.NotEqual(t, byte('-'), c.do(spelt(i, e.call))[0], e.call)
			if row.Has(commands.Write) && !row.Has(commands.PubSub) {
				require.NotEqual(t, before, c.do("DEBUG DIGEST"), "%s did nothing", e.call)
			}
		}
		require.Equal(t, "+OK\r\n", c.do("CONFIG SET maxmemory 0"))
	}
}
