package commands_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/emqd/commands"
	"github.com/echomq/emqd/fence"
)

// sample is a call of a verb in which everything up to the fence is right.
type sample struct {
	args    []string
	keys    int
	numbers []int // places of the arguments that are numbers
}

// sampleCall makes the sample of a row out of its layout and its syntax. Patterns of keys are keys: <id> is an id.
func sampleCall(row *commands.Row) (s sample) {
	for _, kind := range row.Layout {
		s.args = append(s.args, kind.Pattern())
	}
	for range row.Rows {
		s.args = append(s.args, "emq:{p}:job:<id>")
	}
	s.keys = len(s.args)
	s.args = append([]string{row.Name, strconv.Itoa(s.keys)}, s.args...)
	syntax := row.Syntax
	for optional.MatchString(syntax) {
		syntax = optional.ReplaceAllString(syntax, "")
	}
	words := strings.Fields(strings.ReplaceAll(syntax, " | ", "|"))
	for _, word := range words[min(1+s.keys, len(words)):] { // of the keys some may be left out
		switch word {
		case "id", "group", "dedup_id":
			word = "<" + strings.TrimSuffix(word, "_id") + ">"
		case "name": // of a repeatable, or of what EMQ.COUNTS counts
			if word = "pending"; slices.Contains(row.Layout, fence.RepeatRecord) {
				word = "<name>"
			}
		case "lease_ms", "milliseconds", "delay_ms", "max_failures", "batch", "limit", "weight", "max_stalled", "size", "children",
			"budget", "keep", "max", "every_ms", "first_at", "next_at":
			s.numbers = append(s.numbers, len(s.args))
			word = "1"
		case "timeout":
			word = "0.5"
		case "parent_id", "policy", "FORCE|\"\"":
			word = ""
		default: // a word to choose, or any text
			word = strings.ToLower(strings.Trim(strings.Split(word, "|")[0], "<>"))
		}
		s.args = append(s.args, word)
	}
	return s
}

// with returns the call with another argument i.
func (s sample) with(i int, arg string) []string {
	args := slices.Clone(s.args)
	args[i] = arg
	return args
}

// TestEMQShapeLayoutFence holds every verb to the first three checks and their order: on a node without a fence
// the right call is refused by the fence, one with a wrong key by the layout, and a number that is none by the shape, whatever
// the keys are.
func TestEMQShapeLayoutFence(t *testing.T) {
	n := newNode(t)
	require.Equal(t, ":1", n.do("DEL", fence.VersionKey))
	seen := 0
	for _, row := range n.table.Rows() {
		if !strings.HasPrefix(row.Name, "emq.") || len(row.Layout)+row.Rows == 0 {
			continue
		}
		seen++
		s := sampleCall(row)
		require.Equal(t, string(fence.WireAbsent), n.do(s.args...), "%q", s.args)
		for i := 2; i < 2+s.keys; i++ {
			for _, wrong := range []string{"", "x", "emq:{}:" + s.args[i][len("emq:{q}:"):], "emq:{q}:unknown"} {
				require.Regexp(t, "^EMQLAYOUT ", n.do(s.with(i, wrong)...), "%s, key %d is %q", row.Name, i-1, wrong)
			}
			bad := sample{args: s.with(i, "x")}
			require.Equal(t, string(commands.ErrNotInteger), n.do(bad.with(1, "x")...), row.Name)
			require.Equal(t, "ERR Number of keys can't be negative", n.do(bad.with(1, "-1")...), row.Name)
			for _, number := range s.numbers {
				require.Equal(t, string(commands.ErrNotInteger), n.do(bad.with(number, "1.5")...), "%s, argument %d", row.Name, number)
			}
		}
	}
	require.Greater(t, seen, 50)
	for _, call := range [][]string{
		{"EMQ.FLOW.HOLD", "2", "~job:JOB0", "~", "JOB0", "p", "1", "JOB\x00", "fp"},
		{"EMQ.FLOW.HOLD", "2", "~job:JOB0", "~", "JOB0", "p", "1", "JOB1:logs", "fp"},
		{"EMQ.FLOW.CHILD", "3", "~job:JOB1", "~", "~job:JOB\x00", "JOB1", "p", "fp", "planned"},
		{"EMQ.FLOW.ADD", "1", "~job:JOB\x00", "JOB\x00", "p", "", ""},
	} {
		require.Regexp(t, "^EMQLAYOUT ", n.do(call...), "%q", call)
	}
}
