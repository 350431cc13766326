package parity

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/echomq/emqd/commands"
	"github.com/echomq/emqd/fence"
)

// How a call of a verb that was not refused ended: it did or told what it is for, or found nothing to do.
const (
	didWork = "done"
	didNone = "nothing"
)

// emqTally counts how the calls of each verb ended, refusals by their class, and every text of a refusal.
type emqTally struct {
	verbs map[string]map[string]int
	texts map[string]int
}

func newEMQTally() *emqTally {
	return &emqTally{verbs: map[string]map[string]int{}, texts: map[string]int{}}
}

// note counts a call that changed so many keys, on its way to this reply. A nil tally counts nothing.
func (t *emqTally) note(row *commands.Row, reply string, effects int) {
	if t == nil || !strings.HasPrefix(row.Name, "emq.") {
		return
	}
	end := didNone
	text, refused := strings.CutPrefix(strings.TrimSuffix(reply, "\r\n"), "-")
	switch {
	case refused:
		end, _, _ = strings.Cut(text, " ")
		t.texts[text]++
	case effects > 0, row.Has(commands.ReadOnly), !row.Has(commands.OwnGuard), row.Has(commands.PubSub):
		end = didWork // a verb that reads or publishes changes no key
	}
	verb := strings.ToUpper(row.Name)
	if t.verbs[verb] == nil {
		t.verbs[verb] = map[string]int{}
	}
	t.verbs[verb][end]++
}

// String is the table: a line for each verb.
func (t *emqTally) String() string {
	var b strings.Builder
	for _, verb := range slices.Sorted(maps.Keys(t.verbs)) {
		ends := maps.Clone(t.verbs[verb])
		fmt.Fprintf(&b, "\n%-24s %s %6d, %s %6d;", verb, didWork, ends[didWork], didNone, ends[didNone])
		delete(ends, didWork)
		delete(ends, didNone)
		for _, class := range slices.Sorted(maps.Keys(ends)) {
			fmt.Fprintf(&b, " %s %d", class, ends[class])
		}
	}
	return b.String()
}

// leastDone is how often, of every hundred thousand steps, each verb has to have done its work.
const leastDone = 60

// check requires that every verb of references has been reached, and in a run that is long enough that each has done its work
// often and that each refusal with a fixed text has been given, those of the layout apart: keys are drawn right.
func (t *emqTally) check(tb testing.TB, references []string, steps int, long bool) {
	for _, verb := range references {
		require.NotEmpty(tb, t.verbs[verb], "%s was never called", verb)
		if long {
			assert.GreaterOrEqual(tb, t.verbs[verb][didWork], max(1, leastDone*steps/100_000), "%s did its work too seldom", verb)
		}
	}
	for _, refusal := range fence.Refusals() {
		if long && refusal.Class() != "EMQLAYOUT" && !slices.Contains(unreached, refusal) {
			assert.Positive(tb, t.texts[refusal.Error()], "nothing was refused with %q", refusal)
		}
	}
}

// unreached are refusals of verbs that have no reference.
var unreached = []fence.Refusal{fence.StateNotPaused, fence.StateActive}

// withoutReference are the verbs that no script can stand for, as the protocol page says.
var withoutReference = []string{"EMQ.BCLAIM", "EMQ.EXPLAIN", "EMQ.GROUP.BCLAIM", "EMQ.OBLITERATE", "EMQ.VERSION"}

// TestEMQReferencesStandForEveryVerb holds the references, the table and what the page says of them against each other.
func TestEMQReferencesStandForEveryVerb(t *testing.T) {
	var without []string
	for _, row := range commands.New(commands.All()...).Rows() {
		if !strings.HasPrefix(row.Name, "emq.") {
			continue
		}
		if _, err := references.Open("lua/" + row.Name + ".lua"); err != nil {
			without = append(without, strings.ToUpper(row.Name))
		}
	}
	slices.Sort(without)
	require.Equal(t, withoutReference, without)
	page, err := os.ReadFile("../docs/protocol.md")
	require.NoError(t, err)
	_, said, ok := strings.Cut(string(page), "The references in `parity/lua`")
	require.True(t, ok)
	said, _, _ = strings.Cut(said, "\n\n")
	for _, verb := range without {
		require.Contains(t, said, verb)
	}
	require.Equal(t, len(without), strings.Count(said, "EMQ."))
}
