package fence

import "slices"

// capabilities is the closed list of tokens that EMQ.VERSION can advertise, in byte
// order. A token says that the server does the whole of what it names; a row of the
// command table lists the tokens that it brings. Never changed.
var capabilities = [...]string{
	"bclaim",
	"bus.append",
	"bus.failures",
	"bus.publish",
	"claim",
	"claim.pause",
	"claims",
	"complete",
	"counts",
	"delay",
	"drain",
	"enqueue",
	"explain",
	"extend",
	"extends",
	"fail",
	"fail.budget",
	"flow.add",
	"flow.child",
	"flow.complete",
	"flow.deliver",
	"flow.fail",
	"flow.faildeliver",
	"flow.hold",
	"group.bclaim",
	"group.claim",
	"group.claims",
	"group.complete",
	"group.delay",
	"group.depths",
	"group.drain",
	"group.enqueue",
	"group.fail",
	"group.limit",
	"group.pause",
	"group.promote",
	"group.reap",
	"group.reassign",
	"group.reprocess",
	"group.requeue",
	"group.resume",
	"group.stalled",
	"group.wclaim",
	"group.weight",
	"install",
	"log",
	"maxed",
	"obliterate",
	"pause",
	"progress",
	"promote",
	"rate",
	"reap",
	"remove",
	"repeat.advance",
	"repeat.cancel",
	"repeat.register",
	"reprocess",
	"requeue",
	"reschedule",
	"resume",
	"schedule",
	"stalled",
	"stalled.restart",
	"state",
	"update",
}

// Known reports whether token is on the closed list of capability tokens.
func Known(token string) bool {
	_, ok := slices.BinarySearch(capabilities[:], token)
	return ok
}

// Capabilities is a copy of the closed list, in byte order.
func Capabilities() []string { return slices.Clone(capabilities[:]) }
