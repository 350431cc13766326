package clients

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"

	"github.com/echomq/emqd/parity/node"
)

var (
	histories     = flag.Int("histories", 40, "histories of TestClaimsAreLinearizable")
	historiesSeed = flag.Uint64("histories-seed", 1, "seed of TestClaimsAreLinearizable")
)

// call is one request about the jobs of a queue: enqueue, claim, complete, requeue or fail.
type call struct {
	verb  string
	id    int
	token int
}

// modelJob is what the model knows of a job that exists.
type modelJob struct {
	state  string // pending, active, scheduled
	tokens int    // claims so far
}

// queueModel is the sequential queue: of the jobs enqueued the lowest id is claimed first, each time with a token
// greater by one, and whoever has the newest token settles it once. Replies are in the notation of the scripts.
var queueModel = porcupine.Model{
	Init: func() any { return map[int]modelJob{} },
	Step: func(state, input, output any) (bool, any) {
		reply, next := apply(state.(map[int]modelJob), input.(call))
		return reply == output.(string), next
	},
	Equal:             func(x, y any) bool { return maps.Equal(x.(map[int]modelJob), y.(map[int]modelJob)) },
	DescribeOperation: func(input, output any) string { return fmt.Sprintf("%+v -> %s", input, output) },
}

// apply returns the reply of the sequential queue, and its state afterwards; the given one is left as it is.
func apply(jobs map[int]modelJob, c call) (string, map[int]modelJob) {
	next := maps.Clone(jobs)
	j, exists := jobs[c.id]
	switch c.verb {
	case "enqueue":
		if exists {
			return ":0", jobs
		}
		next[c.id] = modelJob{state: "pending"}
		return ":1", next
	case "claim":
		first := -1
		for id, j := range jobs {
			if j.state == "pending" && (first < 0 || id < first) {
				first = id
			}
		}
		if first < 0 {
			return "*[]", jobs
		}
		j = jobs[first]
		next[first] = modelJob{"active", j.tokens + 1}
		return fmt.Sprintf(`*[$"%s" $"p" :%d]`, jobID(first), j.tokens+1), next
	case "complete":
		switch {
		case !exists:
			return ":0", jobs
		case j.tokens != c.token:
			return "-EMQSTALE complete token mismatch", jobs
		case j.state == "scheduled":
			return "-EMQSTALE complete lease not held", jobs
		}
		delete(next, c.id)
		return ":1", next
	case "requeue":
		switch {
		case !exists:
			return "-EMQSTALE job gone", jobs
		case j.tokens != c.token:
			return "-EMQSTALE requeue token mismatch", jobs
		case j.state != "active":
			return "-EMQSTALE requeue lease not held", jobs
		}
		next[c.id] = modelJob{"pending", j.tokens}
		return ":1", next
	default: // fail
		switch {
		case !exists:
			return "-EMQSTALE job gone", jobs
		case j.tokens != c.token:
			return "-EMQSTALE retry token mismatch", jobs
		case j.state == "scheduled":
			return "-EMQSTALE retry lease not held", jobs
		}
		next[c.id] = modelJob{"scheduled", j.tokens}
		return `$"scheduled"`, next
	}
}

func jobID(id int) string { return fmt.Sprintf("JOB%011d", id) }

// line spells the request.
func (c call) line() string {
	id := jobID(c.id)
	row := "emq:{q}:job:" + id
	switch c.verb {
	case "enqueue":
		return "EMQ.ENQUEUE 2 " + row + " emq:{q}:pending " + id + " p"
	case "claim":
		return "EMQ.CLAIM 3 emq:{q}:pending emq:{q}:active emq:{q}: 600000"
	case "complete":
		return fmt.Sprintf("EMQ.COMPLETE 3 emq:{q}:active %s emq:{q}: %s %d", row, id, c.token)
	case "requeue":
		return fmt.Sprintf("EMQ.REQUEUE 3 emq:{q}:active emq:{q}:pending %s %s %d", row, id, c.token)
	default:
		return fmt.Sprintf("EMQ.FAIL 5 emq:{q}:active emq:{q}:schedule emq:{q}:dead %s emq:{q}: %s %d 600000 3 e", row, id, c.token)
	}
}

// TestClaimsAreLinearizable lets six clients work a few jobs at once and asks whether some order of what they did,
// one after the other, explains every reply.
func TestClaimsAreLinearizable(t *testing.T) {
	t.Logf("-histories-seed %d", *historiesSeed)
	for i := range *histories {
		seed := *historiesSeed + uint64(i)
		n := node.Start(t)
		control := n.Dial()
		control.Want("EMQ.INSTALL", "+OK")
		history := record(n, seed)
		result, info := porcupine.CheckOperationsVerbose(queueModel, history, 20*time.Second)
		if result != porcupine.Ok {
			path := t.ArtifactDir() + "/history.html"
			require.NoError(t, porcupine.VisualizePath(queueModel, info, path))
			require.Equal(t, porcupine.Ok, result, "-histories-seed %d, see %s", seed, path)
		}
		n.Stop()
	}
}

// TestModelOfClaimsRefuses gives the checker what must not happen.
func TestModelOfClaimsRefuses(t *testing.T) {
	one := call{verb: "enqueue", id: 1}
	claimed := `*[$"JOB00000000001" $"p" :1]`
	op := func(at int64, c call, reply string) porcupine.Operation {
		return porcupine.Operation{Input: c, Output: reply, Call: at, Return: at + 10}
	}
	require.True(t, porcupine.CheckOperations(queueModel, []porcupine.Operation{
		op(0, one, ":1"), op(5, call{verb: "claim"}, claimed), op(6, call{verb: "claim"}, "*[]"),
	}))
	require.False(t, porcupine.CheckOperations(queueModel, []porcupine.Operation{
		op(0, one, ":1"), op(5, call{verb: "claim"}, claimed), op(6, call{verb: "claim"}, claimed),
	}), "the same job twice")
	done := call{verb: "complete", id: 1, token: 1}
	require.False(t, porcupine.CheckOperations(queueModel, []porcupine.Operation{
		op(0, one, ":1"), op(20, call{verb: "claim"}, claimed), op(40, done, ":1"), op(45, done, ":1"),
	}), "settled twice")
	require.False(t, porcupine.CheckOperations(queueModel, []porcupine.Operation{
		op(0, one, ":1"), op(1, call{verb: "enqueue", id: 2}, ":1"), op(20, call{verb: "claim"}, `*[$"JOB00000000002" $"p" :1]`),
	}), "not in order")
}

// record runs six clients with 14 random requests each over four ids and returns what they saw.
func record(n *node.Node, seed uint64) []porcupine.Operation {
	start := time.Now()
	var mu sync.Mutex
	var history []porcupine.Operation
	var all sync.WaitGroup
	for client := range 6 {
		random := rand.New(rand.NewPCG(seed, uint64(client)))
		c := n.Dial()
		all.Go(func() {
			var held call // the newest claim of this client
			for range 14 {
				request := nextCall(random, held)
				op := porcupine.Operation{ClientId: client, Input: request, Call: time.Since(start).Nanoseconds()}
				reply := c.Do(request.line())
				op.Return, op.Output = time.Since(start).Nanoseconds(), reply
				if id, token, ok := claimOf(reply); request.verb == "claim" && ok {
					held = call{id: id, token: token}
				}
				mu.Lock()
				history = append(history, op)
				mu.Unlock()
			}
		})
	}
	all.Wait()
	return history
}

// nextCall draws a request, often about the held job.
func nextCall(random *rand.Rand, held call) call {
	c := call{id: random.IntN(4), token: 1 + random.IntN(2)}
	if held.token > 0 && random.IntN(4) > 0 {
		c = held
	}
	c.verb = []string{"enqueue", "enqueue", "claim", "claim", "claim", "complete", "complete", "requeue", "fail"}[random.IntN(9)]
	switch c.verb {
	case "claim":
		c = call{verb: "claim"}
	case "enqueue":
		c.token = 0
	}
	return c
}

// claimOf reads a claim's reply.
func claimOf(reply string) (id, token int, ok bool) {
	words := strings.Fields(strings.Trim(reply, "*[]"))
	if len(words) != 3 {
		return 0, 0, false
	}
	id, err1 := strconv.Atoi(strings.Trim(words[0], `$"JOB`))
	token, err2 := strconv.Atoi(strings.TrimPrefix(words[2], ":"))
	return id, token, err1 == nil && err2 == nil
}
