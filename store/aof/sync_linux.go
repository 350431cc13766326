package aof

import (
	"os"

	"golang.org/x/sys/unix"
)

// syncData makes the content of f and as much of its metadata durable as reading it back needs.
func syncData(f *os.File) error {
	for {
		err := unix.Fdatasync(int(f.Fd()))
		if err != unix.EINTR {
			return err
		}
	}
}
