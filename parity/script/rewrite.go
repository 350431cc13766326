package script

import "strings"

// Answers collects what targets answered in both versions, for Rewrite.
type Answers map[*Step]*[2]Got

// Collect returns the function that Run gives the answers of version proto to.
func (a Answers) Collect(proto int) func(Got) {
	return func(g Got) {
		if a[g.Step] == nil {
			a[g.Step] = &[2]Got{}
		}
		a[g.Step][proto-2] = g
	}
}

// Rewrite returns the file's text with the answers as expectations, for the steps that fail says. A step
// whose effects are asserted gets the effects too.
func (f *File) Rewrite(answers Answers, fail func(*Step) bool) string {
	var out []string
	at := 0
	for _, c := range f.Cases {
		for _, s := range c.Steps {
			a := answers[s]
			if a == nil || !fail(s) {
				continue
			}
			out = append(out, f.lines[at:s.from]...)
			out = append(out, expectation(s, a)...)
			at = s.to
			if s.Told && (a[0].Effects != nil || a[1].Effects != nil) {
				for at < len(f.lines) && strings.HasPrefix(f.lines[at], "!") {
					at++
				}
				out = append(out, effectLines(a)...)
			}
		}
	}
	out = append(out, f.lines[at:]...)
	return strings.Join(out, "\n") + "\n"
}

// expectation returns the reply lines of a step.
func expectation(s *Step, a *[2]Got) []string {
	two, three := a[0].Value, a[1].Value
	if two == nil { // a case of version 3 alone
		two, three = three, nil
	}
	if s.Any && two.aggregate() { // its elements are not compared
		lines := []string{Value{Kind: two.Kind}.String()}
		if three != nil && three.Kind != two.Kind {
			lines = append(lines, "3 "+Value{Kind: three.Kind}.String())
		}
		return lines
	}
	lines := two.Lines()
	if s.Op == Receive {
		lines[0] = s.Conn + "< " + lines[0]
	}
	if three != nil && three.String() != two.RESP3().String() {
		more := three.Lines()
		more[0] = "3 " + more[0]
		lines = append(lines, more...)
	}
	return lines
}

func effectLines(a *[2]Got) []string {
	effects := a[0].Effects
	if a[0].Value == nil {
		effects = a[1].Effects
	}
	if len(effects) == 0 {
		return []string{"!"}
	}
	var lines []string
	for _, e := range effects {
		if db, rest, ok := strings.Cut(e, " "); ok && strings.HasPrefix(db, "@") {
			lines = append(lines, "!"+db[1:]+" "+rest)
			continue
		}
		lines = append(lines, "! "+e)
	}
	return lines
}
