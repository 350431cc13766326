package bench

import (
	"fmt"
	"slices"
	"strings"
)

// workload is a kind of work that can be measured.
type workload struct {
	name  string
	about string
	op    string // what one operation is
	cycle *cycleWords
	steps []step
	mix   []share

	hidden  bool // not among those that users are offered
	foreign bool // it claims jobs that another load has put there
}

// share is a workload's part of a mixed load.
type share struct {
	work string
	part float64
}

// cycleWords are the requests of a cycle of jobs, the verb first.
type cycleWords struct {
	add, claim, settle, leaf []string
}

var (
	wordsEnqueue  = strings.Fields("EMQ.ENQUEUE 2 %bjob:%i %bpending %i %p")
	wordsClaim    = strings.Fields("EMQ.CLAIM 3 %bpending %bactive %b 600000")
	wordsComplete = strings.Fields("EMQ.COMPLETE 3 %bactive %bjob:%i %b %i %t")
)

// The steps that single verbs are made of.
var (
	stepEnqueue  = step{verb: "enqueue", words: wordsEnqueue, does: mints, reply: ":1\r\n"}
	stepClaim    = step{verb: "claim", words: wordsClaim, does: claims}
	stepComplete = step{verb: "complete", words: wordsComplete, does: ends, reply: ":1\r\n"}
	stepRequeue  = step{verb: "requeue", words: strings.Fields("EMQ.REQUEUE 3 %bactive %bpending %bjob:%i %i %t"), does: returns, reply: ":1\r\n"}
)

func counted(s step) step {
	s.counted = true
	return s
}

// command is the load of one plain command without end, after the steps that prepare it.
func command(text, reply string, before ...step) []step {
	s := step{verb: strings.ToLower(strings.Fields(text)[0]), words: strings.Fields(text), counted: true, endless: true, reply: reply}
	return append(before, s)
}

// pops is the load of a command that takes away what another one has put there.
func pops(put, take string) []step {
	return []step{
		{verb: "fill", words: strings.Fields(put)},
		{verb: strings.ToLower(strings.Fields(take)[0]), words: strings.Fields(take), counted: true},
	}
}

func fill(text string) step { return step{verb: "fill", words: strings.Fields(text), once: true} }

// workloads is everything that can be measured.
var workloads = []workload{
	{name: "jobs", about: "jobs that are enqueued, claimed and completed", op: "job",
		cycle: &cycleWords{add: wordsEnqueue, claim: wordsClaim, settle: wordsComplete}},
	{name: "lanes", about: "the same with the jobs of many groups in turn (EMQ.GROUP.*)", op: "job", cycle: &cycleWords{
		add:    strings.Fields("EMQ.GROUP.ENQUEUE 3 %bjob:%i %bg:g%l:pending %b %i %p g%l"),
		claim:  strings.Fields("EMQ.GROUP.CLAIM 3 %bring %bactive %b 600000"),
		settle: strings.Fields("EMQ.GROUP.COMPLETE 3 %bactive %bjob:%i %b %i %t"),
	}},
	{name: "flows", about: "flows of a parent and its children (EMQ.FLOW.*)", op: "flow", cycle: &cycleWords{
		claim: wordsClaim, settle: append([]string{settleFlowVerb}, wordsComplete[1:]...),
	}},
	{name: "mixed", about: "jobs, lanes, GET and SET at the same time", op: "operation", mix: []share{{"jobs", 0.5}, {"lanes", 0.2}, {"get", 0.15}, {"set", 0.15}}},

	{name: "enqueue", op: "request", steps: []step{counted(stepEnqueue), stepClaim, stepComplete}},
	{name: "claim", op: "request", steps: []step{stepEnqueue, counted(stepClaim), stepComplete}},
	{name: "complete", op: "request", steps: []step{stepEnqueue, stepClaim, counted(stepComplete)}},
	{name: "extend", op: "request", steps: []step{stepEnqueue, stepClaim,
		counted(step{verb: "extend", words: strings.Fields("EMQ.EXTEND 2 %bactive %bjob:%i %i %t 600000"), does: keeps, reply: ":1\r\n"}), stepComplete}},
	{name: "requeue", op: "request", steps: []step{stepEnqueue, stepClaim,
		counted(stepRequeue),
		stepClaim, stepComplete}},
	{name: "schedule", op: "request", steps: []step{
		counted(step{verb: "schedule", words: strings.Fields("EMQ.SCHEDULE 2 %bjob:%i %bschedule %i %p in 3600000"), does: leaves, reply: ":1\r\n"})}},
	{name: "fail", op: "request", steps: []step{stepEnqueue, stepClaim,
		counted(step{verb: "fail", words: strings.Fields("EMQ.FAIL 5 %bactive %bschedule %bdead %bjob:%i %b %i %t 3600000 3 oops"),
			does: ends, reply: "$9\r\nscheduled\r\n"})}},

	{name: "fill", op: "request", hidden: true, steps: []step{counted(leaving(stepEnqueue))}},
	{name: "lapse", op: "request", hidden: true, foreign: true, steps: []step{
		counted(step{verb: "claim", words: strings.Fields("EMQ.CLAIM 3 %bpending %bactive %b 1"), does: claims})}},
	{name: "reclaim", op: "request", hidden: true, foreign: true, steps: []step{counted(stepClaim), stepRequeue}},

	{name: "ping", op: "request", steps: command("PING", "+PONG\r\n")},
	{name: "get", op: "request", steps: command("GET %Pkey:%k", "", fill("SET %Pkey:%n %p"))},
	{name: "set", op: "request", steps: command("SET %Pkey:%k %p", "+OK\r\n")},
	{name: "incr", op: "request", steps: command("INCR %Pcounter:%k", "")},
	{name: "hset", op: "request", steps: command("HSET %Phash:%k field %p", "")},
	{name: "hget", op: "request", steps: command("HGET %Phash:%k field", "", fill("HSET %Phash:%n field %p"))},
	{name: "sadd", op: "request", steps: command("SADD %Pset %k", "")},
	{name: "spop", op: "request", steps: pops("SADD %Pset %n", "SPOP %Pset")},
	{name: "lpush", op: "request", steps: pushes("LPUSH")},
	{name: "lpop", op: "request", steps: pops("LPUSH %Plist %p", "LPOP %Plist")},
	{name: "zadd", op: "request", steps: command("ZADD %Pzset %r m:%k", "")},
	{name: "zpopmin", op: "request", steps: pops("ZADD %Pzset %r m:%n", "ZPOPMIN %Pzset")},
	{name: "zrange", op: "request", steps: command("ZRANGE %Pzset 0 9", "", fill("ZADD %Pzset %r m:%n"))},
}

// leaving has the jobs stay where they were put.
func leaving(s step) step {
	s.does = leaves
	return s
}

// pushes measures pushes to a list that is emptied between rounds.
func pushes(verb string) []step {
	steps := pops(verb+" %Plist %p", "LPOP %Plist")
	steps[0].verb, steps[0].counted, steps[1].verb, steps[1].counted = strings.ToLower(verb), true, "empty", false
	return steps
}

// Works returns the names of all kinds of work, each with what it does where the name does not tell.
func Works() [][2]string {
	var list [][2]string
	for _, w := range workloads {
		if w.hidden {
			continue
		}
		list = append(list, [2]string{w.name, w.about})
	}
	return list
}

func findWork(name string) (*workload, error) {
	i := slices.IndexFunc(workloads, func(w workload) bool { return strings.EqualFold(w.name, name) })
	if i < 0 {
		return nil, fmt.Errorf("no work is called %q", name)
	}
	return &workloads[i], nil
}

// verbsUsed reports whether the work needs the job verbs.
func (w *workload) verbsUsed() bool {
	if w.cycle != nil || w.mix != nil {
		return true
	}
	return strings.HasPrefix(w.steps[0].words[0], "EMQ.")
}

// open reports whether operations of the work can begin at any time, as an open loop needs.
func (w *workload) open() bool {
	return w.cycle != nil || w.mix != nil || w.steps[len(w.steps)-1].endless
}

// flowAdd is the request for a flow with a number of children.
func flowAdd(children int) []string {
	words := []string{"EMQ.FLOW.ADD", fmt.Sprint(children + 1), "%bjob:%0"}
	for i := range children {
		words = append(words, fmt.Sprintf("%%bjob:%%%d", i+1))
	}
	words = append(words, "%0", "%p", "", "")
	for i := range children {
		words = append(words, fmt.Sprintf("%%%d", i+1), "%p", "%0", "fp")
	}
	return words
}

var wordsLeaf = strings.Fields("EMQ.FLOW.COMPLETE 4 %bactive %bjob:%i %b %bjob:%a %i %t done")
