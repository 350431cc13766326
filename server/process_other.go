//go:build !linux

package server

import "runtime"

const multiplexing = "goroutines"

func residentMemory() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.Sys)
}

func systemMemory() int64 { return 0 }

func cpuTimes() (self, children, thread cpuTime) { return }
