package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/echomq/emqd/fence"
	"github.com/echomq/emqd/server"
)

// version describes the build in one line.
func version() string {
	commit := ""
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				commit = " commit " + s.Value
			}
		}
	}
	return fmt.Sprintf("emqd %s%s, wire %s, %s %s/%s",
		server.Version, commit, fence.Wire, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
