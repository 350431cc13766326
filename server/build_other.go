//go:build !linux

package server

import "github.com/echomq/emqd/store/aof"

// sendOut writes a part of a file to the disk.
func sendOut(f aof.File, _, _ int64) error { return f.Sync() }

// lowerPriority does nothing.
func lowerPriority(bool) {}
