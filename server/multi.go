package server

import (
	"slices"
	"strings"

	"github.com/echomq/emqd/commands"
)

// transaction is what a client has queued since MULTI.
type transaction struct {
	rows    []*commands.Row
	args    [][][]byte
	bytes   int64 // of args
	spoiled bool  // a command was refused: EXEC aborts
}

// watch is one key that a client watches.
type watch struct {
	db     int
	key    string
	absent bool // it was not visible when WATCH was called
}

func (t *transaction) queue(row *commands.Row, args [][]byte) {
	own := cloneArgs(args)
	t.rows = append(t.rows, row)
	t.args = append(t.args, own)
	t.bytes += argsBytes(own)
}

var transactionRows = []commands.Row{
	{
		Name: "multi", Family: "transactions", Arity: 1, Do: cmdMulti,
		Flags:   commands.NoScript | commands.Loading | commands.Stale | commands.Fast | commands.AllowBusy | commands.NoMulti | commands.TxControl,
		Summary: "Begins to queue commands for EXEC.", Complexity: "O(1)", Since: "1.2.0",
	},
	{
		Name: "exec", Family: "transactions", Arity: 1, Do: cmdExec,
		Flags:   commands.NoScript | commands.Loading | commands.Stale | commands.SkipSlowlog | commands.TxControl | commands.RunsQueue,
		Summary: "Runs what was queued since MULTI as one transaction.", Complexity: "That of the queued commands", Since: "1.2.0",
	},
	{
		Name: "discard", Family: "transactions", Arity: 1, Do: cmdDiscard,
		Flags:   commands.NoScript | commands.Loading | commands.Stale | commands.Fast | commands.AllowBusy | commands.TxControl,
		Summary: "Forgets what was queued since MULTI.", Complexity: "O(N), N being the queued commands", Since: "2.0.0",
	},
	{
		Name: "watch", Family: "transactions", Arity: -2, Do: cmdWatch,
		Flags:  commands.NoScript | commands.Loading | commands.Stale | commands.Fast | commands.AllowBusy | commands.NoMulti | commands.TxControl,
		Keys:   []commands.KeySpec{{Index: 1, Last: -1, Step: 1, Flags: commands.KeyRO}},
		Syntax: "key [key ...]", Summary: "Makes the next EXEC depend on keys staying as they are.",
		Complexity: "O(N), N being the keys named", Since: "2.2.0",
	},
	{
		Name: "unwatch", Family: "transactions", Arity: 1, Do: cmdUnwatch,
		Flags:   commands.NoScript | commands.Loading | commands.Stale | commands.Fast | commands.AllowBusy,
		Summary: "Ends all watching of keys.", Complexity: "O(1)", Since: "2.2.0",
	},
}

// cmdMulti handles MULTI.
//
// Reply:   OK
// Effects: none
func cmdMulti(c *commands.Call) error {
	c.Peer.(*session).tx = &transaction{}
	c.Reply.OK()
	return nil
}

// cmdDiscard handles DISCARD.
//
// Reply:   OK
// Errors:  without MULTI
// Effects: none; the watched keys are forgotten
func cmdDiscard(c *commands.Call) error {
	s := c.Peer.(*session)
	if s.tx == nil {
		return commands.Error("ERR DISCARD without MULTI")
	}
	s.tx = nil
	s.unwatch()
	c.Reply.OK()
	return nil
}

// cmdExec handles EXEC.
//
// Reply:   array of the replies of the queued commands; null when a watched key has changed
// Errors:  without MULTI; EXECABORT when a command was refused while queueing
// Effects: those of the commands, as one transaction at one instant
func cmdExec(c *commands.Call) error {
	s := c.Peer.(*session)
	t := s.tx
	if t == nil {
		return commands.Error("ERR EXEC without MULTI")
	}
	stale := s.dirtyWatch || s.watchExpired(c)
	s.tx = nil
	s.unwatch()
	if err := s.srv.guardQueue(t); err != nil {
		return abort(err)
	}
	if t.spoiled {
		return commands.Error("EXECABORT Transaction discarded because of previous errors.")
	}
	if stale {
		c.Reply.NullArray()
		return nil
	}
	c.Reply.Array(len(t.rows))
	row, args := c.Row, c.Args
	s.inExec = true
	for i, r := range t.rows {
		if err := s.srv.readmit(s, r, t.args[i]); err != nil {
			c.Reply.Error(err)
			continue
		}
		_ = s.srv.run(s, r, t.args[i], false) // its refusal is in the reply
	}
	s.inExec = false
	c.Row, c.Args = row, args
	return nil
}

// abort is the refusal of EXEC for the reason err.
func abort(err error) commands.Error {
	return commands.Error("EXECABORT Transaction discarded because of: " + strings.TrimPrefix(err.Error(), "ERR "))
}

// guardQueue passes the queued commands through the gates that may have closed since they were queued.
func (srv *Server) guardQueue(t *transaction) error {
	for _, row := range t.rows {
		if err := gateMemory(srv, nil, row, nil); err != nil {
			return err
		}
	}
	return nil
}

// cmdWatch handles WATCH key [key ...].
//
// Reply:   OK
// Effects: none
func cmdWatch(c *commands.Call) error {
	s := c.Peer.(*session)
	for _, key := range c.Args[1:] {
		s.watch(c, string(key))
	}
	c.Reply.OK()
	return nil
}

// cmdUnwatch handles UNWATCH.
//
// Reply:   OK
// Effects: none
func cmdUnwatch(c *commands.Call) error {
	c.Peer.(*session).unwatch()
	c.Reply.OK()
	return nil
}

func (s *session) watch(c *commands.Call, key string) {
	for _, w := range s.watches {
		if w.db == s.db && w.key == key {
			return
		}
	}
	s.watchBytes += watchedBytes + int64(len(key))
	s.watches = append(s.watches, watch{s.db, key, !c.Tx.Exists([]byte(key))})
	byKey := s.srv.watched[s.db]
	byKey[key] = append(byKey[key], s)
	s.srv.watchers++
}

func (s *session) unwatch() {
	for _, w := range s.watches {
		byKey := s.srv.watched[w.db]
		list := byKey[w.key]
		if i := slices.Index(list, s); i >= 0 {
			list = slices.Delete(list, i, i+1)
		}
		if len(list) == 0 {
			delete(byKey, w.key)
		} else {
			byKey[w.key] = list
		}
	}
	s.srv.watchers -= len(s.watches)
	s.watches, s.watchBytes, s.dirtyWatch = nil, 0, false
}

// watchExpired reports whether the time of a watched key has come since WATCH.
func (s *session) watchExpired(c *commands.Call) bool {
	db := c.Tx.DB()
	defer c.Tx.Select(db)
	for _, w := range s.watches {
		c.Tx.Select(w.db)
		if !w.absent && !c.Tx.Exists([]byte(w.key)) {
			return true
		}
	}
	return false
}

// dirtyWatch marks the transactions of everyone who watches key. A key that was past its time at WATCH and
// whose removal is only recorded now has not changed for its watcher.
func (srv *Server) dirtyWatch(db int, key string) {
	tx := srv.call.Tx
	selected := tx.DB()
	tx.Select(db)
	there := tx.Exists([]byte(key))
	tx.Select(selected)
	for _, s := range srv.watched[db][key] {
		for _, w := range s.watches {
			if w.db == db && w.key == key && (there || !w.absent) {
				s.dirtyWatch = true
			}
		}
	}
}
