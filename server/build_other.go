//go:build !linux

package server

import (
	"os/exec"

	"github.com/echomq/emqd/store/aof"
)

// sendOut writes a part of a file to the disk.
func sendOut(f aof.File, _, _ int64) error { return f.Sync() }

// startLow starts a process.
func startLow(child *exec.Cmd) error { return child.Start() }
