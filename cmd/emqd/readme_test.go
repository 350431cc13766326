package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestReadmeSession types the session of the README into redis-cli and compares what it shows.
func TestReadmeSession(t *testing.T) {
	cli, err := exec.LookPath("redis-cli")
	if err != nil && os.Getenv("CI") != "true" {
		t.Skip("redis-cli is not installed")
	}
	require.NoError(t, err)
	page, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	const prompt = "    127.0.0.1:6390> "
	_, session, ok := strings.Cut(string(page), "    $ redis-cli -p 6390\n")
	require.True(t, ok)
	session, _, _ = strings.Cut(session, "\n\n")
	var typed, shown []string
	for _, text := range strings.Split(session, "\n") {
		if request, ok := strings.CutPrefix(text, prompt); ok {
			typed = append(typed, request)
			continue
		}
		shown = append(shown, strings.TrimPrefix(text, "    "))
	}
	require.NotEmpty(t, typed)

	socket := filepath.Join(t.TempDir(), "s")
	node(t, "--port", "0", "--unixsocket", socket, "--dir", t.TempDir())
	cmd := exec.Command(cli, "--no-raw", "-s", socket)
	cmd.Stdin = strings.NewReader(strings.Join(typed, "\n") + "\n")
	out, err := cmd.Output()
	require.NoError(t, err)
	require.Equal(t, strings.Join(shown, "\n"), strings.TrimRight(string(out), "\n"))
}
