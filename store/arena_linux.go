package store

import "golang.org/x/sys/unix"

// fillPage has the system find the memory of a page at once, which is cheaper than a fault for each 4 KiB of it. A
// system that cannot do that finds it when it is used.
func fillPage(b []byte) { _ = unix.Madvise(b, unix.MADV_POPULATE_WRITE) }
