package main

import (
	"fmt"
	"runtime"

	"github.com/echomq/emqd/fence"
	"github.com/echomq/emqd/server"
)

// version describes the build in one line.
func version() string {
	build := server.Build()
	what := build.Version
	if s := build.String(); s != "" {
		what += " (" + s + ")"
	}
	return fmt.Sprintf("emqd %s, wire %s, %s %s/%s", what, fence.Wire, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
