// Package local runs commands in process, over a table and a store without a server, and watches the rules
// that no reply shows: a refused or reading command has no effects, arguments are not kept, freed memory is
// not read, and the effects replayed give the same keyspace.
package local

import (
	"fmt"
	"strings"

	"github.com/echomq/emqd/commands"
	"github.com/echomq/emqd/parity/script"
	"github.com/echomq/emqd/store"
)

// Start is the instant at which a target's clock begins, in Unix ms: in the year 2033, so that instants
// written in scripts are past or to come in process and on a real server alike.
const Start = 2_000_000_000_000

// Databases is how many databases a target has.
const Databases = 16

// Target is a script.Inside over a table and a store of its own.
type Target struct {
	table *commands.Table
	seed  uint64

	s       *store.Store
	now     int64
	db      int
	proto   int
	reply   commands.Reply
	call    commands.Call
	effects []Effect
	log     []Effect // all effects since Reset
}

// Effect is one recorded command and the database it is for.
type Effect struct {
	DB   int
	Args []string // with the name
}

// New returns a target whose random choices follow from seed.
func New(table *commands.Table, seed uint64) *Target {
	t := &Target{table: table, seed: seed}
	_ = t.Reset(2) // Reset of a Target never fails
	return t
}

// Reset empties everything and sets the clock to Start.
func (t *Target) Reset(proto int) error {
	t.s = commands.NewStore(Databases, t.seed)
	t.s.Poison()
	t.s.Listen(true)
	t.now, t.db, t.proto = Start, 0, proto
	t.effects, t.log = nil, nil
	return nil
}

// Store returns the present store.
func (t *Target) Store() *store.Store { return t.s }

// Now returns the injected clock.
func (t *Target) Now() int64 { return t.now }

// Advance moves the clock on.
func (t *Target) Advance(ms int64) { t.now += ms }

// Select selects a database.
func (t *Target) Select(db int) { t.db = db }

// Knows reports whether the table has the command.
func (t *Target) Knows(args []string) bool { return t.table.Lookup([]byte(args[0])) != nil }

// Cycle removes the keys and hash fields whose time has come.
func (t *Target) Cycle() error {
	t.effects = nil
	for i := range Databases {
		tx := t.s.Begin(i, t.now, false)
		for tx.ExpireCycle(16) {
		}
		for tx.ExpireFields(16) {
		}
		t.take(tx)
		tx.Commit()
	}
	return nil
}

// Effects returns the last effects as script text.
func (t *Target) Effects() []string {
	var out []string
	for _, e := range t.effects {
		text := script.Words(e.Args)
		if e.DB != t.db {
			text = fmt.Sprintf("@%d %s", e.DB, text)
		}
		out = append(out, text)
	}
	return out
}

// Do runs a command. An error means that the command broke a rule, not that it was refused.
func (t *Target) Do(args []string) ([]byte, error) { return t.do(args, t.now, false) }

func (t *Target) do(args []string, now int64, replay bool) ([]byte, error) {
	t.effects = nil
	request := make([][]byte, len(args))
	for i, a := range args {
		request[i] = []byte(a)
	}
	t.reply.Reset(nil, t.proto)
	row, err := t.table.Find(request)
	if err == nil && !row.ArityOK(len(args)) {
		err = commands.ErrArity(row.FullName())
	}
	if err != nil {
		t.reply.Error(err)
		return t.reply.Bytes(), nil
	}
	tx := t.s.Begin(t.db, now, row.Has(commands.ReadOnly))
	t.call = commands.Call{
		Tx: tx, Args: request, Reply: &t.reply, Row: row, Table: t.table, Host: host{}, Replay: replay,
	}
	err = t.call.Run()
	reply := append([]byte(nil), t.reply.Bytes()...)
	t.take(tx)
	_ = tx.Events()
	tx.Commit()
	t.s.Reclaim(64)
	for _, a := range request {
		for i := range a {
			a[i] = 0xAA // whoever kept an argument sees it
		}
	}
	return reply, t.rules(row, args, err)
}

// take copies the transaction's effects.
func (t *Target) take(tx *store.Tx) {
	f := tx.Effects()
	for i := range f.Len() {
		e := Effect{DB: f.DB(i), Args: []string{f.Name(i)}}
		for j := range f.Args(i) {
			e.Args = append(e.Args, string(f.Arg(i, j)))
		}
		t.effects = append(t.effects, e)
	}
	t.log = append(t.log, t.effects...)
}

// rules returns what is wrong with the effects of a command.
func (t *Target) rules(row *commands.Row, args []string, refusal error) error {
	switch {
	case commands.IsWait(refusal):
		return fmt.Errorf("%s waits though it may not", script.Words(args))
	case len(t.effects) == 0:
		return nil
	case refusal != nil:
		return fmt.Errorf("%s was refused (%w) and has effects: %v", script.Words(args), refusal, t.effects)
	case !row.Has(commands.Write) && !row.Has(commands.MayReplicate):
		return fmt.Errorf("%s is no write and has effects: %v", script.Words(args), t.effects)
	}
	for _, e := range t.effects {
		if strings.HasPrefix(e.Args[0], "EMQ.") || strings.ToUpper(e.Args[0]) != e.Args[0] {
			return fmt.Errorf("%s has the effect %v, which is no plain command", script.Words(args), e)
		}
	}
	return nil
}

// Log returns all effects since Reset.
func (t *Target) Log() []Effect { return t.log }

// Replay runs all effects since Reset as commands of an empty keyspace, long before any deadline, and
// returns an error when its digest is not this one's.
func (t *Target) Replay() error {
	r := New(t.table, t.seed+1)
	for _, e := range t.log {
		r.db = e.DB
		reply, err := r.do(e.Args, 1, true)
		if err == nil && len(reply) > 0 && reply[0] == '-' {
			err = fmt.Errorf("replay of %s: %s", script.Words(e.Args), reply)
		}
		if err != nil {
			return err
		}
	}
	for i := range Databases {
		if want, got := t.s.DigestDB(i, t.now), r.s.DigestDB(i, t.now); want != got {
			return fmt.Errorf("replay of the effects gives another database %d: %v", i, t.log)
		}
	}
	return nil
}

// host allows everything.
type host struct{}

func (host) Allows([]byte, commands.KeyFlags) bool { return true }
func (host) Guard(*commands.Row) error             { return nil }
func (host) Publish(_, _ []byte) int64             { return 0 }
