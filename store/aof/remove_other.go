//go:build !linux

package aof

import "os"

func soleOwner(*os.File) bool { return false }

func holdShared(*os.File) error { return nil }
