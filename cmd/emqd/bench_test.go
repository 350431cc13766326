package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/emqd/bench"
)

func TestBench(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "s")
	node(t, "--port", "0", "--unixsocket", socket, "--dir", t.TempDir(), "--install", "yes", "--appendonly", "no")
	file := filepath.Join(t.TempDir(), "result.json")
	var out, errs bytes.Buffer
	args := strings.Fields("bench jobs get -n 300 -c 5 -P 1,4 --rounds 2 --target " + socket + " --vs " + socket + " --keys 300 --json " + file + " --svg " + file + ".svg")
	require.Zero(t, run(args, nil, &out, &errs), errs.String())
	require.Contains(t, out.String(), "removed at the end")
	require.Contains(t, out.String(), "ratio")
	require.NotContains(t, out.String(), "wrong")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	picture, err := os.ReadFile(file + ".svg")
	require.NoError(t, err)
	require.Contains(t, string(picture), "throughput against depth")
	require.Contains(t, string(picture), "</svg>")
	var report bench.Report
	require.NoError(t, json.Unmarshal(text, &report))
	require.Len(t, report.Series, 4)
	for _, s := range report.Series {
		require.Len(t, s.Runs, 2)
		require.Len(t, s.Peer, 2)
		for _, r := range append(s.Runs, s.Peer...) {
			require.Equal(t, int64(300), r.Ops)
			h, err := r.Latency.Histogram()
			require.NoError(t, err)
			require.Equal(t, r.Ops, h.TotalCount())
		}
	}
}

func TestBenchRefuses(t *testing.T) {
	for args, want := range map[string]string{
		"bench nosuch":              `no work is called "nosuch"`,
		"bench --conns 0":           "connections: 0 is not between",
		"bench --rounds=-1":         "at least 1",
		"bench claim --rate 5":      "has no open loop",
		"bench --duration soon":     "duration",
		"bench --nosuch":            "unknown flag --nosuch",
		"bench jobs --duration 0s":  "the load has no end",
		"bench jobs flows --queues": "queues",
	} {
		var errs bytes.Buffer
		require.Equal(t, exitUsage, run(strings.Fields(args), nil, io.Discard, &errs), args)
		require.Contains(t, errs.String(), want)
	}
	var errs bytes.Buffer
	require.Equal(t, exitFailure, run([]string{"bench", "--target", "/nonexistent"}, nil, io.Discard, &errs))
	require.Contains(t, errs.String(), "no such file")
	var out bytes.Buffer
	require.Zero(t, run([]string{"bench", "--help"}, nil, &out, io.Discard))
	require.Contains(t, out.String(), "--target")
}

// TestBenchPage holds the command lines of the page to what is understood.
func TestBenchPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/bench.md")
	require.NoError(t, err)
	seen := 0
	for line := range strings.Lines(string(page)) {
		if text, ok := strings.CutPrefix(line, "    $ bin/emqd bench"); ok {
			var errs bytes.Buffer
			args := append([]string{"bench", "--target", "/nonexistent"}, strings.Fields(text)...)
			require.Equal(t, exitFailure, run(args, nil, io.Discard, &errs), errs.String())
			seen++
		}
	}
	require.Equal(t, 3, seen)
	for _, w := range bench.Works() {
		require.Contains(t, string(page), "`"+w[0]+"`")
	}
}
