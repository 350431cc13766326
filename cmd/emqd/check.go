package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"strings"

	"github.com/echomq/emqd/store/aof"
)

// inspect checks the log in the first directory and, when there is a second one, writes what is good of it there. It
// returns the exit code.
func inspect(dirs []string, stdout, stderr io.Writer) int {
	dir := logDir(dirs[0])
	var files []aof.FileReport
	var err error
	if len(dirs) == 1 {
		files, err = aof.Check(aof.Disk{}, dir)
	} else {
		out := dirs[1]
		if dir != dirs[0] {
			out = filepath.Join(out, filepath.Base(dir))
		}
		files, err = aof.Repair(aof.Disk{}, dir, out, rand.Uint32())
		if err == nil {
			defer func() { _, _ = fmt.Fprintf(stdout, "wrote %s\n", out) }()
		}
	}
	damaged := 0
	for i := range files {
		damaged += describe(&files[i], stdout)
	}
	if err != nil {
		_, _ = fmt.Fprintf(stderr, "emqd: %v\n", err)
		return exitFailure
	}
	if damaged > 0 && len(dirs) == 1 {
		_, _ = fmt.Fprintf(stdout, "%d damaged: emqd does not start on this; \"emqd repair %s OUT\" writes a copy with everything else\n", damaged, dirs[0])
		return exitFailure
	}
	return 0
}

// logDir returns dir, or the directory of the log in it.
func logDir(dir string) string {
	for _, pattern := range []string{"*.manifest", "*.aof", "*.rdb"} {
		if found, err := filepath.Glob(filepath.Join(dir, pattern)); err == nil && len(found) > 0 && !strings.HasSuffix(found[0], "dump.rdb") {
			return dir
		}
	}
	if found, err := filepath.Glob(filepath.Join(dir, "*", "*.manifest")); err == nil && len(found) == 1 {
		return filepath.Dir(found[0])
	}
	return dir
}

// describe prints what was found in a file and returns how many places are damaged.
func describe(r *aof.FileReport, to io.Writer) int {
	text := fmt.Sprintf("%s: %s, %d bytes", r.Name, r.Kind, r.Bytes)
	if r.Keys > 0 {
		text += fmt.Sprintf(", %d keys", r.Keys)
	}
	if r.Records > 0 || r.Keys == 0 {
		text += fmt.Sprintf(", %d records", r.Records)
	}
	if r.Last > 0 {
		text += fmt.Sprintf(" (%d to %d)", r.First, r.Last)
	}
	if r.Epoch > 0 {
		text += fmt.Sprintf(", epoch %d", r.Epoch)
	}
	_, _ = fmt.Fprintln(to, text)
	for _, d := range r.Damage {
		_, _ = fmt.Fprintf(to, "  damaged: %v\n", d)
	}
	if r.Flaw {
		_, _ = fmt.Fprintln(to, "  one of the two lines of the head is damaged; the other one serves")
	}
	if t := r.Tail; t != nil {
		_, _ = fmt.Fprintf(to, "  ends with %s at byte %d, %d bytes: a start drops them\n", t.Why, t.Offset, t.Bytes)
	}
	return len(r.Damage)
}
