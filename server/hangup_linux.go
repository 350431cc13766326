package server

import "golang.org/x/sys/unix"

// hungUp reports whether the peer of a connection has closed its end or is gone, as far as the kernel knows by now.
func hungUp(fd int) bool {
	poll := [1]unix.PollFd{{Fd: int32(fd), Events: unix.POLLRDHUP}}
	n, err := unix.Poll(poll[:], 0)
	return err == nil && n > 0
}
