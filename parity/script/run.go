package script

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Target answers the requests of a case.
type Target interface {
	// Reset empties the keyspace, drops the connections and takes version proto for new ones.
	Reset(proto int) error
	// Do sends a request on the unnamed connection and returns the reply's bytes.
	Do(args []string) ([]byte, error)
	// Now returns the target's clock in Unix ms.
	Now() int64
}

// Inside is a Target that shows what stands behind the replies.
type Inside interface {
	Target
	// Advance moves the clock on.
	Advance(ms int64)
	// Select selects a database for the unnamed connection.
	Select(db int)
	// Cycle removes the keys and fields whose time has come.
	Cycle() error
	// Effects returns those of the last Do or Cycle as Words prints them, those of another database
	// than the selected one with @n before.
	Effects() []string
}

// Wire is a Target with connections.
type Wire interface {
	Target
	// Send sends a request on the named connection, which it opens when it is new.
	Send(conn string, args []string) error
	// Receive returns the next reply or push on the connection.
	Receive(conn string) ([]byte, error)
	// Park sends a request that must park the connection, and returns once it has.
	Park(conn string, args []string) error
}

// Options of a run.
type Options struct {
	Foreign bool // the target is another server than emqd
	// Knows reports whether the target has the command; nil means that it has all. A case with another
	// one is skipped.
	Knows func(args []string) bool
}

// Skip is the error of a case that a target cannot run; it says why.
type Skip string

// Error returns the reason.
func (s Skip) Error() string { return string(s) }

// Got is what a target answered to a step.
type Got struct {
	Step    *Step
	Want    string   // what was expected
	Value   *Value   // nil for a step without reply
	Effects []string // nil where the target does not show them
}

// Mismatch is the error of a case whose answers are not the expected ones.
type Mismatch struct {
	Path string
	Bad  []Got
}

// Error lists expectation and answer of each step, with its line.
func (m *Mismatch) Error() string {
	var b strings.Builder
	for _, g := range m.Bad {
		fmt.Fprintf(&b, "%s:%d: %s\n  want %s\n", m.Path, g.Step.Line, Words(g.Step.Args), g.Want)
		if g.Value != nil {
			fmt.Fprintf(&b, "  got  %s\n", g.Value)
		}
		if g.Effects != nil {
			fmt.Fprintf(&b, "  got  ! %s\n", strings.Join(g.Effects, "\n       ! "))
		}
	}
	return b.String()
}

// Run runs a case in protocol version proto. The error is a Skip, a *Mismatch, or what the target
// returned. all, when not nil, receives every answer.
func (f *File) Run(c *Case, t Target, proto int, o Options, all func(Got)) error {
	if c.Proto != 0 && c.Proto != proto {
		return Skip(fmt.Sprintf("is of version %d alone", c.Proto))
	}
	if err := c.fits(t, o); err != nil {
		return err
	}
	if err := t.Reset(proto); err != nil {
		return err
	}
	r := runner{t: t, proto: proto, o: o, all: all}
	for _, s := range c.Steps {
		if o.Foreign && s.OnlyEmqd != "" {
			continue
		}
		if err := r.step(s); err != nil {
			return fmt.Errorf("%s:%d: %w", f.Path, s.Line, err)
		}
	}
	if len(r.bad) > 0 {
		return &Mismatch{f.Path, r.bad}
	}
	return nil
}

// fits returns the Skip of a case that needs what the target has not.
func (c *Case) fits(t Target, o Options) error {
	if o.Foreign && c.OnlyEmqd != "" {
		return Skip("runs on emqd alone: " + c.OnlyEmqd)
	}
	_, inside := t.(Inside)
	_, wire := t.(Wire)
	for _, s := range c.Steps {
		switch {
		case (s.Op == Now || s.Op == Cycle) && !inside:
			return Skip("moves the clock, and this target's is real")
		case (s.Conn != "" || s.Op == Receive || s.Pending) && !wire:
			return Skip("needs connections")
		case s.Op == Request && o.Knows != nil && s.Args[0] != "NOSUCH" && !o.Knows(s.Args): // NOSUCH is nobody's
			return Skip("the target has no " + strings.ToUpper(s.Args[0]))
		}
	}
	return nil
}

type runner struct {
	t     Target
	proto int
	o     Options
	all   func(Got)
	bad   []Got
}

func (r *runner) step(s *Step) error {
	inside, _ := r.t.(Inside)
	switch s.Op {
	case Now:
		inside.Advance(s.N)
	case Cycle:
		if err := inside.Cycle(); err != nil {
			return err
		}
		r.compareEffects(s)
	case DB:
		if inside != nil {
			inside.Select(int(s.N))
			return nil
		}
		_, err := r.t.Do([]string{"SELECT", strconv.FormatInt(s.N, 10)})
		return err
	case Flush:
		_, err := r.t.Do([]string{"FLUSHALL"})
		return err
	case Receive:
		b, err := r.t.(Wire).Receive(s.Conn)
		if err != nil {
			return err
		}
		return r.compare(s, b)
	case Request:
		for i := range max(s.Times, 1) {
			if err := r.request(s, i+1); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *runner) request(s *Step, i int) error {
	args := make([]string, len(s.Args))
	for k, a := range s.Args {
		if s.Times > 0 {
			a = strings.ReplaceAll(a, "{i}", strconv.Itoa(i))
		}
		args[k] = instants(a, r.t.Now())
	}
	if s.Conn == "" && !s.Pending {
		b, err := r.t.Do(args)
		if err != nil {
			return err
		}
		return r.compare(s, b)
	}
	wire := r.t.(Wire)
	if s.Pending {
		return wire.Park(s.Conn, args)
	}
	if err := wire.Send(s.Conn, args); err != nil {
		return err
	}
	b, err := wire.Receive(s.Conn)
	if err != nil {
		return err
	}
	return r.compare(s, b)
}

var instant = regexp.MustCompile(`\{(now|sec)([+-]\d+)?\}`)

// instants replaces {now}, {now+500} (ms), {sec} and {sec-5} (seconds) by instants near now.
func instants(s string, now int64) string {
	if !strings.Contains(s, "{") {
		return s
	}
	return instant.ReplaceAllStringFunc(s, func(m string) string {
		part := instant.FindStringSubmatch(m)
		n, base := int64(0), now
		if part[2] != "" {
			n, _ = strconv.ParseInt(part[2], 10, 64) // the pattern has digits only
		}
		if part[1] == "sec" {
			base /= 1000
		}
		return strconv.FormatInt(base+n, 10)
	})
}

// compare holds the reply in b and the effects against what the step expects.
func (r *runner) compare(s *Step, b []byte) error {
	v, n, err := Decode(b)
	if err == nil && n != len(b) {
		err = fmt.Errorf("%q after the reply", b[n:])
	}
	if err != nil {
		return err
	}
	if r.all != nil {
		g := Got{Step: s, Value: &v}
		if inside, ok := r.t.(Inside); ok {
			g.Effects = append([]string{}, inside.Effects()...)
		}
		r.all(g)
	}
	if !(r.o.Foreign && s.Differs != "") {
		r.compareReply(s, v)
	}
	r.compareEffects(s)
	return nil
}

func (r *runner) compareReply(s *Step, v Value) {
	want := s.Reply
	if r.proto == 3 && s.Reply3 != nil {
		want = s.Reply3
	}
	if want == nil {
		r.bad = append(r.bad, Got{Step: s, Want: "no reply is written", Value: &v})
		return
	}
	w := *want
	if r.proto == 3 && s.Reply3 == nil {
		w = w.RESP3()
	}
	w = w.at(r.t.Now())
	_, inside := r.t.(Inside)
	if s.Near > 0 && !inside && w.Near(v, s.Near) {
		return
	}
	if s.Any && w.Kind == v.Kind && w.Null == v.Null {
		return
	}
	x, y := w, v
	if s.Unordered > 0 {
		x, y = w.Sorted(s.Unordered), v.Sorted(s.Unordered)
	}
	if x.String() != y.String() {
		r.bad = append(r.bad, Got{Step: s, Want: w.String(), Value: &v})
	}
}

// at replaces instants in the texts.
func (v Value) at(now int64) Value {
	v.Text = instants(v.Text, now)
	v.Elems = slices.Clone(v.Elems)
	for i := range v.Elems {
		v.Elems[i] = v.Elems[i].at(now)
	}
	return v
}

func (r *runner) compareEffects(s *Step) {
	inside, ok := r.t.(Inside)
	if !ok || !s.Told {
		return
	}
	want := make([]string, len(s.Effects))
	for i, words := range s.Effects {
		want[i] = instants(Words(words), r.t.Now())
	}
	if got := inside.Effects(); !slices.Equal(want, got) {
		if got == nil {
			got = []string{}
		}
		r.bad = append(r.bad, Got{Step: s, Want: "! " + strings.Join(want, "\n       ! "), Effects: got})
	}
}
