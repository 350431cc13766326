package aof

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// soleOwner reports whether f has one name and no holder; nobody can be one afterwards.
func soleOwner(f *os.File) bool {
	var st unix.Stat_t
	return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil && unix.Fstat(int(f.Fd()), &st) == nil && st.Nlink == 1
}

// holdShared makes the caller a holder of f. Where files have no locks nobody is a sole owner.
func holdShared(f *os.File) error {
	if err := unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB); errors.Is(err, unix.EWOULDBLOCK) {
		return err
	}
	return nil
}
