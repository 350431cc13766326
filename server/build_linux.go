package server

import (
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/echomq/emqd/store/aof"
)

// sendOut writes a part of a file to the disk, and gives up its place in the system's cache, which others need more. It
// is not durable yet: that takes a sync, which has little left to do.
func sendOut(f aof.File, from, n int64) error {
	file, ok := aof.Descriptor(f)
	if !ok {
		return nil
	}
	const all = unix.SYNC_FILE_RANGE_WAIT_BEFORE | unix.SYNC_FILE_RANGE_WRITE | unix.SYNC_FILE_RANGE_WAIT_AFTER
	err := unix.SyncFileRange(int(file.Fd()), from, n, all)
	if err == unix.EIO || err == unix.ENOSPC {
		return err
	}
	if err == nil {
		_ = unix.Fadvise(int(file.Fd()), from, n, unix.FADV_DONTNEED) // advice: the cache may keep it
	}
	return nil // a file system that cannot do it leaves more to the sync
}

// lowerPriority makes this process run only when nothing else wants the processor, with the idle policy: a thread that
// wakes takes the processor from it at once, where the lowest priority (nice 19) may keep it for some milliseconds. In a
// hurry it gets a tenth of a busy processor (nice 10). It is done by the child itself: until it is another program it
// holds the lock of the node's directory, and that must be short.
func lowerPriority(hurry bool) {
	a := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_IDLE}
	if hurry {
		a.Policy, a.Nice = unix.SCHED_NORMAL, 10
	}
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return // the child is only less polite
	}
	for _, t := range threads { // those that begin later are as those that begin them
		if id, err := strconv.Atoi(t.Name()); err == nil {
			_ = unix.SchedSetAttr(id, &a, 0)
		}
	}
}

// processTime is the processor time that this process has taken.
func processTime() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &ts); err != nil {
		return 0 // then it seems to wait all the time, and rests not at all
	}
	return time.Duration(ts.Nano())
}
