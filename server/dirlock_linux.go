package server

import (
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// dirLock keeps a second node off a directory. Its zero value holds nothing.
type dirLock struct{ dir *os.File }

// lockPatience is how long a start waits for the lock: a node that was killed while it was starting a child process has left its lock
// to the child until that executes its program.
const lockPatience = 3 * time.Second

// lockDir takes the lock of a directory, for which it waits that long; it ends with the process at the latest.
func lockDir(dir string, patience time.Duration) (dirLock, error) {
	f, err := os.Open(dir)
	if err != nil {
		return dirLock{}, err
	}
	lock := func() error { return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) }
	err = lock()
	for began := time.Now(); errors.Is(err, unix.EWOULDBLOCK) && time.Since(began) < patience; err = lock() {
		time.Sleep(10 * time.Millisecond)
	}
	if err != nil {
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
