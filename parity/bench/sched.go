package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// sched returns for how long the node's threads have run, and have waited for a processor though they could run: what the
// kernel counts. It is 0 where there is no such count.
func (n *node) sched() (ran, waited time.Duration) {
	files, _ := filepath.Glob("/proc/" + strconv.Itoa(n.cmd.Process.Pid) + "/task/*/schedstat") // the pattern is right
	for _, file := range files {
		text, err := os.ReadFile(file)
		fields := strings.Fields(string(text))
		if err != nil || len(fields) < 2 {
			continue // the thread has ended
		}
		run, _ := strconv.ParseInt(fields[0], 10, 64)
		wait, _ := strconv.ParseInt(fields[1], 10, 64)
		ran, waited = ran+time.Duration(run), waited+time.Duration(wait)
	}
	return ran, waited
}

// slowest returns the longest time that the slow log has of a command, 0 when it has none.
func (n *node) slowest(command string) (time.Duration, error) {
	reply, err := n.Do("SLOWLOG", "GET", "-1")
	if err != nil {
		return 0, err
	}
	longest := int64(0)
	entries, _ := reply.([]any)
	for _, e := range entries {
		entry, _ := e.([]any)
		if len(entry) < 4 {
			continue
		}
		micros, _ := entry[2].(int64)
		if args, _ := entry[3].([]any); len(args) > 0 && args[0] == command {
			longest = max(longest, micros)
		}
	}
	return time.Duration(longest) * time.Microsecond, nil
}
