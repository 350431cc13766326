package main

import (
	"fmt"
	"io"
	"os"
	"runtime"

	"github.com/echomq/emqd/server"
)

// build makes an RDB file for the node that has started this process: its order is on the standard input, the file is
// descriptor 3.
func build(stdout, stderr io.Writer) int {
	out := os.NewFile(3, "rdb")
	if err := server.BuildFromOrder(os.Stdin, out, stdout); err != nil {
		_, _ = fmt.Fprintf(stderr, "emqd: %v\n", err)
		return exitFailure
	}
	return 0
}

// executable is this very program, which an upgrade may have replaced by another under its name.
func executable() string {
	if runtime.GOOS == "linux" {
		return "/proc/self/exe"
	}
	path, err := os.Executable()
	if err != nil {
		return os.Args[0]
	}
	return path
}
