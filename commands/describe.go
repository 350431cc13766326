package commands

import (
	"slices"
	"strings"
)

// named is one flag and the word that COMMAND shows for it.
type named[F any] struct {
	flag F
	word string
}

// flagWords are the flags that COMMAND shows, in its order.
var flagWords = []named[Flags]{
	{Write, "write"}, {ReadOnly, "readonly"}, {DenyOOM, "denyoom"}, {Admin, "admin"}, {PubSub, "pubsub"}, {NoScript, "noscript"},
	{Blocking, "blocking"}, {Loading, "loading"}, {Stale, "stale"}, {SkipMonitor, "skip_monitor"}, {SkipSlowlog, "skip_slowlog"},
	{Fast, "fast"}, {NoAuth, "no_auth"}, {MayReplicate, "may_replicate"}, {NoMandatoryKeys, "no_mandatory_keys"},
	{NoMulti, "no_multi"}, {MovableKeys, "movablekeys"}, {AllowBusy, "allow_busy"},
}

// keyFlagWords are the flags of a key-spec that COMMAND shows, in its order.
var keyFlagWords = []named[KeyFlags]{
	{KeyRO, "RO"}, {KeyRW, "RW"}, {KeyOW, "OW"}, {KeyRM, "RM"}, {KeyAccess, "access"}, {KeyUpdate, "update"}, {KeyInsert, "insert"},
	{KeyDelete, "delete"}, {KeyNotKey, "not_key"}, {KeyIncomplete, "incomplete"}, {KeyVariable, "variable_flags"},
}

// Words returns the names of the flags that COMMAND shows, in its order.
func (f Flags) Words() (words []string) {
	for _, n := range flagWords {
		if f&n.flag != 0 {
			words = append(words, n.word)
		}
	}
	return words
}

// Words returns the names of the flags that COMMAND shows, in its order.
func (f KeyFlags) Words() (words []string) {
	for _, n := range keyFlagWords {
		if f&n.flag != 0 {
			words = append(words, n.word)
		}
	}
	return words
}

// Group returns the name of the row's family as COMMAND DOCS spells it.
func (r *Row) Group() string {
	if r.Family == "zset" {
		return "sorted-set"
	}
	return r.Family
}

// Range returns the first key, the last and the step as the older part of COMMAND INFO tells them: of the
// key-specs that are plain ranges from a position, 0 0 0 when there is none.
func (r *Row) Range() (first, last, step int) {
	for i := range r.Keys {
		k := &r.Keys[i]
		if k.hidden() || k.Keyword != "" || k.Unknown || k.Numbered {
			continue
		}
		end := k.Last
		if end >= 0 {
			end += k.Index
		}
		if first == 0 {
			first, last, step = k.Index, end, max(k.Step, 1)
			continue
		}
		if last >= 0 && (end < 0 || end > last) {
			last = end
		}
	}
	return first, last, step
}

// argument is one part of a command's syntax, as COMMAND DOCS describes it.
type argument struct {
	name     string
	kind     string // string, integer, double, key, pattern, unix-time, pure-token, oneof, block
	token    string
	optional bool
	multiple bool // may be given several times
	repeat   bool // with its token each time
	spec     int  // of a key: the number of its key-spec among those that COMMAND shows, -1 for none
	parts    []argument
}

// readSyntax returns a row's syntax without the types that it names, and its arguments.
func readSyntax(syntax string, specs int) (plain string, args []argument) {
	args = parseSyntax(syntax)
	next := 0
	numberKeys(args, specs, &next)
	return plainSyntax(syntax), args
}

// numberKeys gives the keys their key-specs, in the order in which both stand in a call; the last one has what is left.
func numberKeys(args []argument, specs int, next *int) {
	for i := range args {
		a := &args[i]
		numberKeys(a.parts, specs, next)
		if a.kind == "key" {
			a.spec = min(*next, specs-1)
			*next++
		}
	}
}

// plainSyntax returns a syntax without the types that it names.
func plainSyntax(syntax string) string {
	var b strings.Builder
	for word := range strings.SplitAfterSeq(syntax, " ") {
		name, rest, ok := strings.Cut(word, ":")
		kind := strings.TrimRight(rest, "]>. ")
		if ok && slices.Contains(kinds, kind) {
			word = name + rest[len(kind):]
		}
		b.WriteString(word)
	}
	return b.String()
}

// kinds are the types that a syntax may name, as in count:integer, where the argument's name does not tell.
var kinds = []string{"string", "integer", "double", "key", "pattern", "unix-time"}

// parseSyntax reads a row's syntax: lower-case words are arguments, with a type behind a colon where the name does not
// tell, upper-case ones tokens, [] encloses what is optional and <> what is one choice, | separates alternatives and ...
// says that what stands before it may come again.
func parseSyntax(syntax string) []argument {
	p := syntaxParser{words: splitSyntax(syntax)}
	return p.alternatives()
}

type syntaxParser struct {
	words []string
	at    int
}

// splitSyntax cuts a syntax into words and brackets.
func splitSyntax(s string) []string {
	s = strings.NewReplacer("[", " [ ", "]", " ] ", "|", " | ", "<", " < ", ">", " > ").Replace(s)
	return strings.Fields(s)
}

// alternatives reads up to the end or the closing bracket.
func (p *syntaxParser) alternatives() []argument {
	options := [][]argument{p.sequence()}
	for p.at < len(p.words) && p.words[p.at] == "|" {
		p.at++
		options = append(options, p.sequence())
	}
	if len(options) == 1 {
		return options[0]
	}
	one := argument{name: "option", kind: "oneof"}
	for _, o := range options {
		one.parts = append(one.parts, block(o))
	}
	return []argument{one}
}

// block makes one argument of a sequence. The token that begins it is the block's.
func block(seq []argument) argument {
	if len(seq) == 1 {
		return seq[0]
	}
	b := argument{name: "block", kind: "block", parts: seq}
	if len(seq) == 0 {
		return b
	}
	b.name = seq[0].name
	if first := &b.parts[0]; first.token != "" && !first.optional {
		b.token, first.token = first.token, ""
		b.name = strings.ToLower(b.token)
		if first.kind == "pure-token" {
			b.parts = b.parts[1:]
		}
	}
	return b
}

// sequence reads arguments up to the end, a closing bracket or an alternative.
func (p *syntaxParser) sequence() (seq []argument) {
	for p.at < len(p.words) {
		w := p.words[p.at]
		switch {
		case w == "]" || w == ">" || w == "|":
			return seq
		case w == "<":
			p.at++
			seq = append(seq, block(p.alternatives()))
			p.at++ // the closing bracket
		case w == "...":
			p.at++
			if n := len(seq); n > 0 {
				seq[n-1].multiple = true
			}
		case w == "[":
			p.at++
			inner := p.alternatives()
			p.at++ // the closing bracket
			seq = p.optional(seq, inner)
		default:
			p.at++
			seq = append(seq, p.word(w))
		}
	}
	return seq
}

// optional adds a bracketed part. One that repeats what stands before it says that that may come again.
func (p *syntaxParser) optional(seq, inner []argument) []argument {
	n := len(inner)
	if n == 1 && len(seq) > 0 && inner[0].multiple && seq[len(seq)-1].name == inner[0].name && inner[0].token == "" {
		seq[len(seq)-1].multiple = true // a token that stands before the first alone
		return seq
	}
	if n > 0 && n <= len(seq) && inner[n-1].multiple {
		last := inner[n-1]
		last.multiple = false
		again := append(slices.Clone(inner[:n-1]), last)
		if slices.EqualFunc(again, seq[len(seq)-n:], sameArgument) {
			b := block(slices.Clone(seq[len(seq)-n:]))
			b.multiple, b.repeat = true, b.token != ""
			return append(seq[:len(seq)-n], b)
		}
	}
	b := block(inner)
	b.optional = true
	return append(seq, b)
}

func sameArgument(a, b argument) bool {
	return a.name == b.name && a.kind == b.kind && a.token == b.token
}

// word reads one argument: a token with the value behind it, a token alone, or a value.
func (p *syntaxParser) word(w string) argument {
	if !isToken(w) {
		return valueArgument(w)
	}
	if p.at < len(p.words) {
		switch next := p.words[p.at]; {
		case next == "<":
			p.at++
			a := block(p.alternatives())
			p.at++ // the closing bracket
			a.token = w
			return a
		case !isToken(next) && !strings.ContainsAny(next, "[]<>|."):
			p.at++
			a := valueArgument(next)
			a.token = w
			return a
		}
	}
	return argument{name: strings.ToLower(w), kind: "pure-token", token: w}
}

// valueArgument is an argument that stands for a value.
func valueArgument(w string) argument {
	if name, kind, ok := strings.Cut(w, ":"); ok && slices.Contains(kinds, kind) {
		return argument{name: name, kind: kind}
	}
	return argument{name: w, kind: kindOf(w)}
}

// isToken reports whether a word of a syntax stands for itself.
func isToken(w string) bool {
	return strings.ToUpper(w) == w && strings.ToLower(w) != w || strings.Contains("*=~$", w)
}

// kindOf tells the type of an argument by its name.
func kindOf(name string) string {
	switch {
	case name == "key" || strings.HasSuffix(name, "key") || name == "destination" || name == "source":
		return "key"
	case name == "pattern":
		return "pattern"
	case strings.HasPrefix(name, "unix-time"):
		return "unix-time"
	case slices.Contains(integerNames, name):
		return "integer"
	case name == "score" || name == "weight" || name == "timeout":
		return "double"
	}
	return "string"
}

var integerNames = []string{
	"count", "numkeys", "seconds", "milliseconds", "index", "offset", "cursor", "start", "stop", "db", "destination-db", "len", "rank",
	"maxlen", "limit", "bit", "numfields", "lease_ms", "batch", "delay_ms", "max_failures", "max_stalled",
}
