package main

import (
	"context"
	"os"
	"strconv"
	"strings"
	"time"
)

// steal is what the host of a virtual machine had taken of the time of its processors up to an instant.
type steal struct {
	at    time.Time
	total time.Duration
}

// stealEvery is how often it is looked at.
const stealEvery = 50 * time.Millisecond

// watchSteal looks at it until ctx is done, and gives what it has seen.
func watchSteal(ctx context.Context) <-chan []steal {
	seen := make(chan []steal, 1)
	go func() {
		var all []steal
		tick := time.NewTicker(stealEvery)
		defer tick.Stop()
		for {
			if stat, err := os.ReadFile("/proc/stat"); err == nil {
				all = append(all, steal{time.Now(), stealOf(string(stat))})
			}
			select {
			case <-ctx.Done():
				seen <- all
				return
			case <-tick.C:
			}
		}
	}()
	return seen
}

// stealOf reads it from the text of /proc/stat, which counts in hundredths of a second.
func stealOf(stat string) time.Duration {
	line, _, _ := strings.Cut(stat, "\n")
	fields := strings.Fields(line)
	if len(fields) < 9 {
		return 0
	}
	ticks, err := strconv.ParseInt(fields[8], 10, 64)
	if err != nil {
		return 0
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}

// stolenIn is how much was taken between two instants, as far as all tells.
func stolenIn(all []steal, from, to time.Time) time.Duration {
	var first, last time.Duration
	begun := false
	for _, s := range all {
		if !begun && s.at.After(from.Add(-2*stealEvery)) {
			first, begun = s.total, true
		}
		if s.at.Before(to.Add(2 * stealEvery)) {
			last = s.total
		}
	}
	if !begun {
		return 0
	}
	return max(last-first, 0)
}
