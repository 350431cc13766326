//go:build !linux

package aof

import "os"

func syncData(f *os.File) error { return f.Sync() }
