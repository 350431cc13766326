package main

import (
	"bufio"
	"fmt"
	"io"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// printGaps writes a line for each gap, "processor nanoseconds-of-Unix-time nanoseconds", until in ends. Where threads of real-time
// priority are not allowed it writes why instead.
func printGaps(in io.Reader, out io.Writer) error {
	buf := bufio.NewWriter(out)
	var mu sync.Mutex
	for cpu := range runtime.NumCPU() {
		go func() {
			runtime.LockOSThread()
			err := realTime(cpu)
			for err == nil {
				begin := time.Now()
				step := unix.NsecToTimespec(int64(gapStep))
				_ = unix.Nanosleep(&step, nil) // a shorter one is no gap
				if over := time.Since(begin) - gapStep; over > leastGap {
					mu.Lock()
					_, err = fmt.Fprintln(buf, cpu, begin.Add(gapStep).UnixNano(), int64(over))
					mu.Unlock()
				}
			}
			mu.Lock()
			defer mu.Unlock()
			_, _ = fmt.Fprintln(buf, "not measured:", err) // to a buffer
		}()
	}
	_, err := io.Copy(io.Discard, in)
	mu.Lock()
	defer mu.Unlock()
	if e := buf.Flush(); err == nil {
		err = e
	}
	return err
}

// realTime gives this thread a processor and a priority above all that is usual.
func realTime(cpu int) error {
	var set unix.CPUSet
	set.Set(cpu)
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return err
	}
	return unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_FIFO, Priority: 50}, 0)
}
