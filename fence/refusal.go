package fence

import (
	"slices"
	"strings"
)

// Refusal is the exact line of an error that the protocol defines: its class, a
// space, a text. A call that is refused has written nothing.
type Refusal string

// Error is the wire line, without the leading '-' and the line end.
func (r Refusal) Error() string { return string(r) }

// Class is the refusal's first word, by which clients match it.
func (r Refusal) Class() string {
	class, _, _ := strings.Cut(string(r), " ")
	return class
}

// The refusals with a fixed text. WireAbsent, WireFound and the Layout functions
// give the others. The word in a stale text is the script's: retry for EMQ.FAIL.
const (
	LayoutID    Refusal = "EMQLAYOUT the id must be 1 byte or more and must not end in the name of a row's sub-key, such as :logs"
	LayoutGroup Refusal = "EMQLAYOUT the group must be 1 byte or more, without NUL"

	LayoutFlowID     Refusal = "EMQLAYOUT an id in a flow must be without NUL"
	LayoutTreeRoot   Refusal = "EMQLAYOUT the first node is the root: it has neither parent nor policy"
	LayoutTreeParent Refusal = "EMQLAYOUT a node's parent must be given before it"
	LayoutTreeTwice  Refusal = "EMQLAYOUT an id is given twice in one tree"
	LayoutTreeDeep   Refusal = "EMQLAYOUT a tree has at most 64 levels"

	KindJob   Refusal = "EMQKIND job id must be JOB-namespaced"
	KindEvent Refusal = "EMQKIND record id must be EVT-namespaced"

	StaleGone Refusal = "EMQSTALE job gone"

	StaleCompleteToken Refusal = "EMQSTALE complete token mismatch"
	StaleRetryToken    Refusal = "EMQSTALE retry token mismatch"
	StaleExtendToken   Refusal = "EMQSTALE extend token mismatch"
	StaleDelayToken    Refusal = "EMQSTALE delay token mismatch"
	StaleRequeueToken  Refusal = "EMQSTALE requeue token mismatch"

	StaleCompleteLease Refusal = "EMQSTALE complete lease not held"
	StaleRetryLease    Refusal = "EMQSTALE retry lease not held"
	StaleExtendLease   Refusal = "EMQSTALE extend lease not held"
	StaleDelayLease    Refusal = "EMQSTALE delay lease not held"
	StaleRequeueLease  Refusal = "EMQSTALE requeue lease not held"

	StateNotDead      Refusal = "EMQSTATE not dead"
	StateNotScheduled Refusal = "EMQSTATE not scheduled"
	StateNotPaused    Refusal = "EMQSTATE not paused"
	StateActive       Refusal = "EMQSTATE active jobs present"
	StateNotAwaiting  Refusal = "EMQSTATE not awaiting children"

	LaneJob  Refusal = "EMQLANE job belongs to a lane"
	LaneNone Refusal = "EMQLANE job has no lane"

	FlowJob    Refusal = "EMQFLOW job belongs to a flow"
	FlowNone   Refusal = "EMQFLOW job has no parent"
	FlowParent Refusal = "EMQFLOW job has another parent"

	LockHeld Refusal = "EMQLOCK job is locked"

	RateMaxed Refusal = "EMQRATE at concurrency ceiling"
)

// refusals lists the constants above and WireAbsent, by class. Never changed.
var refusals = [...]Refusal{
	LayoutID, LayoutGroup,
	LayoutFlowID, LayoutTreeRoot, LayoutTreeParent, LayoutTreeTwice, LayoutTreeDeep,
	WireAbsent,
	KindJob, KindEvent,
	StaleGone,
	StaleCompleteToken, StaleRetryToken, StaleExtendToken, StaleDelayToken, StaleRequeueToken,
	StaleCompleteLease, StaleRetryLease, StaleExtendLease, StaleDelayLease, StaleRequeueLease,
	StateNotDead, StateNotScheduled, StateNotPaused, StateActive, StateNotAwaiting,
	LaneJob, LaneNone,
	FlowJob, FlowNone, FlowParent,
	LockHeld,
	RateMaxed,
}

// Refusals is every refusal with a fixed text, those of one class together.
func Refusals() []Refusal { return slices.Clone(refusals[:]) }

// Class is one word that a refusal can begin with, and what it asks of a client.
type Class struct {
	Name    string
	Meaning string // what was found, one sentence
	Advice  string // what the client should do, one sentence
}

// classes is the closed list, in the order of the checks. Never changed.
var classes = [...]Class{
	{"EMQLAYOUT",
		"The declared keys do not spell what the verb takes, or are of different queues.",
		"Correct the calling code: the same call will never succeed."},
	{"EMQWIRE",
		"The node's fence is absent or holds another wire identity.",
		"Stop using this node until an operator has installed this wire on it or the client speaks the wire it found; do not retry in a loop."},
	{"EMQKIND",
		"An id is not of the namespace that the verb takes.",
		"Correct the id: the same call will never succeed."},
	{"EMQSTALE",
		"The job is gone, or the caller no longer holds the lease that its token proves.",
		"Abandon this attempt and report nothing more for it: the job is done, or is another worker's or the queue's again."},
	{"EMQSTATE",
		"The job or the queue is not in the state that the verb starts from.",
		"Read the state again and decide anew; retry only once it has changed."},
	{"EMQLANE",
		"The job is in a lane and the verb is for flat jobs, or the other way round.",
		"Call the verb of the other family: EMQ.GROUP.* for a job with a group."},
	{"EMQFLOW",
		"The job is a part of a flow that the verb would leave inconsistent, or is not the child that an EMQ.FLOW verb takes it for.",
		"Call the EMQ.FLOW verb, declaring the key of the job's parent, for a child; the plain verb for any other job."},
	{"EMQLOCK",
		"The job is locked by a client that is working on it.",
		"Try again later, when the lock is released or has run out."},
	{"EMQRATE",
		"The queue has as many active jobs as its concurrency ceiling allows.",
		"Claim again after a job of the queue has settled."},
}

// Classes is the closed list of refusal classes, in the order of the checks.
func Classes() []Class { return slices.Clone(classes[:]) }
