package server

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// dirLock keeps a second node off a directory. Its zero value holds nothing.
type dirLock struct{ dir *os.File }

// lockDir takes the lock of a directory; it ends with the process at the latest.
func lockDir(dir string) (dirLock, error) {
	f, err := os.Open(dir)
	if err != nil {
		return dirLock{}, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		_ = f.Close() // nothing was written
		return dirLock{}, fmt.Errorf("%s is used by another emqd: %w", dir, err)
	}
	return dirLock{f}, nil
}

func (l dirLock) release() {
	if l.dir != nil {
		_ = l.dir.Close() // gives the lock back
	}
}
