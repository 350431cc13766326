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
)

// buildInChild runs a child process that does what o says.
func buildInChild(ctx context.Context, command []string, o *buildOrder, out *os.File) (built, error) {
	order, err := json.Marshal(o)
	if err != nil {
		return built{}, err
	}
	var b built
	var answer, complaint bytes.Buffer
	child := exec.CommandContext(ctx, command[0], command[1:]...)
	child.ExtraFiles = []*os.File{out}
	child.Stdout, child.Stderr = &answer, &complaint
	// One processor, so that there is one left for the node.
	child.Env = append(os.Environ(), "GOMAXPROCS=1")
	in, err := child.StdinPipe()
	if err != nil {
		return b, err
	}
	if err := child.Start(); err != nil {
		return b, errors.Join(err, in.Close())
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
	if err := json.Unmarshal(answer.Bytes(), &b); err != nil {
		return b, err
	}
	if b.Error != "" {
		return b, errors.New(b.Error)
	}
	return b, nil
}
