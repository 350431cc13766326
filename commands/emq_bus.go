package commands

import "github.com/echomq/emqd/fence"

var emqBusRows = []Row{
	{
		Name: "emq.failures.incr", Family: "bus", Arity: 4, Flags: emqWrite | DenyOOM | Fast, Do: emqFailuresIncr,
		Keys: emqKeys, Layout: fence.Layout{fence.Failures}, Tokens: []string{"bus.failures"},
		Syntax: "numkeys failures entry", Since: "1.0.0", Complexity: "O(1)",
		Summary: "Counts a failure to handle an entry of a stream.",
	},
}

// emqFailuresIncr handles EMQ.FAILURES.INCR numkeys failures | entry.
//
// Keys:    hash of failure counters of a stream's group
// Reply:   the entry's new count
// Errors:  WRONGTYPE, ERR when the count is no integer or would overflow
// Effects: HSET
func emqFailuresIncr(c *Call) error {
	v, err := newVerb(c)
	if err != nil {
		return err
	}
	if err := v.open(); err != nil {
		return err
	}
	if err := c.Guard(); err != nil {
		return err
	}
	failures, err := v.counter(v.keys[0], v.args[0], 1)
	if err != nil {
		return err
	}
	failures.write()
	c.Reply.Int(failures.n)
	return nil
}
