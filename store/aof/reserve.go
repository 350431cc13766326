package aof

import "errors"

// The reserve is a file of filler that is kept while there is room, so that removing it makes room for the records by
// which jobs end when the disk is full.

func (l *Log) reserveName() string { return l.path(l.prefix + ".reserve") }

// Reserve makes sure that the reserve is there and has at least size bytes. ErrFull when there is no room for it.
func (l *Log) Reserve(size int64) error {
	f, err := l.fs.Open(l.reserveName())
	if missing(err) {
		f, err = l.fs.Create(l.reserveName())
	}
	if err != nil {
		if full(err) {
			return ErrFull
		}
		return err
	}
	have, err := f.Size()
	if err == nil && have < size {
		err = fillSynced(f, have, size)
	}
	return errors.Join(err, f.Close())
}

// Release removes the reserve.
func (l *Log) Release() error {
	if err := l.fs.Remove(l.reserveName()); err != nil && !missing(err) {
		return err
	}
	return l.fs.SyncDir(l.dir)
}
