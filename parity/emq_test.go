package parity

import (
	"embed"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/echomq/emqd/commands"
	"github.com/echomq/emqd/parity/local"
	"github.com/echomq/emqd/parity/real"
	"github.com/echomq/emqd/parity/script"
	"github.com/echomq/emqd/parity/wire"
	"github.com/echomq/emqd/server/resp"
	"github.com/echomq/emqd/store"
	"github.com/echomq/emqd/store/num"
)

//go:embed lua
var references embed.FS

var emqCalls = flag.Int("emq-calls", 5_000, "random EMQ calls to compare with the reference scripts")

// emqEpisode is how many steps meet on one keyspace, emqLook after how many of them the whole keyspace is compared.
const (
	emqEpisode = 80
	emqLook    = 10
)

// Steps that are no command: they move the clock and the node epoch.
const (
	stepClock = "*clock"
	stepEpoch = "*epoch"
)

// TestEMQReferences runs the same random sequences of EchoMQ verbs in process and as Lua scripts on a real server.
// Every reply and, every few steps, the whole keyspace must be equal to the byte. The clock and the node epoch are the same
// on both sides, so scores and lease_epoch are compared too. Verbs that no reference stands for are not drawn.
func TestEMQReferences(t *testing.T) {
	seed := *randomSeed
	if seed == 0 {
		seed = uint64(time.Now().Unix() / 86400)
	}
	t.Logf("seed %d", seed)
	p := newEMQPair(t, seed)
	rng := rand.New(rand.NewPCG(seed, 0x656d71))
	done, tally := 0, newEMQTally()
	for done < *emqCalls {
		steps := drawEMQ(rng, p.table, seed)
		if err := p.run(steps, tally); err != nil {
			steps = shrink(steps, func(s [][]string) bool { return p.run(s, nil) != nil })
			t.Fatalf("%v\n%s\nreplay it with redis-cli < %s", p.run(steps, nil), text(steps), replayFile(t, steps))
		}
		done += len(steps)
	}
	t.Logf("%d steps%v", done, tally)
	tally.check(t, slices.Sorted(maps.Keys(p.shas)), done, done >= longRun)
}

// longRun is how many steps are enough, whatever the seed, for every verb to have done its work and every refusal to be given.
const longRun = 40_000

// replayFile writes steps as lines that redis-cli takes, steps of the clock as an ECHO, and returns the file's name.
func replayFile(t *testing.T, steps [][]string) string {
	f, err := os.CreateTemp("", "emq-*.txt")
	require.NoError(t, err)
	for _, s := range steps {
		line := ""
		if strings.HasPrefix(s[0], "*") {
			s = []string{"ECHO", strings.Join(s, " ")}
		}
		for _, word := range s {
			line += " " + resp.Quote([]byte(word))
		}
		_, err := fmt.Fprintln(f, strings.TrimSpace(line))
		require.NoError(t, err)
	}
	require.NoError(t, f.Close())
	return f.Name()
}

// emqPair is the two sides.
type emqPair struct {
	table    *commands.Table
	emqd     *local.Target
	real     *wire.Target
	shas     map[string]string // of the reference scripts, by verb
	snapshot string            // sha of the script that shows the keyspace
}

func newEMQPair(t *testing.T, seed uint64) *emqPair {
	table := commands.New(commands.All()...)
	p := &emqPair{table: table, emqd: local.New(table, seed), real: real.Start(t), shas: map[string]string{}}
	prelude, err := references.ReadFile("lua/prelude.lua")
	require.NoError(t, err)
	entries, err := references.ReadDir("lua")
	require.NoError(t, err)
	for _, entry := range entries {
		name := strings.TrimSuffix(entry.Name(), ".lua")
		body, err := references.ReadFile("lua/" + entry.Name())
		require.NoError(t, err)
		if strings.HasPrefix(name, "emq.") {
			require.NotNil(t, table.Lookup([]byte(name)), name)
			body = append(slices.Clone(prelude), body...)
		}
		reply, err := p.real.Control("SCRIPT", "LOAD", string(body))
		require.NoError(t, err)
		v, _, err := script.Decode(reply)
		require.NoError(t, err)
		require.Equal(t, byte('$'), v.Kind, "%s: %s", name, v)
		switch name {
		case "snapshot":
			p.snapshot = v.Text
		case "prelude":
		default:
			p.shas[strings.ToUpper(name)] = v.Text
		}
	}
	return p
}

// run runs the steps on both sides from an empty keyspace and returns the first difference.
func (p *emqPair) run(steps [][]string, tally *emqTally) error {
	if err := errors.Join(p.emqd.Reset(2), p.real.Reset(2)); err != nil {
		return err
	}
	var requests [][]string
	var ours []string
	var labels []string
	for i, s := range steps {
		switch s[0] {
		case stepClock:
			ms, err := strconv.ParseInt(s[1], 10, 64)
			if err != nil {
				return err
			}
			p.emqd.Advance(ms)
			continue
		case stepEpoch:
			p.emqd.Store().Epoch++
			continue
		}
		reply, err := p.emqd.Do(s)
		if err != nil {
			return err
		}
		if row := p.table.Lookup([]byte(s[0])); row != nil {
			tally.note(row, string(reply), len(p.emqd.Effects()))
		}
		ours, labels = append(ours, string(reply)), append(labels, script.Words(s))
		requests = append(requests, p.reference(s))
		if i%emqLook == 0 || i == len(steps)-1 {
			ours, labels = append(ours, snapshot(p.emqd.Store(), p.emqd.Now())), append(labels, "keyspace after "+script.Words(s))
			requests = append(requests, []string{"EVALSHA", p.snapshot, "0"})
		}
	}
	theirs, err := p.real.Pipeline(requests)
	if err != nil {
		return err
	}
	for i, got := range ours {
		if want := string(theirs[i]); got != want {
			return fmt.Errorf("%s\n  emqd      %q\n  reference %q", labels[i], got, want)
		}
	}
	var skip script.Skip
	if err := p.emqd.Replay(); err != nil && !errors.As(err, &skip) {
		return err
	}
	return nil
}

// reference is what stands for a call on the real server: the script of a verb, another command itself.
func (p *emqPair) reference(call []string) []string {
	sha, ok := p.shas[call[0]]
	if !ok {
		return call
	}
	out := []string{"EVALSHA", sha}
	if len(call) == 1 {
		out = append(out, "0")
	}
	out = append(out, call[1:]...)
	return append(out, strconv.FormatInt(p.emqd.Now(), 10), strconv.FormatInt(p.emqd.Store().Epoch, 10))
}

// snapshot is what snapshot.lua returns, as a reply.
func snapshot(s *store.Store, now int64) string {
	tx := s.Begin(0, now, true)
	defer tx.Commit()
	kinds := map[string]store.Kind{}
	tx.EachKey(func(key []byte, kind store.Kind) bool {
		kinds[string(key)] = kind
		return true
	})
	var lines []string
	for key, kind := range kinds {
		parts := append([]string{key, kind.String()}, content(tx, []byte(key), kind)...)
		lines = append(lines, strings.Join(parts, "\x01"))
	}
	slices.SortFunc(lines, func(a, b string) int {
		x, _, _ := strings.Cut(a, "\x01")
		y, _, _ := strings.Cut(b, "\x01")
		return strings.Compare(x, y)
	})
	text := strings.Join(lines, "\n")
	return fmt.Sprintf("$%d\r\n%s\r\n", len(text), text)
}

// content lists a value's parts. The kind is right, so opening cannot fail.
func content(tx *store.Tx, key []byte, kind store.Kind) (parts []string) {
	switch kind {
	case store.KindString:
		v, _, _ := tx.Value(key)
		parts = append(parts, string(v))
	case store.KindZSet:
		z, _ := tx.ZSet(key)
		z.Range(0, z.Len(), false, func(member []byte, score float64) bool {
			parts = append(parts, string(member), string(num.AppendFloat(nil, score)))
			return true
		})
	case store.KindList:
		l, _ := tx.List(key)
		l.Each(0, func(value []byte) bool {
			parts = append(parts, string(value))
			return true
		})
	case store.KindSet:
		m, _ := tx.Set([]byte(key))
		m.Each(func(member []byte) bool {
			parts = append(parts, string(member))
			return true
		})
		slices.Sort(parts)
	case store.KindHash:
		h, _ := tx.Hash(key)
		h.Each(func(field, value []byte) bool {
			parts = append(parts, string(field)+"="+string(value))
			return true
		})
		slices.Sort(parts)
	case store.KindStream:
		x, _ := tx.Stream(key)
		x.Each(store.StreamID{}, store.StreamID{Ms: math.MaxUint64, Seq: math.MaxUint64}, func(e store.StreamEntry) bool {
			parts = append(parts, string(e.ID.Append(nil)))
			e.Each(func(field, value []byte) { parts = append(parts, string(field), string(value)) })
			return true
		})
	}
	return parts
}
