package script

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// File is one script file.
type File struct {
	Path  string
	Cases []*Case
	lines []string
}

// Case is a sequence of steps on an empty keyspace, with connections of its own.
type Case struct {
	Title    string
	Line     int
	OnlyEmqd string // why no other server runs it; empty when every server does
	Proto    int    // the one protocol version it runs in; 0 for both
	Steps    []*Step
}

// Op is what a step does.
type Op uint8

// The operations.
const (
	Request Op = iota // send a request and compare the reply
	Receive           // compare the next reply or push on a connection
	Now               // move the clock on
	DB                // select a database
	Flush             // empty the keyspace
	Cycle             // remove what has expired
)

// Step is one step of a case.
type Step struct {
	Op    Op
	Line  int    // of the request, counted from 1
	Conn  string // connection; "" is the unnamed one
	Args  []string
	Times int   // run the request for {i} = 1..Times, each with the same reply; 0 is once
	N     int64 // milliseconds of Now, number of DB

	Reply   *Value     // in version 2; nil when none is written
	Reply3  *Value     // in version 3, where more than nulls differs
	Pending bool       // there is no reply yet
	Effects [][]string // each with its name first, and before it @n when it is for another database
	Told    bool       // Effects is asserted, even when empty

	Unordered int // 0 in order; else how many elements of a collection belong together
	Any       bool
	Near      int64  // how much integers may differ where the clock is real
	OnlyEmqd  string // why no other server runs it
	Differs   string // why another server's reply is not compared

	from, to int // lines of the replies, for Rewrite
}

// Load reads the script files that match the pattern.
func Load(pattern string) ([]*File, error) {
	paths, err := filepath.Glob(pattern)
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("script: no file matches %s", pattern)
	}
	var files []*File
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		f, err := Parse(path, string(text))
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

// Name returns the name of a subtest that runs the case: file, title and version.
func (f *File) Name(c *Case, proto int) string {
	return fmt.Sprintf("%s/%s/%d", strings.TrimSuffix(filepath.Base(f.Path), ".txt"), c.Title, proto)
}

// Parse reads a script file's text. Errors name the line.
func Parse(path, text string) (*File, error) {
	p := parser{f: &File{Path: path, lines: strings.Split(strings.TrimSuffix(text, "\n"), "\n")}}
	for p.at < len(p.f.lines) {
		line := p.at + 1
		if err := p.line(p.f.lines[p.at]); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, line, err)
		}
	}
	if p.next != (Step{}).mark() {
		return nil, fmt.Errorf("%s: directives at the end belong to no request", path)
	}
	return p.f, nil
}

// mark is the comparable part of a step that directives fill.
func (s Step) mark() directives {
	return directives{s.Times, s.Unordered, s.Any, s.Near, s.OnlyEmqd, s.Differs}
}

// directives are what @ lines say about the next request.
type directives struct {
	times     int
	unordered int
	any       bool
	near      int64
	onlyEmqd  string
	differs   string
}

type parser struct {
	f    *File
	at   int // index of the next line
	next directives
	step *Step // the last request or receive
}

var requestLine = regexp.MustCompile(`^([a-z][a-z0-9]*)?([><]) `)

func (p *parser) line(s string) error {
	p.at++
	s = strings.TrimRight(s, " \t\r")
	switch {
	case s == "" || s == "#" || strings.HasPrefix(s, "# "):
		return nil
	case strings.HasPrefix(s, "== "):
		p.f.Cases = append(p.f.Cases, &Case{Title: strings.TrimSpace(s[3:]), Line: p.at})
		p.step = nil
		return nil
	}
	if len(p.f.Cases) == 0 {
		return errors.New("a file begins with a case: == title")
	}
	if m := requestLine.FindStringSubmatch(s); m != nil {
		return p.request(m[1], m[2], s[len(m[0]):])
	}
	switch s[0] {
	case '@':
		return p.directive(strings.TrimSpace(s[1:]))
	case '!':
		return p.effect(s[1:])
	}
	return p.reply(s)
}

func (p *parser) add(s *Step) {
	c := p.f.Cases[len(p.f.Cases)-1]
	s.Line, s.from, s.to = p.at, p.at, p.at
	c.Steps = append(c.Steps, s)
	p.step = s
}

func (p *parser) request(conn, arrow, rest string) error {
	d := p.next
	p.next = directives{}
	s := &Step{
		Conn: conn, Times: d.times, Unordered: d.unordered, Any: d.any, Near: d.near,
		OnlyEmqd: d.onlyEmqd, Differs: d.differs,
	}
	if arrow == "<" {
		s.Op = Receive
		p.add(s)
		s.from--
		return p.reply(rest)
	}
	var err error
	if s.Args, err = Split(rest); err == nil && len(s.Args) == 0 {
		err = errors.New("empty request")
	}
	p.add(s)
	return err
}

// reply reads a reply that begins with s, and the following lines as long as it is not closed.
func (p *parser) reply(s string) error {
	if p.step == nil || p.step.Told {
		return fmt.Errorf("no request before %q", s)
	}
	if s == "..." {
		p.step.Pending, p.step.to = true, p.at
		return nil
	}
	s, v3 := strings.CutPrefix(s, "3 ")
	v, err := ParseValue(s)
	for errors.Is(err, errMore) && p.at < len(p.f.lines) {
		s += "\n" + p.f.lines[p.at]
		p.at++
		v, err = ParseValue(s)
	}
	if err != nil {
		return err
	}
	switch {
	case v3 && p.step.Reply3 == nil:
		p.step.Reply3 = &v
	case !v3 && p.step.Reply == nil:
		p.step.Reply = &v
	default:
		return errors.New("a request has one reply")
	}
	p.step.to = p.at
	return nil
}

// effect reads "! SET k v", "!1 SET k v" for another database than the selected one, or "!" for none.
func (p *parser) effect(s string) error {
	if p.step == nil {
		return errors.New("no request before this effect")
	}
	p.step.Told = true
	if strings.TrimSpace(s) == "" {
		return nil
	}
	db, rest, _ := strings.Cut(s, " ")
	words, err := Split(rest)
	if err != nil {
		return err
	}
	if db != "" {
		words = append([]string{"@" + db}, words...)
	}
	p.step.Effects = append(p.step.Effects, words)
	return nil
}

func (p *parser) directive(s string) error {
	head, reason, _ := strings.Cut(s, ":")
	reason = strings.TrimSpace(reason)
	words := strings.Fields(head)
	key := strings.TrimRight(strings.Join(words, " "), "+-0123456789")
	n, err := int64(0), error(nil)
	if key != strings.Join(words, " ") {
		n, err = strconv.ParseInt(strings.TrimPrefix(words[len(words)-1], "+"), 10, 64)
	}
	if err != nil {
		return err
	}
	key = strings.TrimSpace(key)
	c := p.f.Cases[len(p.f.Cases)-1]
	if (key == "only emqd" || key == "differs" || key == "case only emqd") && reason == "" {
		return errors.New("a difference needs its reason")
	}
	switch key {
	case "case only emqd":
		c.OnlyEmqd = reason
	case "case proto":
		c.Proto = int(n)
	case "only emqd":
		p.next.onlyEmqd = reason
	case "differs":
		p.next.differs = reason
	case "unordered":
		p.next.unordered = 1
	case "unordered pairs":
		p.next.unordered = 2
	case "any":
		p.next.any = true
	case "near":
		p.next.near = n
	case "times":
		p.next.times = int(n)
	case "now":
		p.add(&Step{Op: Now, N: n})
	case "db":
		p.add(&Step{Op: DB, N: n})
	case "flush":
		p.add(&Step{Op: Flush})
	case "cycle":
		p.add(&Step{Op: Cycle})
	default:
		return fmt.Errorf("unknown directive %q", s)
	}
	return nil
}
