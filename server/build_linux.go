package server

import (
	"os/exec"
	"runtime"

	"golang.org/x/sys/unix"

	"github.com/echomq/emqd/store/aof"
)

// sendOut writes a part of a file to the disk. It is not durable yet: that takes a sync, which has little left to do.
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
	return nil // a file system that cannot do it leaves more to the sync
}

// startLow starts a process with the lowest priority.
func startLow(child *exec.Cmd) error {
	started := make(chan error, 1)
	go func() {
		// The child inherits the priority of the thread that starts it. The thread ends with the goroutine, which
		// stays locked to it: nothing may raise the priority again.
		runtime.LockOSThread()
		_ = unix.Setpriority(unix.PRIO_PROCESS, 0, 19) // without it the child is only less polite
		started <- child.Start()
	}()
	return <-started
}
