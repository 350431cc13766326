package parity

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/echomq/emqd/commands"
	"github.com/echomq/emqd/parity/local"
	"github.com/echomq/emqd/parity/real"
	"github.com/echomq/emqd/parity/script"
	"github.com/echomq/emqd/parity/wire"
)

var (
	randomCalls = flag.Int("calls", 20_000, "random calls to compare, over all families")
	randomSeed  = flag.Uint64("seed", 1, "seed of the random calls; 0 takes the time")
)

// family is a set of templates whose calls are mixed, and the reads that show everything at the end.
type family struct {
	name      string
	templates []string
	final     []string // templates for every key
}

// families lists what is compared; each file of generators has one.
var families = []family{bitmapFamily, genericFamily, hashFamily, listFamily, setFamily, streamFamily, stringFamily, zsetFamily}

// episode is how many calls meet on one keyspace.
const episode = 150

// TestRandom sends the same random calls to emqd in process and to a real server, compares every reply, and
// prints the shortest sequence that still differs as a script. It replays the effects as well.
func TestRandom(t *testing.T) {
	seed := *randomSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d", seed)
	server := real.Start(t, "--enable-debug-command", "yes")
	table := commands.New(commands.All()...)
	allowed := loadDifferences(t, "call", 3)
	for i, f := range families {
		t.Run(f.name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, uint64(i)))
			g := newGenerator(f, table)
			t.Logf("without %v", g.missing)
			p := pair{emqd: local.New(table, seed), real: server, table: table, allowed: allowed}
			found := map[string]bool{} // commands of the last calls, each reported once
			for range max(1, *randomCalls/len(families)/episode) {
				calls := g.episode(rng)
				proto := 2 + rng.IntN(2)
				if p.differs(calls, proto) == nil {
					continue
				}
				calls = shrink(calls, func(c [][]string) bool { return p.differs(c, proto) != nil })
				last := strings.ToUpper(calls[len(calls)-1][0])
				if !found[last] {
					found[last] = true
					t.Errorf("RESP%d, %v\n%s", proto, p.differs(calls, proto), text(calls))
				}
				if len(found) == 10 {
					break
				}
			}
		})
	}
}

// generator draws calls of a family, as far as the table has the commands.
type generator struct {
	small, all []template // without and with those of large values
	final      []template
	missing    []string
}

func newGenerator(f family, table *commands.Table) *generator {
	g := &generator{}
	parse := func(texts []string) (out []template) {
		for _, text := range texts {
			name, _, _ := strings.Cut(text, " ")
			name, _, _ = strings.Cut(strings.TrimLeft(name, "!("), "|")
			if table.Lookup([]byte(name)) == nil {
				g.missing = append(g.missing, name)
				continue
			}
			out = append(out, parseTemplate(text, alphabets))
		}
		return out
	}
	g.all = parse(append(append([]string{}, sharedTemplates...), f.templates...))
	for _, t := range g.all {
		if !t.large {
			g.small = append(g.small, t)
		}
	}
	g.final = parse(append(append([]string{}, f.final...), sharedFinal...))
	return g
}

// episode draws calls, and at the end the reads that show every key.
func (g *generator) episode(rng *rand.Rand) [][]string {
	var calls [][]string
	templates := g.small
	if rng.IntN(8) == 0 {
		templates = g.all
	}
	for range episode {
		calls = append(calls, templates[rng.IntN(len(templates))].draw(rng))
	}
	for _, key := range alphabets["key"] {
		for _, f := range g.final {
			args := f.node.add(rng, nil)
			for i := range args {
				if args[i] == "KEY" {
					args[i] = key
				}
			}
			calls = append(calls, args)
		}
	}
	return calls
}

// pair is emqd and the server that it is compared with.
type pair struct {
	emqd *local.Target
	real *wire.Target

	table   *commands.Table
	allowed differences
}

// differs runs calls on empty keyspaces and returns what differs first.
func (p *pair) differs(calls [][]string, proto int) error {
	if err := p.real.Reset(proto); err != nil {
		return err
	}
	if err := p.emqd.Reset(proto); err != nil {
		return err
	}
	p.emqd.Advance(p.real.Now() - p.emqd.Now())
	want, err := p.ask(calls)
	if err != nil {
		return err
	}
	for i, args := range calls {
		got, err := p.emqd.Do(args)
		if err != nil {
			return err
		}
		if bytes.Equal(got, want[i]) {
			continue
		}
		if err := p.differ(args, want[i], got); err != nil {
			return fmt.Errorf("call %d: %s\n  real %w", i+1, script.Words(args), err)
		}
	}
	return p.emqd.Replay()
}

// ask pipelines the calls to the real server. One that may block runs in a transaction of its own, where it
// does not.
func (p *pair) ask(calls [][]string) ([][]byte, error) {
	var all [][]string
	for _, args := range calls {
		if p.blocks(args) {
			all = append(all, []string{"MULTI"}, args, []string{"EXEC"})
			continue
		}
		all = append(all, args)
	}
	replies, err := p.real.Pipeline(all)
	if err != nil {
		return nil, err
	}
	var want [][]byte
	for _, args := range calls {
		if !p.blocks(args) {
			want, replies = append(want, replies[0]), replies[1:]
			continue
		}
		queued, done := replies[1], replies[2]
		if one, ok := bytes.CutPrefix(done, []byte("*1\r\n")); ok {
			queued = one
		}
		want, replies = append(want, queued), replies[3:]
	}
	return want, nil
}

func (p *pair) blocks(args []string) bool {
	row := p.table.Lookup([]byte(args[0]))
	return row != nil && row.Has(commands.Blocking)
}

// differ compares two replies as the command's order demands.
func (p *pair) differ(args []string, want, got []byte) error {
	w, _, err := script.Decode(want)
	if err != nil {
		return err
	}
	g, _, err := script.Decode(got)
	if err != nil {
		return err
	}
	order := orders[strings.ToUpper(args[0])]
	if last := args[len(args)-1]; order.group > 0 && (strings.EqualFold(last, "WITHVALUES") || strings.EqualFold(last, "WITHSCORES")) {
		order.group = 2
	}
	if order.group > 0 {
		w, g = w.Sorted(order.group), g.Sorted(order.group)
	}
	if w.String() == g.String() || order.near > 0 && w.Near(g, order.near) {
		return nil
	}
	if p.allowed.allow(script.Words(args), w.String(), g.String()) {
		return nil
	}
	return fmt.Errorf("%s\n  emqd %s", w, g)
}

// order says how the replies of a command are compared.
type order struct {
	group int   // elements that belong together in a reply whose order is free; 0 when it is not
	near  int64 // difference of integers that the clocks explain
}

// shrink drops calls as long as what is left still fails.
func shrink(calls [][]string, fails func([][]string) bool) [][]string {
	for size := len(calls) / 2; size > 0; size /= 2 {
		for from := 0; from < len(calls); {
			less := append(append([][]string{}, calls[:from]...), calls[min(from+size, len(calls)):]...)
			if fails(less) {
				calls = less
				continue
			}
			from += size
		}
	}
	return calls
}

// text prints calls as a script.
func text(calls [][]string) string {
	var b strings.Builder
	for _, c := range calls {
		b.WriteString("> " + script.Words(c) + "\n")
	}
	return b.String()
}
