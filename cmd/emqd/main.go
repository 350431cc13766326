// Command emqd serves the EchoMQ job-queue protocol over RESP.
//
// Exit codes:
//
//	0    a clean stop, a healthy answer
//	1    serving failed, healthcheck found the node unwell, or check found damage
//	2    a bad command line, environment or configuration file; nothing was started
//	130  a second SIGINT: stopped at once
//	143  a second SIGTERM: stopped at once
package main

import (
	"fmt"
	"io"
	"os"

	"github.com/echomq/emqd/server"
)

const (
	exitFailure = 1
	exitUsage   = 2
)

func main() {
	os.Exit(run(os.Args[1:], os.Environ(), os.Stdout, os.Stderr))
}

// run does what the command line says and returns the exit code.
func run(args, environ []string, stdout, stderr io.Writer) int {
	if len(args) > 0 && args[0] == "bench" {
		return runBench(args[1:], stdout, stderr)
	}
	line, err := parseLine(args, stdout)
	if err != nil {
		_, _ = fmt.Fprintf(stderr, "emqd: %v\nRun \"emqd --help\" for the settings.\n", err)
		return exitUsage
	}
	switch line.command {
	case "help":
		return 0
	case "version":
		_, _ = fmt.Fprintln(stdout, version())
		return 0
	}
	if line.command == "build" {
		return build(stdout, stderr)
	}
	if len(line.dirs) > 0 {
		return inspect(line.dirs, stdout, stderr)
	}
	cfg, err := line.config(environ)
	if err != nil {
		_, _ = fmt.Fprintf(stderr, "emqd: %v\n", err)
		return exitUsage
	}
	act := serve
	move := func(f func(*server.Config, string, io.Writer) error) {
		act = func(cfg *server.Config) error { return f(cfg, line.other, stdout) }
	}
	switch line.command {
	case "healthcheck":
		act = healthcheck
	case "backup":
		move(server.Backup)
	case "restore":
		move(server.Restore)
	case "export":
		move(server.Export)
	}
	if err := act(cfg); err != nil {
		_, _ = fmt.Fprintf(stderr, "emqd: %v\n", err)
		return exitFailure
	}
	return 0
}
