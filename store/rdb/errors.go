package rdb

import (
	"errors"
	"fmt"
)

var (
	// ErrBadPayload is returned by [Restore] for a footer that does not fit:
	// too short, a version that cannot be read, or a wrong checksum. Its text
	// is the line that RESTORE answers.
	ErrBadPayload = errors.New("ERR DUMP payload version or checksum are wrong")

	// ErrBadData is matched by every [FormatError]. Its text is the line that
	// RESTORE answers.
	ErrBadData = errors.New("ERR Bad data format")

	// ErrEmpty is matched by the FormatError for a list, set, hash or sorted
	// set without elements, and returned on encoding one. No server keeps
	// such a key; a [Reader] skips it.
	ErrEmpty = errors.New("rdb: collection without elements")

	// ErrModule is matched by the FormatError for a value of a module.
	ErrModule = errors.New("rdb: module value")

	// ErrChecksum is matched by the FormatError of a file whose checksum is
	// wrong.
	ErrChecksum = errors.New("rdb: wrong checksum")

	// ErrNaN is returned on encoding a score that is not a number.
	ErrNaN = errors.New("rdb: score is not a number")

	// ErrNeedsVersion80 is returned on encoding a hash with field deadlines
	// for an older version, which has no form for it.
	ErrNeedsVersion80 = errors.New("rdb: field deadlines need version 80")

	// ErrVersion is returned on opening a file, or asking to write one, of a
	// version that this package does not know.
	ErrVersion = errors.New("rdb: unsupported version")
)

// FormatError says what is wrong with bytes that were decoded, and where. It
// matches [ErrBadData], and Err when that is set.
type FormatError struct {
	Offset int64  // bytes from the start of the payload or file
	Reason string // what is wrong, for a log
	Err    error  // a more exact class, or nil
}

// Error gives the reason and the offset, for a log. The wire gets the text of
// [ErrBadData].
func (e *FormatError) Error() string {
	return fmt.Sprintf("rdb: %s at byte %d", e.Reason, e.Offset)
}

// Is reports whether target is [ErrBadData].
func (e *FormatError) Is(target error) bool { return target == ErrBadData }

// Unwrap gives the exact class, or nil.
func (e *FormatError) Unwrap() error { return e.Err }
