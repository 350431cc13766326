package commands

import "github.com/echomq/emqd/fence"

// Flags are the facts about a command that the gates and COMMAND act on. The names are Valkey's,
// apart from those at the end, which are this server's own and are not shown by COMMAND.
type Flags uint64

// The flags of a row.
const (
	Write           Flags = 1 << iota // may change the keyspace
	ReadOnly                          // reads keys only
	DenyOOM                           // refused above maxmemory
	Admin                             // administrative
	PubSub                            // about channels
	NoScript                          // no use from scripts
	Blocking                          // may park the client
	Loading                           // allowed while the data set is loading
	Stale                             // allowed on a stale replica
	Fast                              // O(1) or O(log n)
	NoAuth                            // allowed before authentication
	MayReplicate                      // may have effects though it is not a write
	NoMulti                           // refused between MULTI and EXEC
	MovableKeys                       // key positions depend on other arguments
	AllowBusy                         // allowed while the node is busy
	SkipMonitor                       // not shown to MONITOR
	SkipSlowlog                       // not recorded by SLOWLOG
	NoMandatoryKeys                   // may be called with no key at all, such as numkeys 0

	// RunsQueue rows run what was queued since MULTI: a refusal of such a row by a gate discards the queue.
	RunsQueue
	// TxControl rows run at once between MULTI and EXEC instead of being queued.
	TxControl
	// SubscriberMode rows are allowed to a RESP2 client that has subscriptions.
	SubscriberMode
	// OwnGuard rows check the write guard (memory, log health) themselves, after the checks of
	// their domain, through Call.Guard.
	OwnGuard
	// Admission rows bring new work in: they are refused from maxmemory less the reserve.
	Admission
	// KeyEvents rows announce keyspace events derived from their effects.
	KeyEvents
	// Exclusive rows that wait take what they wait for: when the oldest of them is not served, none is.
	Exclusive
	// Secret rows have no argument that MONITOR and SLOWLOG show.
	Secret
	// KeepsCaching rows leave what CLIENT CACHING said to the next command.
	KeepsCaching
	// PauseWrite rows count as writes for CLIENT PAUSE though they change no key.
	PauseWrite
	// PauseExempt rows run even while clients are paused.
	PauseExempt
)

// KeyFlags say what a command does with the keys of one key-spec, in Valkey's terms.
type KeyFlags uint16

// The flags of a key-spec.
const (
	KeyRO KeyFlags = 1 << iota
	KeyRW
	KeyOW
	KeyRM
	KeyAccess
	KeyUpdate
	KeyInsert
	KeyDelete
	KeyNotKey
	KeyIncomplete
	KeyVariable
	KeyChannel // our own: a channel that the ACL checks; COMMAND shows the spec only when KeyNotKey is set too
	KeyPattern // our own, with KeyChannel: the argument is a channel pattern and is compared as it stands
)

// KeySpec tells where in the arguments some keys stand. Exactly one of Index and Keyword begins the
// search; then either a range (Last, Step, Limit) or a key count (NumIndex >= 0 with Numbered) finds them.
// With Unknown none of this holds: the row's FindKeys has to tell.
type KeySpec struct {
	Unknown bool   // the keys stand at no fixed place
	Index   int    // argument position where the search begins, when Keyword is empty
	Keyword string // the search begins after this word, looked for from From (negative: from the end)
	From    int

	Last  int // last key relative to the first (0: just the first; negative: from the end of the arguments)
	Step  int // distance between keys; 0 counts as 1
	Limit int // with Last -1: 0 or 1 no limit, n means 1/n of the rest

	Numbered bool // the argument at begin+NumIndex counts the keys
	NumIndex int
	FirstKey int // first key relative to begin, when Numbered

	Flags KeyFlags
	Notes string
}

// Row is one command: everything that is known about it stands here once. Dispatch, the gates,
// COMMAND, the ACL categories, HELP and the command reference derive from it.
type Row struct {
	Name   string // lower case; a sub-command's own word inside its container
	Family string // the family that ACL categories and the reference group by, such as "hash"
	Arity  int    // exact count with the name, negative for a minimum
	Flags  Flags
	Keys   []KeySpec
	// Layout is what the declared keys of an EchoMQ verb spell, in order; as many keys it takes.
	Layout fence.Layout
	// Optional is how many keys at the end of the layout a call may leave out.
	Optional int
	// Rows is how many keys of job rows, of any queue, stand behind the layout; with OpenRows at least as many.
	Rows     int
	OpenRows bool
	// FindKeys appends the keys of a call to dst where the key-specs cannot tell them: it decides when one
	// of them is Unknown or flagged KeyIncomplete or KeyVariable, or does not fit the arguments.
	FindKeys func(args [][]byte, dst []KeyAt) []KeyAt
	// SecretAt reports whether MONITOR and SLOWLOG do not show argument i; nil for a row that hides none or, with the flag
	// Secret, all.
	SecretAt func(args [][]byte, i int) bool
	// Categories are ACL categories beyond those that family and flags imply.
	Categories []string
	Tokens     []string // capability tokens that EMQ.VERSION advertises
	Syntax     string   // the arguments after the name, as "key [NX | XX] value [value ...]"; a family may add types: count:integer
	Tips       []string // what COMMAND INFO tells proxies in front of several nodes
	Summary    string
	Complexity string
	Since      string // first version of the command in Valkey's numbering, or of emqd for its own

	Do   func(*Call) error
	Subs []Row // sub-commands of a container; then Do may be nil

	full  string // "container|sub" or Name
	upper string // Name in upper case, of a top-level row
	cats  []string
	args  []argument // that Syntax describes
	id    int
}

// The tips of commands whose replies to the same call differ, or are the same in another order.
const (
	TipVaries   = "nondeterministic_output"
	TipAnyOrder = "nondeterministic_output_order"
)

// WithTips returns the row with tips.
func (r Row) WithTips(tips ...string) Row {
	r.Tips = tips
	return r
}

// FullName returns the name as COMMAND and ACL spell it: "get", "client|list".
func (r *Row) FullName() string { return r.full }

// ID returns the row's dense index in its table, sub-commands included; per-command statistics and
// ACL bitmaps are indexed by it.
func (r *Row) ID() int { return r.id }

// ACLCategories returns the ACL categories of the row, without the @ sign, in the order of ACL CAT.
func (r *Row) ACLCategories() []string { return r.cats }

// Has reports whether all of f are set.
func (r *Row) Has(f Flags) bool { return r.Flags&f == f }

// Redacted is shown in place of an argument that a row hides.
const Redacted = "(redacted)"

// Shown returns argument i of a call, the name being 0, as others may see it. Names of commands and sub-commands are
// always shown.
func (r *Row) Shown(args [][]byte, i int) []byte {
	names := 1
	if r.full != r.Name {
		names = 2
	}
	if i >= names && (r.Has(Secret) || r.SecretAt != nil && r.SecretAt(args, i)) {
		return []byte(Redacted)
	}
	return args[i]
}

// ArityOK reports whether a call with n arguments, the name included, fits.
func (r *Row) ArityOK(n int) bool {
	if r.Arity >= 0 {
		return n == r.Arity
	}
	return n >= -r.Arity
}
