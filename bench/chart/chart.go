// Package chart draws line charts as SVG that can be read on a light and on a dark background.
package chart

import (
	"bytes"
	"fmt"
	"html"
	"io"
	"math"
	"strconv"
	"strings"
)

// Chart is a line chart.
type Chart struct {
	Title string
	X, Y  Axis
	Lines []Line
}

// Axis is one of a chart's two directions.
type Axis struct {
	Label string // with the unit
	Log   bool   // only values above 0 are drawn then
	Ticks []Tick // nil to have them chosen
	Floor bool   // a linear axis begins at 0
}

// Tick is a mark on an axis.
type Tick struct {
	At   float64
	Text string
}

// Line is one series of points, joined in their order. Lines of the same Color belong together, and Dash tells them
// apart; both count from 0.
type Line struct {
	Name        string
	Color, Dash int
	Points      []Point
}

// Point is a value Y at X.
type Point struct{ X, Y float64 }

// The picture, in SVG units.
const (
	width, height = 760, 420
	left, right   = 74, 36
	top, bottom   = 78, 56
)

// colors are told apart by people who see colours differently too, and stand out from both backgrounds.
var colors = []string{"#2a78d6", "#d9622b", "#1a9e6e", "#a05fd0"}

var dashes = []string{"", "7 4", "2 4"}

const style = `<style>
text{font:13px system-ui,-apple-system,"Segoe UI",Helvetica,Arial,sans-serif;fill:#444}
.title{font-size:16px;font-weight:600;fill:#111}.bg{fill:#fff}.grid{stroke:#e3e3e3}.axis{stroke:#888}.dot{stroke:#fff}
@media(prefers-color-scheme:dark){text{fill:#bbb}.title{fill:#eee}.bg{fill:#14171c}.grid{stroke:#2d323a}.axis{stroke:#777}.dot{stroke:#14171c}}
</style>
`

// WriteSVG writes the chart.
func (c *Chart) WriteSVG(to io.Writer) error {
	var b bytes.Buffer
	x := c.X.scale(c.values(func(p Point) float64 { return p.X }), left, width-right)
	y := c.Y.scale(c.values(func(p Point) float64 { return p.Y }), height-bottom, top)
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-label="%s">`+"\n",
		width, height, width, height, html.EscapeString(c.Title))
	b.WriteString(style)
	fmt.Fprintf(&b, `<rect class="bg" width="%d" height="%d" rx="6"/>`+"\n", width, height)
	fmt.Fprintf(&b, `<text class="title" x="%d" y="28">%s</text>`+"\n", left, html.EscapeString(c.Title))
	for _, t := range y.ticks {
		at := y.at(t.At)
		fmt.Fprintf(&b, `<line class="grid" x1="%d" x2="%d" y1="%.1f" y2="%.1f"/>`, left, width-right, at, at)
		fmt.Fprintf(&b, `<text x="%d" y="%.1f" text-anchor="end">%s</text>`+"\n", left-8, at+4, html.EscapeString(t.Text))
	}
	for _, t := range x.ticks {
		at := x.at(t.At)
		fmt.Fprintf(&b, `<line class="axis" x1="%.1f" x2="%.1f" y1="%d" y2="%d"/>`, at, at, height-bottom, height-bottom+5)
		fmt.Fprintf(&b, `<text x="%.1f" y="%d" text-anchor="middle">%s</text>`+"\n", at, height-bottom+20, html.EscapeString(t.Text))
	}
	fmt.Fprintf(&b, `<line class="axis" x1="%d" x2="%d" y1="%d" y2="%d"/>`+"\n", left, width-right, height-bottom, height-bottom)
	fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="middle">%s</text>`+"\n", (left+width-right)/2, height-12, html.EscapeString(c.X.Label))
	fmt.Fprintf(&b, `<text transform="translate(18 %d) rotate(-90)" text-anchor="middle">%s</text>`+"\n", (top+height-bottom)/2, html.EscapeString(c.Y.Label))
	c.legend(&b)
	for _, l := range c.Lines {
		l.draw(&b, x, y)
	}
	b.WriteString("</svg>\n")
	_, err := to.Write(b.Bytes())
	return err
}

// legend names the lines in a row below the title.
func (c *Chart) legend(b *bytes.Buffer) {
	at := left
	for _, l := range c.Lines {
		fmt.Fprintf(b, `<line x1="%d" x2="%d" y1="50" y2="50" %s/>`, at, at+26, l.stroke())
		fmt.Fprintf(b, `<text x="%d" y="54">%s</text>`+"\n", at+32, html.EscapeString(l.Name))
		at += 32 + 7*len(l.Name) + 20
	}
}

func (l *Line) stroke() string {
	s := fmt.Sprintf(`fill="none" stroke="%s" stroke-width="2" stroke-linejoin="round"`, colors[l.Color%len(colors)])
	if d := dashes[l.Dash%len(dashes)]; d != "" {
		s += fmt.Sprintf(` stroke-dasharray="%s"`, d)
	}
	return s
}

// draw draws the line, and its points when they are few. Points that a logarithmic axis has no place for are left out.
func (l *Line) draw(b *bytes.Buffer, x, y *scale) {
	var path, dots strings.Builder
	for _, p := range l.Points {
		if x.log && p.X <= 0 || y.log && p.Y <= 0 {
			continue
		}
		fmt.Fprintf(&path, "%.1f,%.1f ", x.at(p.X), y.at(p.Y))
		if len(l.Points) <= 20 {
			fmt.Fprintf(&dots, `<circle class="dot" cx="%.1f" cy="%.1f" r="4" fill="%s"/>`, x.at(p.X), y.at(p.Y), colors[l.Color%len(colors)])
		}
	}
	fmt.Fprintf(b, `<polyline points="%s" %s/>%s`+"\n", strings.TrimSpace(path.String()), l.stroke(), dots.String())
}

func (c *Chart) values(of func(Point) float64) []float64 {
	var all []float64
	for _, l := range c.Lines {
		for _, p := range l.Points {
			all = append(all, of(p))
		}
	}
	return all
}

// scale places values of an axis in the picture.
type scale struct {
	log      bool
	lo, hi   float64 // of the axis, logarithms when log
	from, to float64
	ticks    []Tick
}

func (s *scale) at(v float64) float64 {
	if s.log {
		v = math.Log10(v)
	}
	return s.from + (v-s.lo)/(s.hi-s.lo)*(s.to-s.from)
}

// scale makes the scale of an axis for the values on it.
func (a *Axis) scale(values []float64, from, to float64) *scale {
	s := &scale{log: a.Log, from: from, to: to, lo: math.Inf(1), hi: math.Inf(-1)}
	for _, v := range values {
		if a.Log && v <= 0 {
			continue
		}
		if a.Log {
			v = math.Log10(v)
		}
		s.lo, s.hi = min(s.lo, v), max(s.hi, v)
	}
	if math.IsInf(s.lo, 0) {
		s.lo, s.hi = 0, 1
	}
	if a.Floor && !a.Log {
		s.lo = min(s.lo, 0)
	}
	if s.hi-s.lo < 1e-9 {
		s.hi = s.lo + 1
	}
	if a.Ticks != nil {
		for _, t := range a.Ticks {
			at := t.At
			if a.Log {
				at = math.Log10(at)
			}
			if at >= s.lo-1e-9 && at <= s.hi+1e-9 {
				s.ticks = append(s.ticks, t)
			}
		}
		return s
	}
	if a.Log {
		s.logTicks()
	} else {
		s.linearTicks()
	}
	return s
}

// logTicks puts marks at 1, 2 and 5 of each power of ten, or at the powers alone where there are many, and widens the
// axis to marks.
func (s *scale) logTicks() {
	steps := []float64{1, 2, 5}
	if s.hi-s.lo > 2.5 {
		steps = steps[:1]
	}
	var marks []float64
	for e := math.Floor(s.lo) - 1; e <= math.Ceil(s.hi)+1; e++ {
		for _, m := range steps {
			marks = append(marks, e+math.Log10(m))
		}
	}
	const slack = 1e-9
	first, last := 0, len(marks)-1
	for marks[first+1] <= s.lo+slack {
		first++
	}
	for marks[last-1] >= s.hi-slack {
		last--
	}
	s.lo, s.hi = marks[first], marks[last]
	for _, m := range marks[first : last+1] {
		s.ticks = append(s.ticks, Tick{math.Pow(10, m), short(math.Pow(10, m))})
	}
}

// linearTicks puts about six marks at round numbers, and widens the axis to marks.
func (s *scale) linearTicks() {
	raw := (s.hi - s.lo) / 6
	unit := math.Pow(10, math.Floor(math.Log10(raw)))
	step := 10 * unit
	for _, m := range []float64{1, 2, 5} {
		if m*unit >= raw {
			step = m * unit
			break
		}
	}
	s.lo, s.hi = math.Floor(s.lo/step+1e-9)*step, math.Ceil(s.hi/step-1e-9)*step
	for i := 0; s.lo+float64(i)*step <= s.hi+step/2; i++ {
		v := s.lo + float64(i)*step
		s.ticks = append(s.ticks, Tick{v, short(v)})
	}
}

// short writes a number with k, M or G for its thousands.
func short(v float64) string {
	for _, unit := range []struct {
		size float64
		name string
	}{{1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if math.Abs(v) >= unit.size {
			return strconv.FormatFloat(v/unit.size, 'g', 4, 64) + unit.name
		}
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}
