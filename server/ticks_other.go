//go:build !linux || !amd64

package server

func ticks() uint64 { return 0 }

func haveTicks() bool { return false }
