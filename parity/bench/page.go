package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

const pageHead = `# Performance

This page is written by

    make bench                                  # everything, about an hour
    make bench SHORT=yes                        # fewer and shorter runs, about twenty minutes
    make bench SECTIONS=plain,jobs ROUNDS=3     # some of it; the other sections stay as they are

from the results in ` + "`docs/performance`" + `; the texts between the tables are in ` + "`docs/performance/notes.md`" + `. emqd and the peer run on the
same machine as the client, on fresh data, in turn (A B A B): figures are medians, in brackets the least and the most of the ratios of two runs
that followed each other. Absolute figures say little about other machines; ratios are what to look at. Where the peer has no job verbs it does the
same work by Lua scripts of our own through ` + "`EVALSHA`" + `, with the checks that keep a queue sound and no more (` + "`bench/scripts.go`" + `). Server CPU is
the process's own user and system time. [bench.md](bench.md) is about the client, which is ` + "`emqd bench`" + `.

`

// writePage writes the page from the newest results of all sections and the texts written by hand.
func writePage(dir, page string) error {
	notes, err := readNotes(filepath.Join(dir, "notes.md"))
	if err != nil {
		return err
	}
	var all []*outcome
	for _, s := range sections {
		b, err := os.ReadFile(filepath.Join(dir, s.name+".json"))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		o := &outcome{}
		if err := json.Unmarshal(b, o); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		all = append(all, o)
	}
	return os.WriteFile(page, []byte(pageText(all, notes, filepath.Base(dir))), 0o644)
}

// pageText is the whole page. The charts are in a directory below it.
func pageText(all []*outcome, notes map[string]string, dir string) string {
	var b strings.Builder
	b.WriteString(pageHead + notes[""] + "## Targets\n\n| what | target | measured | |\n|---|---|---|---|\n")
	for _, o := range all {
		for _, t := range o.Targets {
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", t.What, t.Wanted, t.Measured, t.met())
		}
	}
	b.WriteString("\n" + notes["Targets"])
	for _, o := range all {
		b.WriteString("## " + o.Title + "\n\n")
		for _, t := range o.Tables {
			b.WriteString(t.markdown())
		}
		for _, c := range o.Charts {
			fmt.Fprintf(&b, "![%s](%s/%s)\n\n", c.Alt, dir, c.File)
		}
		b.WriteString(notes[o.Title])
		b.WriteString(o.origin() + "\n\n")
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// origin says where the figures of a section come from.
func (o *outcome) origin() string {
	s := fmt.Sprintf("*Commit %s, %s, %d rounds", o.Commit, o.Time.Format("2006-01-02 15:04 MST"), o.Rounds)
	if o.Short {
		s += " (short)"
	}
	if o.Peer != "" {
		s += ", peer " + o.Peer
	}
	return s + fmt.Sprintf("; %d x %s, %d MB, Linux %s.*", o.Machine.Processors, o.Machine.Model, o.Machine.MemoryMB, o.Machine.Kernel)
}

// readNotes reads the texts written by hand, by the heading ("## ...") of the section that they belong to. What stands
// above the first heading goes to the head of the page.
func readNotes(file string) (map[string]string, error) {
	b, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	notes := map[string]string{}
	heading := ""
	for line := range strings.Lines(string(b)) {
		if name, ok := strings.CutPrefix(line, "## "); ok {
			heading = strings.TrimSpace(name)
			continue
		}
		notes[heading] += line
	}
	for name, text := range notes {
		if text = strings.TrimSpace(text); text != "" {
			text += "\n\n"
		}
		notes[name] = text
	}
	return notes, nil
}
