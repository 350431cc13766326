package bench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"time"
)

// Load is what is driven against a server.
type Load struct {
	Work     string        `json:"work"`
	Conns    int           `json:"conns"`
	Depth    int           `json:"depth"`   // requests that a connection sends before it waits for replies
	Payload  int           `json:"payload"` // bytes
	Keys     int           `json:"keys"`    // how many different keys, fields or members plain commands use
	Queues   int           `json:"queues"`
	Lanes    int           `json:"lanes"`
	Children int           `json:"children"` // of a flow
	Duration time.Duration `json:"duration_ns"`
	Ops      int64         `json:"ops,omitempty"` // instead of a duration
	Warmup   time.Duration `json:"warmup_ns"`
	Rate     float64       `json:"rate,omitempty"` // operations a second of an open loop, 0 for a closed one
	Seed     uint64        `json:"seed"`
	Name     string        `json:"name"` // in the names of all keys

	PauseLimit time.Duration     `json:"-"` // requests that take longer are reported as pauses, 0 for none
	Progress   func(text string) `json:"-"`
	portable   bool              // without epoll
}

// NewLoad returns a load with the values that emqd bench has by default.
func NewLoad(work string) Load {
	return Load{
		Work: work, Conns: 50, Depth: 1, Payload: 100, Keys: 100_000, Queues: 1, Lanes: 100, Children: 3,
		Duration: 5 * time.Second, Warmup: time.Second, Seed: 1, Name: "bench",
	}
}

// Check reports what is wrong with a load.
func (l *Load) Check() error {
	w, err := findWork(l.Work)
	if err != nil {
		return err
	}
	for _, limit := range []struct {
		what      string
		n, lo, hi int
	}{
		{"connections", l.Conns, 1, 60_000}, {"depth", l.Depth, 1, 10_000}, {"payload", l.Payload, 1, 256 << 20},
		{"keys", l.Keys, 1, 1_000_000_000}, {"queues", l.Queues, 1, 1_000_000}, {"lanes", l.Lanes, 1, 10_000}, {"children", l.Children, 1, 9},
	} {
		if limit.n < limit.lo || limit.n > limit.hi {
			return fmt.Errorf("%s: %d is not between %d and %d", limit.what, limit.n, limit.lo, limit.hi)
		}
	}
	switch {
	case l.Ops < 0 || l.Duration < 0 || l.Warmup < 0 || l.Rate < 0:
		return errors.New("durations, numbers and rates cannot be negative")
	case l.Ops == 0 && l.Duration == 0:
		return errors.New("the load has no end: a duration or a number of operations is missing")
	case l.Rate > 0 && !w.open():
		return fmt.Errorf("%s takes turns with what it needs and has no open loop; jobs, lanes, flows, mixed and single commands have", w.name)
	case l.Queues > 1 && w.cycle == nil:
		return fmt.Errorf("%s works on one queue", w.name)
	case w.mix != nil && l.Conns < len(w.mix):
		return fmt.Errorf("%s needs at least %d connections", w.name, len(w.mix))
	case w.name == "flows" && l.Queues > 1:
		return errors.New("flows works on one queue")
	}
	return nil
}

// Prefixes are the beginnings of all keys that the load writes, but for {emq}:version on a server without the verbs.
func (l *Load) Prefixes() []string {
	w, err := findWork(l.Work)
	switch {
	case err != nil:
		return nil
	case w.mix != nil:
		return []string{l.queues(), l.plain()}
	case w.verbsUsed():
		return []string{l.queues()}
	case w.name == "ping":
		return nil
	}
	return []string{l.plain()}
}

func (l *Load) queues() string { return "emq:{" + l.Name }

func (l *Load) plain() string { return l.Name + ":" }

func (l *Load) names() names {
	n := names{base: l.queues() + "}:", plain: l.plain(), payload: strings.Repeat("x", l.Payload)}
	if l.Queues > 1 {
		n.base = l.queues() + "-%q}:"
	}
	return n
}

// Run drives the load and returns what was measured. The keys stay: see Clean.
func (s *Server) Run(ctx context.Context, l Load) (*Result, error) {
	if err := l.Check(); err != nil {
		return nil, err
	}
	w, err := findWork(l.Work)
	if err != nil {
		return nil, err
	}
	if w.verbsUsed() {
		if err := s.fence(); err != nil {
			return nil, err
		}
	}
	e := &engine{base: time.Now(), serverCPU: s.CPU, pauseLimit: int64(l.PauseLimit)}
	if l.Progress != nil {
		e.progress = func(done int64, part float64) { l.Progress(progressText(done, part, e.elapsed(e.now()))) }
	}
	if l.Ops > 0 {
		l.Duration, l.Warmup = 0, 0
	}
	parts := w.mix
	if parts == nil {
		parts = []share{{w.name, 1}}
	}
	if err := s.groups(e, &l, parts); err != nil {
		return nil, err
	}
	conns, err := s.connect(len(e.conns))
	if err != nil {
		return nil, err
	}
	run := e.run
	if l.portable {
		run = e.runPortable
	}
	if err := run(ctx, conns, l.Warmup, l.Duration); err != nil {
		return nil, fmt.Errorf("%s: %w", s.Addr, err)
	}
	return e.result(s, &l, w), nil
}

// CPU is the user and system time that the server's process has used, in microseconds; 0 when it is not known.
func (s *Server) CPU() float64 {
	if s.PID == 0 {
		return 0
	}
	return processCPU(s.PID)
}

// connect opens the connections of a load.
func (s *Server) connect(n int) (conns []net.Conn, err error) {
	for range n {
		c, err := s.dialControl()
		if err != nil {
			for _, c := range conns {
				_ = c.Close() // the load does not begin
			}
			return nil, fmt.Errorf("connection %d: %w", len(conns)+1, err)
		}
		conns = append(conns, c.Conn)
	}
	return conns, nil
}

// groups makes a group of connections for each part of the load.
func (s *Server) groups(e *engine, l *Load, parts []share) error {
	left := l.Conns
	for i, part := range parts {
		w, err := findWork(part.work)
		if err != nil {
			return err
		}
		n := max(1, int(float64(l.Conns)*part.part+0.5))
		if i == len(parts)-1 {
			n = left
		}
		left -= n
		g := newGroup(e, w.name, l.Depth, rand.New(rand.NewPCG(l.Seed, uint64(i))), l.Keys)
		g.limit, g.rate = int64(float64(l.Ops)*part.part+0.5), l.Rate*part.part
		name := *l
		if len(parts) > 1 && w.verbsUsed() { // each kind of job has its own queue, where no other kind is claimed
			name.Name += "-" + w.name
		}
		if err := s.drive(g, w, &name, n); err != nil {
			return err
		}
		for range n {
			g.conns = append(g.conns, &conn{g: g, in: make([]byte, 0, 16<<10), out: make([]byte, 0, 16<<10)})
		}
		e.groups = append(e.groups, g)
		e.conns = append(e.conns, g.conns...)
	}
	return nil
}

// drive gives a group its driver.
func (s *Server) drive(g *group, w *workload, l *Load, conns int) error {
	first := (time.Now().UnixMilli() - 1704067200000) << 22 // as new ids are minted
	n := l.names()
	request := func(words []string) (template, error) {
		if !strings.HasPrefix(words[0], "EMQ.") {
			return compile(words, n), nil
		}
		verb := words[0]
		if verb == settleFlowVerb && s.Native {
			verb = "EMQ.COMPLETE"
		}
		head, err := s.head(verb)
		return compile(append(head, words[1:]...), n), err
	}
	if w.cycle == nil {
		size := max(20*conns*l.Depth, 20_000)
		if l.Ops > 0 {
			size = int(min(int64(size), l.Ops))
		}
		d := &rounds{g: g, size: size}
		g.driver = d
		if !w.foreign {
			g.ledger = newLedger(2*size+conns*l.Depth, first)
		}
		for _, st := range w.steps {
			var err error
			if st.request, err = request(st.words); err != nil {
				return err
			}
			d.steps = append(d.steps, st)
			d.verbs = append(d.verbs, g.verb(st.verb))
		}
		return nil
	}
	d := &cycle{g: g, queues: l.Queues, lanes: l.Lanes}
	words := *w.cycle
	if words.add == nil {
		words.add, words.leaf, d.children = flowAdd(l.Children), wordsLeaf, l.Children
	}
	g.driver, g.ledger = d, newLedger(2*conns*l.Depth*(d.children+1), first)
	for _, r := range []struct {
		words []string
		to    *template
		verb  *int
	}{{words.add, &d.add, &d.addVerb}, {words.claim, &d.fetch, &d.takeVerb}, {words.leaf, &d.leaf, &d.leafVerb}, {words.settle, &d.settle, &d.settleVerb}} {
		if r.words == nil {
			continue
		}
		var err error
		if *r.to, err = request(r.words); err != nil {
			return err
		}
		*r.verb = g.verb(verbName(r.words[0]))
	}
	if words.leaf == nil {
		d.leafVerb = d.settleVerb
	}
	return nil
}

// verbName is the name of a verb in results.
func verbName(word string) string {
	name := strings.ToLower(strings.TrimPrefix(word, "EMQ."))
	name, _, _ = strings.Cut(name, " ")
	return name
}

// progressText says how far a load is.
func progressText(done int64, part float64, elapsed int64) string {
	rate := 0.0
	if elapsed > 0 {
		rate = float64(done) / (float64(elapsed) / 1e9)
	}
	bar := int(part * 20)
	return fmt.Sprintf("[%s%s] %3.0f%%  %.0f/s", strings.Repeat("#", bar), strings.Repeat(".", 20-bar), part*100, rate)
}
