package parity

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	nodes "github.com/echomq/emqd/parity/node"
	"github.com/echomq/emqd/parity/real"
	"github.com/echomq/emqd/parity/script"
	"github.com/echomq/emqd/parity/wire"
	"github.com/echomq/emqd/server"
)

// TestInfoFields compares the fields of INFO, section by section, with a real server's and with those that Valkey 8 has
// beyond it. What is missing is in testdata/info.txt with its reason.
func TestInfoFields(t *testing.T) {
	theirs := infoFields(t, real.Start(t, "--appendonly", "yes"))
	ours := infoFields(t, infoNode(t))
	missing := missingInfo(t)
	for field := range theirs {
		_, allowed := missing[field]
		require.Equal(t, !allowed, ours[field], field)
	}
	for field, reason := range missing {
		require.NotEmpty(t, reason, field)
		require.False(t, ours[field], "%s is there", field)
	}
	redis7 := !theirs["server valkey_version"] // the list of newer fields is about what this one has not
	for _, line := range infoLines(t, "newer") {
		field := line[1] + " " + line[2]
		require.True(t, ours[field], field)
		require.False(t, theirs[field] && redis7, "%s is no newer one", field)
	}
}

// TestMemoryStatsFields likewise compares the names of MEMORY STATS.
func TestMemoryStatsFields(t *testing.T) {
	names := func(target *wire.Target) (all []string) {
		_, err := target.Do([]string{"SET", "k", "v"})
		require.NoError(t, err)
		reply, err := target.Do([]string{"MEMORY", "STATS"})
		require.NoError(t, err)
		v, _, err := script.Decode(reply)
		require.NoError(t, err)
		for i := 0; i < len(v.Elems); i += 2 {
			all = append(all, v.Elems[i].Text)
		}
		return all
	}
	require.Subset(t, names(infoNode(t)), names(real.Start(t)))
}

func infoNode(t *testing.T) *wire.Target {
	n := nodes.Start(t, func(c *server.Config) { c.AppendOnly = true })
	target, err := wire.Dial("tcp", n.Addr)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, target.Close()) })
	return target
}

// infoFields returns the fields of INFO as "section name", with an error counted, a command called and a key there.
func infoFields(t *testing.T, target *wire.Target) map[string]bool {
	for _, line := range []string{"NOSUCH", "SET k v"} {
		_, err := target.Do(strings.Fields(line))
		require.NoError(t, err)
	}
	reply, err := target.Do([]string{"INFO", "everything"})
	require.NoError(t, err)
	fields, section := map[string]bool{}, ""
	for _, line := range strings.Split(string(reply), "\r\n")[1:] {
		if name, ok := strings.CutPrefix(line, "# "); ok {
			section = strings.ToLower(name)
			fields[section+" "] = true
		} else if name, _, ok := strings.Cut(line, ":"); ok && section != "" {
			fields[section+" "+name] = true
		}
	}
	for field := range fields { // which commands were called is told apart from what is told of them
		if regexp.MustCompile(`^(commandstats|latencystats) .`).MatchString(field) {
			delete(fields, field)
		}
	}
	return fields
}

func infoLines(t *testing.T, kind string) (lines [][]string) {
	text, err := os.ReadFile("testdata/info.txt")
	require.NoError(t, err)
	for _, line := range strings.Split(string(text), "\n") {
		parts := strings.Split(line, " | ")
		if parts[0] == kind {
			lines = append(lines, parts)
		}
	}
	require.NotEmpty(t, lines)
	return lines
}

func missingInfo(t *testing.T) map[string]string {
	all := map[string]string{}
	for _, line := range infoLines(t, "missing") {
		require.Len(t, line, 4)
		all[line[1]+" "+line[2]] = line[3]
	}
	return all
}
