package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/emqd/bench"
	"github.com/echomq/emqd/bench/chart"
)

// TestPage keeps the results of two sections and writes the page from them and the texts written by hand.
func TestPage(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "performance")
	require.NoError(t, os.MkdirAll(dir, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "notes.md"), []byte("At the top.\n\n## Job cycle\n\nWhat stops it.\n\n## Targets\nAll of them.\n"), 0o600))
	for _, name := range []string{"jobs", "plain"} {
		o := &outcome{Name: name, Title: map[string]string{"jobs": "Job cycle", "plain": "Plain commands"}[name], Commit: "abc", Rounds: 3, dir: dir, out: io.Discard}
		tab := o.table("A table", "case", "ratio")
		tab.row(name, "2.00")
		o.table("Another", "x").row("y")
		o.atLeast(name+" rate", bench.Spread{Median: 2.5, Least: 2, Most: 3}, 3)
		o.atMost(name+" p99", one(0.5), 1, " ms")
		require.NoError(t, o.chart("depth", &chart.Chart{Title: name + " chart"}))
		o.print()
		require.NoError(t, o.save())
	}
	page := filepath.Join(filepath.Dir(dir), "performance.md")
	require.NoError(t, writePage(dir, page))
	b, err := os.ReadFile(page)
	require.NoError(t, err)
	text := string(b)
	at := -1
	for _, want := range []string{
		"At the top.\n", "| plain rate | >= 3.0 | 2.50 (2.00-3.00) | **not met** |\n", "| plain p99 | <= 1 ms | 0.5 ms | met |\n", "| jobs rate |", "All of them.\n",
		"## Plain commands\n\n### A table\n\n| case | ratio |\n|---|---|\n| plain | 2.00 |\n\n### Another\n", "![plain chart](performance/plain-depth.svg)\n",
		"## Job cycle\n", "What stops it.\n", "*Commit abc, ",
	} {
		next := bytes.Index(b[at+1:], []byte(want))
		require.GreaterOrEqual(t, next, 0, "%q does not follow in %s", want, text)
		at += 1 + next
	}
	picture, err := os.ReadFile(filepath.Join(dir, "jobs-depth.svg"))
	require.NoError(t, err)
	require.Contains(t, string(picture), "jobs chart")
}

func TestPageIsWritten(t *testing.T) {
	page := filepath.Join(t.TempDir(), "performance.md")
	require.NoError(t, writePage("../../docs/performance", page))
	want, err := os.ReadFile(page)
	require.NoError(t, err)
	got, err := os.ReadFile("../../docs/performance.md")
	require.NoError(t, err)
	require.Equal(t, string(want), string(got), "write it: go run ./parity/bench -write")
	notes, err := readNotes("../../docs/performance/notes.md")
	require.NoError(t, err)
	titles := map[string]bool{"": true, "Targets": true}
	for _, s := range sections {
		titles[s.title] = true
	}
	for heading := range notes {
		require.True(t, titles[heading], "no section is called %s", heading)
	}
}

func TestChoose(t *testing.T) {
	all, err := choose("")
	require.NoError(t, err)
	require.Len(t, all, len(sections))
	some, err := choose("tails,plain")
	require.NoError(t, err)
	require.Equal(t, "tails", some[0].name)
	_, err = choose("plain,nosuch")
	require.ErrorContains(t, err, `no section is called "nosuch"`)
}
