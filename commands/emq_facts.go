package commands

import (
	"github.com/echomq/emqd/fence"
	"github.com/echomq/emqd/store"
	"github.com/echomq/emqd/store/num"
)

var emqFactRows = []Row{
	{
		Name: "emq.counts", Family: "admin", Arity: -4, Flags: emqRead | Fast, Do: emqCounts,
		Keys: emqReads, Layout: fence.Layout{fence.Base}, Tokens: []string{"counts"},
		Syntax: "numkeys base name [name ...]", Since: "1.0.0", Complexity: "O(M) where M is the number of names",
		Summary: "Counts a queue's jobs by state, and those that it completed and failed.",
	},
	{
		Name: "emq.state", Family: "admin", Arity: 8, Flags: emqRead | Fast, Do: emqState,
		Keys: emqReads, Layout: fence.Layout{fence.Row, fence.Pending, fence.Active, fence.Schedule, fence.Dead}, Tokens: []string{"state"},
		Syntax: "numkeys job pending active schedule dead id", Since: "1.0.0", Complexity: "O(1)",
		Summary: "Tells where a job is.",
	},
	{
		Name: "emq.rate", Family: "admin", Arity: 5, Flags: emqRead | Fast, Do: emqRate,
		Keys: emqReads, Layout: fence.Layout{fence.Limiter, fence.Meta}, Tokens: []string{"rate"},
		Syntax: "numkeys limiter meta max", Since: "1.0.0", Complexity: "O(1)",
		Summary: "Tells for how long the rate limit of a queue still holds.",
	},
	{
		Name: "emq.maxed", Family: "admin", Arity: 4, Flags: emqRead | Fast, Do: emqMaxed,
		Keys: emqReads, Layout: fence.Layout{fence.Meta, fence.Active}, Tokens: []string{"maxed"},
		Syntax: "numkeys meta active", Since: "1.0.0", Complexity: "O(1)",
		Summary: "Refuses when a queue has as many active jobs as it may.",
	},
}

var (
	fieldConcurrency = []byte("concurrency")
	fieldMax         = []byte("max")
)

// countNames are what EMQ.COUNTS counts: the members of a set, or a metric. Never changed.
var countNames = [...]struct {
	name string
	kind fence.Kind
}{
	{"pending", fence.Pending}, {"active", fence.Active}, {"schedule", fence.Schedule}, {"dead", fence.Dead},
	{"completed", fence.MetricsCompleted}, {"failed", fence.MetricsFailed},
}

// countKind returns the kind of key that a name of EMQ.COUNTS stands for.
func countKind(name []byte) (fence.Kind, error) {
	for i := range countNames {
		if Is(name, countNames[i].name) {
			return countNames[i].kind, nil
		}
	}
	return fence.Unknown, ErrSyntax
}

// emqCounts handles EMQ.COUNTS numkeys base | name [name ...].
//
// Keys:    base; reads pending, active, schedule, dead and the metrics
// Reply:   array of counts in the order of the names
// Errors:  syntax for a name that is none, WRONGTYPE
// Effects: none
func emqCounts(c *Call) error {
	v, err := newVerb(c)
	if err != nil {
		return err
	}
	for _, name := range v.args {
		if _, err := countKind(name); err != nil {
			return err
		}
	}
	if err := v.open(); err != nil {
		return err
	}
	c.Reply.Array(len(v.args))
	for _, name := range v.args {
		kind, err := countKind(name)
		if err != nil {
			return err
		}
		n, err := v.countOf(kind)
		if err != nil {
			return err
		}
		c.Reply.Int(n)
	}
	return nil
}

// countOf returns the number of members of a set, or what a metric counts.
func (v *verb) countOf(kind fence.Kind) (int64, error) {
	mark := len(v.c.emq.buf)
	defer func() { v.c.emq.buf = v.c.emq.buf[:mark] }()
	if kind == fence.MetricsCompleted || kind == fence.MetricsFailed {
		metric, err := v.metric(kind, 0)
		return metric.n, err
	}
	set, err := v.c.Tx.ZSet(v.key(kind))
	return int64(set.Len()), err
}

// jobPlace is where a job is.
type jobPlace struct {
	state string // as EMQ.STATE tells it
	set   store.ZSet
	lane  bool // the set is its lane
}

// jobSets are the sets that a job can be in besides a lane, with the state that this is. Never changed.
var jobSets = [...]struct {
	kind  fence.Kind
	state []byte
}{
	{fence.Active, stateActive}, {fence.Pending, statePending}, {fence.Schedule, stateScheduled}, {fence.Dead, stateDead},
}

// whereIs finds the set that a job with a row is in. A job in no set awaits its children, or its state is unknown.
func (v *verb) whereIs(row *jobRow, id []byte) (p jobPlace, err error) {
	tx := v.c.Tx
	for i := range jobSets {
		if p.set, err = tx.ZSet(v.key(jobSets[i].kind)); err != nil {
			return p, err
		}
		if inSet(&p.set, id) {
			p.state = string(jobSets[i].state)
			return p, nil
		}
	}
	if group, ok := row.Get(fieldGroup); ok && fence.ValidGroup(group) {
		if p.set, err = v.laneJobs(group); err != nil {
			return p, err
		}
		if inSet(&p.set, id) {
			p.state, p.lane = string(statePending), true
			return p, nil
		}
	}
	if p.state = "unknown"; row.awaiting() {
		p.state = string(stateAwaiting)
	}
	return p, nil
}

// emqState handles EMQ.STATE numkeys job pending active schedule dead | id.
//
// Keys:    job row and the sets; reads the job's lane
// Reply:   pending, active, scheduled, dead, awaiting_children, unknown or absent
// Errors:  WRONGTYPE
// Effects: none
func emqState(c *Call) error {
	v, err := newVerb(c)
	if err != nil {
		return err
	}
	id := v.args[0]
	if err := v.openRow(id); err != nil {
		return err
	}
	row, err := v.row(v.keys[0])
	if err != nil {
		return err
	}
	if !row.Exists() {
		c.Reply.Text("absent")
		return nil
	}
	p, err := v.whereIs(&row, id)
	if err != nil {
		return err
	}
	c.Reply.Text(p.state)
	return nil
}

// emqRate handles EMQ.RATE numkeys limiter meta | max.
//
// Keys:    rate-limit counter, meta
// Reply:   the ms for which the counter, having reached the maximum, is still there; 0 when it has not
// Errors:  WRONGTYPE, ERR when the counter or the maximum of the queue is no integer
// Effects: none
func emqRate(c *Call) error {
	v, err := newVerb(c)
	if err != nil {
		return err
	}
	most, err := v.count(0)
	if err != nil {
		return err
	}
	if err := v.open(); err != nil {
		return err
	}
	limited := most > 0
	if !limited {
		meta, err := c.Tx.Hash(v.keys[1])
		if err != nil {
			return err
		}
		if most, limited, err = hashInt(&meta, fieldMax); err != nil {
			return err
		}
	}
	text, there, err := c.Tx.Value(v.keys[0])
	if err != nil {
		return err
	}
	left := int64(0)
	if there && limited {
		used, ok := num.Int(text)
		if !ok {
			return ErrNotInteger
		}
		there = used >= most
	}
	if there {
		if at, _ := c.Tx.Expiry(v.keys[0]); at != 0 {
			left = at - c.Now()
		}
	}
	c.Reply.Int(left)
	return nil
}

// emqMaxed handles EMQ.MAXED numkeys meta active.
//
// Keys:    meta, active set
// Reply:   0
// Errors:  EMQRATE when as many jobs are active as concurrency of meta allows, ERR when that is no integer, WRONGTYPE
// Effects: none
func emqMaxed(c *Call) error {
	v, err := newVerb(c)
	if err != nil {
		return err
	}
	if err := v.open(); err != nil {
		return err
	}
	meta, err := c.Tx.Hash(v.keys[0])
	if err != nil {
		return err
	}
	most, limited, err := hashInt(&meta, fieldConcurrency)
	if err != nil {
		return err
	}
	active, err := v.set(1)
	switch {
	case err != nil:
		return err
	case limited && int64(active.Len()) >= most:
		return fence.RateMaxed
	}
	c.Reply.Int(0)
	return nil
}
