package bench

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// runs reports whether a process of this machine has the name of an executable. Its path may be seen differently there.
func runs(pid int, executable string) bool {
	comm, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	if err != nil {
		return false
	}
	return strings.HasPrefix(filepath.Base(executable), strings.TrimSpace(string(comm)))
}

// processCPU is the user and system time that a process has used, in microseconds; its grain is a hundredth of a second.
func processCPU(pid int) float64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	fields := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
	ticks := 0.0
	for _, f := range fields[11:13] { // utime and stime
		t, err := strconv.ParseFloat(string(f), 64)
		if err != nil {
			return 0
		}
		ticks += t
	}
	return ticks * 1e4
}
