package commands

import (
	"github.com/echomq/emqd/store"
)

// Host is what a handler may ask of the server beyond the keyspace.
type Host interface {
	// Allows reports whether the caller's ACL lets it touch a key that the call does not declare, to read it (KeyAccess) or to
	// write it (KeyUpdate).
	Allows(key []byte, access KeyFlags) bool
	// Guard returns the write guard's refusal for a row (memory, log health, replica), or nil.
	Guard(row *Row) error
	// Publish sends message to the subscribers of channel and returns how many there are.
	Publish(channel, message []byte) int64
}

// Call is one execution of a command: its transaction, arguments and reply. It is reused; nothing in it
// outlives the handler.
type Call struct {
	Tx    *store.Tx
	Args  [][]byte // with the name; they alias the request buffer and must be copied to be kept
	Reply *Reply
	Row   *Row
	Table *Table
	Host  Host
	// Peer is the server's session of the caller. Only handlers declared in package server look at it.
	Peer any

	// MayBlock is false between MULTI and EXEC, and on the last run of a waiting call whose time is up:
	// then the handler answers its empty reply instead of calling Wait.
	MayBlock bool
	// Again is true when the handler runs again for a client that was parked: keys of a wrong type are
	// then passed over, since the error belongs to the first run only.
	Again bool
	// Replay is true when the call repeats an effect: then instants in its arguments stand as they are, even when
	// they are to come by the transaction's clock.
	Replay bool
	// Damaged is set in the calls that the node makes itself: it is told of each job that a look through a set cannot move
	// because of what its row or its lane holds, and why, and the look goes on behind it. A client's call is refused instead.
	Damaged func(id []byte, why error)

	emq emqScratch

	waitKeys  [][]byte
	waitUntil int64
	waitSoon  bool
}

// Now returns the call's one instant in Unix milliseconds.
func (c *Call) Now() int64 { return c.Tx.Now() }

// Wait parks the caller until one of keys is touched or the instant until (Unix ms, 0 = for ever) has come,
// when the handler runs once more with MayBlock false. The handler returns Wait's result at once. On a
// run after the first the deadline stays the first one's.
func (c *Call) Wait(until int64, keys ...[]byte) error {
	c.waitKeys = append(c.waitKeys[:0], keys...)
	c.waitUntil, c.waitSoon = until, false
	return errWait
}

// WaitSoon is Wait for a handler that has done a bounded part of its work: it runs again when others had their turn, as
// if the first of keys were touched.
func (c *Call) WaitSoon(until int64, keys ...[]byte) error {
	err := c.Wait(until, keys...)
	c.waitSoon = true
	return err
}

// Soon returns the key that the last call, which waits, is to be run for without being touched; nil when it waits for others.
func (c *Call) Soon() []byte {
	if c.waitSoon {
		return c.waitKeys[0]
	}
	return nil
}

// Waiting returns what the last Wait asked for. The keys alias the arguments.
func (c *Call) Waiting() (until int64, keys [][]byte) { return c.waitUntil, c.waitKeys }

// Guard returns the write guard's refusal for this row, or nil. Rows flagged OwnGuard call it after the
// last check of their domain and before the first write.
func (c *Call) Guard() error { return c.Host.Guard(c.Row) }

// Run executes the row. On a refusal the reply is cut back to where the call began and the error takes its
// place; a call that waits leaves no reply. The error is returned for statistics.
func (c *Call) Run() error {
	mark := c.Reply.Mark()
	err := c.Row.Do(c)
	if err != nil {
		c.Reply.Cut(mark)
		if !IsWait(err) {
			c.Reply.Error(err)
		}
	}
	return err
}
