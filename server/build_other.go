//go:build !linux

package server

import (
	"time"

	"github.com/echomq/emqd/store/aof"
)

// sendOut writes a part of a file to the disk.
func sendOut(f aof.File, _, _ int64) error { return f.Sync() }

// lowerPriority does nothing.
func lowerPriority(bool) {}

var started = time.Now()

// processTime is not known here: the process is taken to have a processor all the time.
func processTime() time.Duration { return time.Since(started) }
