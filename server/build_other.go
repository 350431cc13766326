//go:build !linux

package server

import "os/exec"

// startLow starts a process.
func startLow(child *exec.Cmd) error { return child.Start() }
