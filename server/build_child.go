package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// politeFor is how long a child may take that gets only what others leave of the processors. A process that has the idle
// policy cannot leave it without privileges, so then another child begins anew.
const politeFor = 10 * time.Minute

// buildInChild runs a child process that does what o says, first a polite one, and when that takes longer than patience
// one in a hurry.
func buildInChild(ctx context.Context, command []string, o *buildOrder, out *os.File, patience time.Duration) (built, error) {
	polite, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	b, err := runChild(polite, command, o, out)
	if err == nil || polite.Err() == nil || ctx.Err() != nil {
		return b, err
	}
	if err := out.Truncate(0); err != nil {
		return built{}, err
	}
	again := *o
	again.Hurry = true
	return runChild(ctx, command, &again, out)
}

// runChild runs one child process.
func runChild(ctx context.Context, command []string, o *buildOrder, out *os.File) (built, error) {
	order, err := json.Marshal(o)
	if err != nil {
		return built{}, err
	}
	var b built
	var complaint bytes.Buffer
	answer := answers{told: o.told}
	child := exec.CommandContext(ctx, command[0], command[1:]...)
	child.ExtraFiles = []*os.File{out}
	child.Stdout, child.Stderr = &answer, &complaint
	// One processor, so that there is one left for the node.
	child.Env = append(os.Environ(), "GOMAXPROCS=1")
	in, err := child.StdinPipe()
	if err != nil {
		return b, err
	}
	began := time.Now()
	if err := child.Start(); err != nil {
		return b, errors.Join(err, in.Close())
	}
	if o.started != nil {
		o.started(time.Since(began))
	}
	_, sendErr := in.Write(order)
	// The pipe stays open until the child has ended: its end tells the child that the node is gone.
	if err := child.Wait(); ctx.Err() != nil {
		return b, ctx.Err()
	} else if err != nil {
		text := strings.TrimSpace(complaint.String())
		return b, fmt.Errorf("the child process: %w %s", err, text[:min(len(text), 1000)])
	}
	if sendErr != nil {
		return b, sendErr
	}
	if b = answer.last; answer.err != nil {
		return b, answer.err
	}
	if b.More {
		return b, errors.New("the child process has not said how it ended")
	}
	if b.Error != "" {
		return b, errors.New(b.Error)
	}
	return b, nil
}

// answers takes what a child says, a line for each thing.
type answers struct {
	told func(keys int64)
	line []byte // begun
	last built
	err  error
}

// Write is io.Writer's.
func (a *answers) Write(b []byte) (int, error) {
	a.line = append(a.line, b...)
	for {
		line, rest, whole := bytes.Cut(a.line, []byte("\n"))
		if !whole {
			return len(b), nil
		}
		a.last = built{}
		if err := json.Unmarshal(line, &a.last); err != nil && a.err == nil {
			a.err = err
		}
		if a.last.More && a.told != nil {
			a.told(a.last.Keys)
		}
		a.line = rest
	}
}
