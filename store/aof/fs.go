// Package aof is the log on disk: the files of Valkey's multi-part append-only format, the records in them, and
// what a start makes of files that are damaged. It knows no sessions and no commands; what it reads it
// hands on, and what it writes are the effects of transactions.
//
// Nothing in it is safe for concurrent use unless its comment says so. The goroutines of Replay and ReplayAhead, which read
// ahead, have ended when those return, and nothing else in it starts one.
package aof

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
)

// FS is the part of a file system that the log stands on. Names are whole paths. Nothing is durable before the
// Sync of the file and, for what is created, renamed or removed, SyncDir of the directory.
type FS interface {
	// Open opens a file for reading and writing.
	Open(name string) (File, error)
	// Create makes a new empty file; fs.ErrExist when there is one.
	Create(name string) (File, error)
	// Names returns the names in a directory, sorted; fs.ErrNotExist when there is no directory.
	Names(dir string) ([]string, error)
	MakeDir(dir string) error // with its parents; nil when it is there
	Rename(from, to string) error
	Remove(name string) error
	SyncDir(dir string) error
}

// File is an open file. ReadAt, WriteAt and Sync may be called from several goroutines at once.
type File interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Size() (int64, error)
	Truncate(size int64) error
	// Sync makes content and size durable. After an error nothing is known of either.
	Sync() error
}

// Disk is the operating system's file system.
type Disk struct{}

// Open is FS's.
func (Disk) Open(name string) (File, error) { return openDisk(name, os.O_RDWR) }

// Create is FS's.
func (Disk) Create(name string) (File, error) {
	return openDisk(name, os.O_RDWR|os.O_CREATE|os.O_EXCL)
}

// Names is FS's.
func (Disk) Names(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		names = append(names, e.Name())
	}
	slices.Sort(names)
	return names, nil
}

// MakeDir is FS's.
func (Disk) MakeDir(dir string) error { return os.MkdirAll(dir, 0o750) }

// Rename is FS's.
func (Disk) Rename(from, to string) error { return os.Rename(from, to) }

// Remove is FS's.
func (Disk) Remove(name string) error { return os.Remove(name) }

// SyncDir is FS's.
func (Disk) SyncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

type diskFile struct{ *os.File }

func openDisk(name string, flag int) (File, error) {
	f, err := os.OpenFile(name, flag, 0o640)
	if err != nil {
		return nil, err
	}
	return diskFile{f}, nil
}

// OSFile makes a File of an open file of the operating system.
func OSFile(f *os.File) File { return diskFile{f} }

// Descriptor returns the operating system's file behind f; ok is false when there is none.
func Descriptor(f File) (file *os.File, ok bool) {
	d, ok := f.(diskFile)
	return d.File, ok
}

func (f diskFile) Size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

func (f diskFile) Sync() error { return syncData(f.File) }

// missing reports whether err says that there is no such file or directory.
func missing(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// readAll returns the content of a file that is known to be small.
func readAll(fsys FS, name string) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	size, err := f.Size()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	b := make([]byte, size)
	n, err := f.ReadAt(b, 0)
	if err == io.EOF {
		err = nil
	}
	return b[:n], errors.Join(err, f.Close())
}
