package server

import (
	"os"
	"strings"
)

// ticks reads the processor's time stamp counter.
func ticks() uint64

// haveTicks reports whether the counter runs at one rate on all processors, at all times: the system has tested that before it takes its
// own time from it.
func haveTicks() bool {
	source, err := os.ReadFile("/sys/devices/system/clocksource/clocksource0/current_clocksource")
	return err == nil && strings.TrimSpace(string(source)) == "tsc"
}
