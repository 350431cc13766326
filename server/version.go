package server

import (
	"runtime/debug"
	"strings"

	"github.com/echomq/emqd/commands"
)

// Version is the version of emqd.
const Version = "0.1.0"

// commit and date are set by the linker (-X); without it the build information of the tool chain is asked.
var commit, date string

// Build returns what is known of this build.
func Build() commands.Build {
	b := commands.Build{Version: Version, Commit: commit, Date: date}
	info, ok := debug.ReadBuildInfo()
	if !ok || b.Commit != "" {
		return b
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value[:min(len(s.Value), 12)]
		case "vcs.time":
			b.Date, _, _ = strings.Cut(s.Value, "T")
		}
	}
	return b
}
