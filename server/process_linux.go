package server

import (
	"bytes"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// multiplexing is how INFO names the way in which connections are waited for.
const multiplexing = "epoll"

// residentMemory returns the process's resident bytes, 0 when the system does not tell.
func residentMemory() int64 {
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	fields := bytes.Fields(b)
	if len(fields) < 2 {
		return 0
	}
	pages, err := strconv.ParseInt(string(fields[1]), 10, 64)
	if err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}

// systemMemory returns the machine's memory in bytes, 0 when the system does not tell.
func systemMemory() int64 {
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		return 0
	}
	return int64(info.Totalram) * int64(info.Unit)
}

// cpuTimes returns the times that the process, the children that it has waited for and the calling thread took, which
// is the event loop's for a client that the loop serves.
func cpuTimes() (self, children, thread cpuTime) {
	times := func(who int) cpuTime {
		var u unix.Rusage
		if err := unix.Getrusage(who, &u); err != nil {
			return cpuTime{}
		}
		return cpuTime{sys: time.Duration(u.Stime.Nano()).Seconds(), user: time.Duration(u.Utime.Nano()).Seconds()}
	}
	return times(unix.RUSAGE_SELF), times(unix.RUSAGE_CHILDREN), times(unix.RUSAGE_THREAD)
}
