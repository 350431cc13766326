package server

import "time"

// pace keeps a child process from slowing down the node where processors are few. A process with the idle policy gives way
// at once, but what others do between its turns still costs them more: it takes their place in the caches, and makes each
// of their wake-ups a switch. So while others want the processor the child works for a fraction of a millisecond at a
// time and then rests. Where a processor is free for it, it never waits for one and does not rest.
type pace struct {
	steps int
	began time.Time     // of this stretch of work
	used  time.Duration // processor time at its begin
	nap   func(time.Duration)
}

const (
	paceSteps = 32 // between two looks at the clocks
	paceWork  = 300 * time.Microsecond
	// After work for which others made it wait the child rests for this many times the time that it took.
	paceRest    = 9
	longestPace = 20 * time.Millisecond
)

// step is called after each small piece of work. It does nothing when p is nil.
func (p *pace) step() {
	if p == nil {
		return
	}
	if p.steps++; p.steps%paceSteps != 0 {
		return
	}
	took := time.Since(p.began)
	if took < paceWork && !p.began.IsZero() {
		return
	}
	if rest := restAfter(took, processTime()-p.used); rest > 0 && !p.began.IsZero() {
		p.nap(rest)
	}
	p.began, p.used = time.Now(), processTime()
}

// restAfter is how long a child rests after work that took so long, used of it on a processor: not at all when it had one
// nearly all of the time.
func restAfter(took, used time.Duration) time.Duration {
	if took-used < took/16 {
		return 0
	}
	return min(paceRest*used, longestPace)
}
