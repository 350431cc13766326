package crash

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/emqd/parity/script"
	"github.com/echomq/emqd/server/resp"
)

var (
	trees     = flag.Int("trees", 3, "how many trees TestFlowsEndAcrossKills grows")
	treesSeed = flag.Uint64("trees-seed", 1, "seed of TestFlowsEndAcrossKills, 0 for a new one")
)

// grove is a client of flows whose node is killed after every step, half of the time before the reply is read.
type grove struct {
	t      *testing.T
	k      *killed
	c      *client
	rng    *rand.Rand
	queues []string
	kills  int
	last   string
}

// TestFlowsEndAcrossKills grows trees of two levels over three queues, whose jobs complete, fail, stall, are removed, drained
// and obliterated in any order, with appendfsync always. The node is killed and started after each step: what was acknowledged
// is there to the byte, what was not is done or not done as a whole, and in the end nobody waits for children any more.
func TestFlowsEndAcrossKills(t *testing.T) {
	n := *trees
	if testing.Short() {
		n = min(n, 1)
	}
	dir, err := os.MkdirTemp("", "flows") // a Unix socket's path must be short
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	k := &killed{t: t, bin: filepath.Join(dir, "emqd"), dir: filepath.Join(dir, "data"), socket: filepath.Join(dir, "s"),
		args: []string{"--appendfsync", "always", "--enable-debug-command", "yes"}}
	k.cond = sync.NewCond(&k.mu)
	out, err := exec.Command("go", "build", "-o", k.bin, "../../cmd/emqd").CombinedOutput()
	require.NoError(t, err, "%s", out)
	k.log, err = os.Create(filepath.Join(dir, "log"))
	require.NoError(t, err)
	defer func() { require.NoError(t, k.log.Close()) }()
	k.begin()
	defer func() { // of the last life
		_ = k.cmd.Process.Kill()
		<-k.ended
	}()
	k.ready()
	g := &grove{t: t, k: k, rng: seeded(t, "trees-seed", *treesSeed)}
	g.connect()
	for i := range n {
		g.queues = []string{fmt.Sprintf("a%d", i), fmt.Sprintf("b%d", i), fmt.Sprintf("c%d", i)}
		g.grow()
		if i%10 == 9 {
			g.rewrite() // each start adds a file to the log, and a thousand of them take their time to be read
			t.Logf("tree %d, %d kills so far", i+1, g.kills)
		}
	}
	t.Logf("%d trees, %d kills", n, g.kills)
	g.c.leave()
}

func (g *grove) connect() {
	var err error
	g.c, err = connect(g.k.socket)
	require.NoError(g.t, err)
}

// rewrite has the node rewrite its log, to the end.
func (g *grove) rewrite() {
	g.t.Helper()
	g.ask("BGREWRITEAOF")
	for !strings.Contains(g.ask("INFO persistence").Text, "aof_rewrite_in_progress:0\r\n") {
	}
}

// words spells a call as script.QueueWords has it.
func (g *grove) words(format string, args ...any) []string {
	g.last = fmt.Sprintf(format, args...)
	return script.QueueWords(g.last)
}

// ask makes a call that is not followed by a kill.
func (g *grove) ask(format string, args ...any) script.Value {
	g.t.Helper()
	return g.exchange(g.words(format, args...))
}

// pass has so many microseconds go by on the node's clock.
func (g *grove) pass(micros int64) {
	g.t.Helper()
	for until := int64(0); ; {
		now := g.ask("TIME")
		sec, err := strconv.ParseInt(now.Elems[0].Text, 10, 64)
		require.NoError(g.t, err)
		part, err := strconv.ParseInt(now.Elems[1].Text, 10, 64)
		require.NoError(g.t, err)
		at := sec*1_000_000 + part
		if until == 0 {
			until = at + micros
		}
		if at >= until {
			return
		}
	}
}

func (g *grove) exchange(words []string) script.Value {
	g.t.Helper()
	reply, err := g.c.do(words...)
	require.NoError(g.t, err, g.last)
	v, err := script.ParseValue(reply)
	require.NoError(g.t, err)
	return v
}

// step makes a call and kills the node, after the reply or before it is read.
func (g *grove) step(words []string) {
	g.t.Helper()
	known := g.rng.IntN(2) == 0
	before := ""
	if known {
		g.exchange(words)
		before = g.digest()
	} else {
		_, err := g.c.Write(resp.AppendRequest(nil, words...))
		require.NoError(g.t, err)
	}
	g.k.kill()
	g.c.leave()
	g.kills++
	g.k.begin()
	g.k.ready()
	g.connect()
	if known {
		require.Equal(g.t, before, g.digest(), "what was acknowledged by %s", g.last)
	}
	g.check()
}

func (g *grove) digest() string {
	v := g.exchange([]string{"DEBUG", "DIGEST"})
	require.Len(g.t, v.Text, 40)
	return v.Text
}

// do is step for a call as ask takes it.
func (g *grove) do(format string, args ...any) {
	g.t.Helper()
	g.step(g.words(format, args...))
}

// texts returns the elements of an array of texts.
func texts(v script.Value) (out []string) {
	for _, e := range v.Elems {
		out = append(out, e.Text)
	}
	return out
}

func (g *grove) field(row, field string) string { return g.ask("HGET %s %s", row, field).Text }

// rows returns the ids of the jobs of a queue.
func (g *grove) rows(q string) (ids []string) {
	for _, key := range texts(g.ask("KEYS %s/job:*", q)) {
		if id := strings.TrimPrefix(key, "emq:{"+q+"}:job:"); !strings.Contains(id, ":") {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// check holds what must be true after every crash: each job is in the one set of its state, a held one in none, and no counter
// of children is negative.
func (g *grove) check() {
	g.t.Helper()
	sets := map[string]string{"pending": "pending", "active": "active", "schedule": "scheduled", "dead": "dead"}
	for _, q := range g.queues {
		found := map[string]string{}
		for set, state := range sets {
			for _, id := range texts(g.ask("ZRANGE %s/%s 0 -1", q, set)) {
				require.NotContains(g.t, found, id, "in two sets")
				found[id] = state
			}
		}
		for _, id := range g.rows(q) {
			state := g.field(q+"/job:"+id, "state")
			if state != "awaiting_children" {
				require.Equal(g.t, state, found[id], "%s of %s after %s", id, q, g.last)
			}
			delete(found, id)
			require.NotContains(g.t, g.ask("GET %s/job:%s:dependencies", q, id).Text, "-")
		}
		require.Empty(g.t, found, "members without a row, after %s", g.last)
	}
}

// grow adds a tree, ends its leaves and perhaps the parent in the middle, and requires that it ends.
func (g *grove) grow() {
	a, b, c := g.queues[0], g.queues[1], g.queues[2]
	policy := func() string { return []string{"fp", "id"}[g.rng.IntN(2)] }
	for g.ask("EXISTS %s/job:JOB1", a).Text != "1" {
		g.do(`EMQ.FLOW.ADD 5 %s/job:JOB1 %s/job:JOB2 %s/job:JOB3 %s/job:JOB4 %s/job:JOB5 `+
			`JOB1 p "" "" JOB2 p JOB1 %s JOB3 p JOB2 %s JOB4 p JOB2 %s JOB5 p JOB1 %s`, a, b, c, a, c, policy(), policy(), policy(), policy())
	}
	leaves := [][2]string{{c, "JOB3"}, {a, "JOB4"}, {c, "JOB5"}}
	ways := []string{"complete", "fail", "fail up", "stall", "remove", "drain", "obliterate"}
	what := ""
	for _, i := range g.rng.Perm(4) {
		if i == 3 {
			if way := []string{"stays", "remove", "obliterate"}[g.rng.IntN(3)]; way != "stays" {
				what += ", the middle one " + way
				g.end(way, b, "JOB2")
			}
		} else {
			way := ways[g.rng.IntN(len(ways))]
			what += ", " + leaves[i][1] + " " + way
			g.end(way, leaves[i][0], leaves[i][1])
		}
		if g.rng.IntN(2) == 0 {
			g.deliver()
		}
	}
	g.settle()
	for _, q := range g.queues {
		for _, id := range g.rows(q) {
			require.Equal(g.t, "dead", g.field(q+"/job:"+id, "state"), "%s of %s never ends%s", id, q, what)
		}
	}
}

// over reports whether a job has ended.
func (g *grove) over(q, id string) bool {
	state := g.field(q+"/job:"+id, "state")
	return state == "" || state == "dead"
}

// end has a worker claim the job and ends it this way. A step of unknown fate is taken again.
func (g *grove) end(way, q, id string) {
	for tries := 0; !g.over(q, id); tries++ {
		require.Less(g.t, tries, 200, "%s of %s cannot be ended by %s", id, q, way)
		state := g.field(q+"/job:"+id, "state")
		if state == "pending" && way != "drain" {
			claim := g.do
			if way == "stall" { // a restart would excuse it
				claim = func(format string, args ...any) { g.ask(format, args...) }
			}
			claim("EMQ.CLAIM 3 %s/pending %s/active %s/ 1000000", q, q, q)
			continue
		}
		switch way {
		case "complete":
			g.complete(q, id)
		case "fail":
			g.fail(q, id, 1)
		case "fail up":
			g.fail(q, id, 9)
		case "stall":
			token := g.field(q+"/job:"+id, "attempts")
			g.ask("EMQ.EXTEND 2 %s/active %s/job:%s %s %s 1", q, q, id, id, token)
			g.pass(2_000)
			g.do("EMQ.STALLED.CHECK 4 %s/active %s/pending %s/dead %s/ 1 10", q, q, q, q)
		case "remove":
			g.do(`EMQ.REMOVE 6 %s/job:%s %s/pending %s/active %s/schedule %s/dead %s/de: %s ""`, q, id, q, q, q, q, q, id)
		case "drain":
			if state == "active" {
				g.do("EMQ.REQUEUE 3 %s/active %s/pending %s/job:%s %s %s", q, q, q, id, id, g.field(q+"/job:"+id, "attempts"))
			}
			g.do("EMQ.DRAIN 2 %s/ %s/pending", q, q)
		case "obliterate":
			g.do("EMQ.PAUSE 1 %s/meta", q)
			// A look through all keys begins anew after a start, so a budget that is less than they are would never end here.
			for budget := 20; g.ask("HEXISTS %s/meta paused", q).Text == "1"; budget = min(2*budget, 2000) {
				g.do("EMQ.OBLITERATE 2 %s/meta %s/ force %d", q, q, budget)
			}
		}
	}
}

// parent returns the key of the row that a job names as its parent.
func (g *grove) parent(q, id string) string {
	name := g.field(q+"/job:"+id, "parent")
	if name == "" {
		return ""
	}
	if other := g.field(q+"/job:"+id, "parent_queue"); other != "" {
		q = other
	}
	return q + "/job:" + name
}

func (g *grove) complete(q, id string) {
	token := g.field(q+"/job:"+id, "attempts")
	if parent := g.parent(q, id); parent != "" {
		g.do("EMQ.FLOW.COMPLETE 4 %s/active %s/job:%s %s/ %s %s %s done", q, q, id, q, parent, id, token)
		return
	}
	g.do("EMQ.COMPLETE 3 %s/active %s/job:%s %s/ %s %s", q, q, id, q, id, token)
}

// fail fails a child for good; up is how many ancestors' keys are declared at most.
func (g *grove) fail(q, id string, up int) {
	keys, n, token := "", 5, g.field(q+"/job:"+id, "attempts")
	for parent := g.parent(q, id); parent != "" && n < 5+up; n++ {
		keys += " " + parent
		pq, row, _ := strings.Cut(parent, "/job:")
		parent = g.parent(pq, row)
	}
	verb := "EMQ.FLOW.FAIL"
	if n == 5 {
		verb = "EMQ.FAIL"
	}
	g.do("%s %d %s/active %s/schedule %s/dead %s/job:%s %s/%s %s %s 0 1 boom", verb, n, q, q, q, q, id, q, keys, id, token)
}

// deliver applies the signals of every outbox. Each is taken away after it was applied, so that no crash loses it.
func (g *grove) deliver() {
	for again := true; again; {
		again = false
		for _, q := range g.queues {
			box := "emq:{" + q + "}:flow:outbox"
			signal := g.exchange([]string{"LINDEX", box, "0"}).Text
			parts := strings.SplitN(signal, "\x00", 7)
			if len(parts) < 7 {
				continue
			}
			again = true
			base := "emq:{" + parts[2] + "}:"
			g.last = "a delivery"
			g.step([]string{"EMQ.FLOW.FAILDELIVER", "2", base + "job:" + parts[3], base, parts[4], parts[6], parts[5]})
			if g.exchange([]string{"LINDEX", box, "0"}).Text == signal && g.exchange([]string{"HEXISTS", base + "job:" + parts[3], "state"}).Text != "1" ||
				g.heard(base, parts) {
				g.step([]string{"LREM", box, "1", signal})
			}
		}
	}
}

// heard reports whether the parent of a signal has noted its child's end.
func (g *grove) heard(base string, parts []string) bool {
	for _, note := range []string{"processed", "unsuccessful", "failed"} {
		if g.exchange([]string{"HEXISTS", base + "job:" + parts[3] + ":" + note, parts[4]}).Text == "1" {
			return true
		}
	}
	return false
}

// settle completes whatever can be claimed until nothing can.
func (g *grove) settle() {
	for again := true; again; {
		again = false
		g.deliver()
		for _, q := range g.queues {
			g.ask("EMQ.RESUME 1 %s/meta", q)
			g.ask("EMQ.PROMOTE 3 %s/schedule %s/pending %s/ 100", q, q, q)
			g.ask("EMQ.CLAIM 3 %s/pending %s/active %s/ 1000000", q, q, q)
			for _, id := range texts(g.ask("ZRANGE %s/active 0 -1", q)) {
				again = true
				g.complete(q, id)
			}
		}
	}
}
