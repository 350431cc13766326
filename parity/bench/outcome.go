package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/echomq/emqd/bench"
	"github.com/echomq/emqd/bench/chart"
)

// outcome is what a section gave: the content of its JSON file.
type outcome struct {
	Name    string        `json:"name"`
	Title   string        `json:"title"`
	Time    time.Time     `json:"time"`
	Seconds float64       `json:"seconds"`
	Commit  string        `json:"commit"`
	Machine bench.Machine `json:"machine"`
	Peer    string        `json:"peer,omitempty"` // the server compared with
	Rounds  int           `json:"rounds"`
	Short   bool          `json:"short,omitempty"`
	Targets []target      `json:"targets"`
	Tables  []*table      `json:"tables"`
	Charts  []picture     `json:"charts,omitempty"`
	HDR     string        `json:"hdr,omitempty"` // of whole operations, as in the files of emqd bench

	dir string
	out io.Writer
}

// target is one line of the table of targets.
type target struct {
	What     string  `json:"what"`
	Wanted   string  `json:"wanted"`
	Measured string  `json:"measured"` // the ratio or figure, with its spread
	Value    float64 `json:"value"`
	Met      bool    `json:"met"`
}

// table is a table of the page.
type table struct {
	Title   string     `json:"title"`
	Columns []string   `json:"columns"`
	Rows    [][]string `json:"rows"`
}

// picture is a chart, a file beside the results.
type picture struct {
	File string `json:"file"`
	Alt  string `json:"alt"`
}

// atLeast adds a target that a ratio or figure is to reach.
func (o *outcome) atLeast(what string, s bench.Spread, want float64) {
	o.Targets = append(o.Targets, target{what, fmt.Sprintf(">= %.1f", want), spread(s), s.Median, s.Median >= want})
}

// atMost adds a target that a ratio or figure is not to exceed.
func (o *outcome) atMost(what string, s bench.Spread, want float64, unit string) {
	o.Targets = append(o.Targets, target{what, fmt.Sprintf("<= %.4g%s", want, unit), spread(s) + unit, s.Median, s.Median <= want})
}

// table adds an empty table.
func (o *outcome) table(title string, columns ...string) *table {
	o.Tables = append(o.Tables, &table{Title: title, Columns: columns})
	return o.Tables[len(o.Tables)-1]
}

func (t *table) row(cells ...string) { t.Rows = append(t.Rows, cells) }

// chart writes a chart beside the results.
func (o *outcome) chart(name string, c *chart.Chart) error {
	file := o.Name + "-" + name + ".svg"
	f, err := os.Create(filepath.Join(o.dir, file))
	if err != nil {
		return err
	}
	o.Charts = append(o.Charts, picture{file, c.Title})
	return errors.Join(c.WriteSVG(f), f.Close())
}

// save keeps the results.
func (o *outcome) save() error {
	b, err := json.MarshalIndent(o, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(o.dir, o.Name+".json"), append(b, '\n'), 0o644)
}

// print writes the section for whoever is waiting.
func (o *outcome) print() {
	for _, t := range o.Tables {
		_, _ = fmt.Fprint(o.out, "\n"+t.markdown())
	}
	for _, t := range o.Targets {
		_, _ = fmt.Fprintf(o.out, "%s: %s, target %s: %s\n", t.What, t.Measured, t.Wanted, t.met())
	}
	_, _ = fmt.Fprintf(o.out, "%s took %.0f s\n", o.Name, o.Seconds)
}

func (t *target) met() string {
	if t.Met {
		return "met"
	}
	return "**not met**"
}

// markdown is the table as the page has it.
func (t *table) markdown() string {
	var b strings.Builder
	if t.Title != "" {
		b.WriteString("### " + t.Title + "\n\n")
	}
	b.WriteString("| " + strings.Join(t.Columns, " | ") + " |\n|" + strings.Repeat("---|", len(t.Columns)) + "\n")
	for _, r := range t.Rows {
		b.WriteString("| " + strings.Join(r, " | ") + " |\n")
	}
	return b.String() + "\n"
}

// spread writes a median with the least and the most.
func spread(s bench.Spread) string {
	if s.Least == s.Most {
		return fmt.Sprintf("%.3g", s.Median)
	}
	return fmt.Sprintf("%.2f (%.2f-%.2f)", s.Median, s.Least, s.Most)
}

// one is a figure that was measured once.
func one(v float64) bench.Spread { return bench.Spread{Median: v, Least: v, Most: v} }
