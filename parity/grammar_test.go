package parity

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
)

// A template is the shape of one command's calls:
//
//	SET <key> <value> [NX|XX] [EX <seconds>|KEEPTTL]
//
// Words stand for themselves, <name> for a word of an alphabet, [a|b] for one of the alternatives or none,
// (a|b) for one of them, {a} for one to three of a. A command with ! before it is never spoilt: its calls are as
// the template says. <300:1 m> is 1 m1 1 m2 ... 1 m300, which makes large values; only some episodes have them.
type template struct {
	text  string
	node  node
	exact bool
	large bool
}

type node interface {
	// add appends what it draws to args.
	add(rng *rand.Rand, args []string) []string
}

type (
	word     string
	alphabet []string
	sequence []node
	choice   struct {
		of       []node
		optional bool
	}
	repeat struct{ node }
	many   struct {
		n     int
		words []string
	}
)

func (w word) add(_ *rand.Rand, args []string) []string { return append(args, string(w)) }

func (a alphabet) add(rng *rand.Rand, args []string) []string {
	// The first words are likelier, so that commands meet on the same keys and fields.
	i := min(rng.IntN(len(a)), rng.IntN(len(a)))
	return append(args, a[i])
}

func (s sequence) add(rng *rand.Rand, args []string) []string {
	for _, n := range s {
		args = n.add(rng, args)
	}
	return args
}

func (c choice) add(rng *rand.Rand, args []string) []string {
	if c.optional && rng.IntN(10) < 6 {
		return args
	}
	return c.of[rng.IntN(len(c.of))].add(rng, args)
}

func (r repeat) add(rng *rand.Rand, args []string) []string {
	for range 1 + rng.IntN(3) {
		args = r.node.add(rng, args)
	}
	return args
}

func (m many) add(_ *rand.Rand, args []string) []string {
	for i := range m.n {
		args = append(args, m.words...)
		args[len(args)-1] += strconv.Itoa(i + 1)
	}
	return args
}

// parseTemplate panics on a mistake: templates are part of the test.
func parseTemplate(text string, words map[string]alphabet) template {
	rest, exact := strings.CutPrefix(text, "!")
	p := templateParser{rest: rest, words: words}
	n := p.alternatives()
	if p.rest != "" {
		panic(fmt.Sprintf("template %q: %q is left", text, p.rest))
	}
	return template{text, n, exact, p.large}
}

type templateParser struct {
	rest  string
	words map[string]alphabet
	large bool
}

func (p *templateParser) alternatives() node {
	c := choice{of: []node{p.sequence()}}
	for strings.HasPrefix(p.rest, "|") {
		p.rest = p.rest[1:]
		c.of = append(c.of, p.sequence())
	}
	if len(c.of) == 1 {
		return c.of[0]
	}
	return c
}

func (p *templateParser) sequence() node {
	var s sequence
	for {
		p.rest = strings.TrimLeft(p.rest, " ")
		if p.rest == "" || strings.IndexByte("|])}", p.rest[0]) >= 0 {
			return s
		}
		s = append(s, p.item())
	}
}

func (p *templateParser) item() node {
	switch p.rest[0] {
	case '[':
		n := p.inside("]")
		if c, ok := n.(choice); ok {
			c.optional = true
			return c
		}
		return choice{of: []node{n}, optional: true}
	case '(':
		return p.inside(")")
	case '{':
		return repeat{p.inside("}")}
	case '<':
		name, rest, _ := strings.Cut(p.rest[1:], ">")
		p.rest = rest
		if count, text, ok := strings.Cut(name, ":"); ok {
			n, err := strconv.Atoi(count)
			if err != nil {
				panic(err)
			}
			p.large = true
			return many{n, strings.Fields(text)}
		}
		a, ok := p.words[name]
		if !ok {
			panic("template: no alphabet " + name)
		}
		return a
	}
	end := strings.IndexAny(p.rest, " |])}[({")
	if end < 0 {
		end = len(p.rest)
	}
	w := p.rest[:end]
	p.rest = p.rest[end:]
	return word(w)
}

func (p *templateParser) inside(end string) node {
	p.rest = p.rest[1:]
	n := p.alternatives()
	if !strings.HasPrefix(p.rest, end) {
		panic(fmt.Sprintf("template: %q wants %s", p.rest, end))
	}
	p.rest = p.rest[1:]
	return n
}

// junk is what a call gets in the wrong place.
var junk = alphabet{"0", "1", "-1", "", "x", "9223372036854775808", "1.5", "nan", "k1", "f1", "LIMIT", "GET", "NX", "2"}

// draw makes one call, and now and then a wrong one.
func (t template) draw(rng *rand.Rand) []string {
	args := t.node.add(rng, nil)
	if rng.IntN(20) == 0 {
		args[0] = strings.ToLower(args[0])
	}
	if t.exact || rng.IntN(20) > 0 || len(args) < 2 {
		return args
	}
	i := 1 + rng.IntN(len(args)-1)
	switch rng.IntN(4) {
	case 0:
		return append(args[:i], args[i+1:]...)
	case 1:
		return append(args, junk.add(rng, nil)...)
	case 2:
		args[i] = junk.add(rng, nil)[0]
	case 3:
		args = append(args, args[i])
	}
	return args
}
