package server

import (
	"os/exec"
	"runtime"

	"golang.org/x/sys/unix"
)

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
