//go:build unix

package store

import "golang.org/x/sys/unix"

// mapChunk obtains n zeroed bytes outside the Go heap. The system refuses only when it is out of
// address space or memory, which no caller can mend.
func mapChunk(n int) []byte {
	b, err := unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		panic("store: cannot map memory: " + err.Error())
	}
	return b
}

func unmapChunk(b []byte) {
	if err := unix.Munmap(b); err != nil {
		panic("store: cannot unmap memory: " + err.Error())
	}
}

// releasePage gives a page's memory back to the system while keeping its addresses. A refusal only
// means that the memory stays ours.
func releasePage(b []byte) { _ = unix.Madvise(b, unix.MADV_DONTNEED) }
