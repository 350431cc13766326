package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

// gap is a stretch in which a processor of this machine ran nothing, not even a thread of real-time priority whose time had
// come: its host had taken it away, or the system was busy with itself.
type gap struct {
	cpu  int
	at   time.Time // when the thread should have run
	took time.Duration
}

const (
	gapStep  = time.Millisecond // how long such a thread sleeps each time
	leastGap = time.Millisecond // shorter ones are not told
)

// gapWatch is another process of this program that looks for gaps (flag -gaps).
type gapWatch struct {
	cmd  *exec.Cmd
	stop io.Closer
	out  bytes.Buffer
}

// watchGaps begins to look for gaps on every processor.
func watchGaps() (*gapWatch, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	w := &gapWatch{cmd: exec.Command(self, "-gaps")}
	w.cmd.Stdout, w.cmd.Stderr = &w.out, os.Stderr
	if w.stop, err = w.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	return w, w.cmd.Start()
}

// end gives the gaps in the order in which they ended; none where a process may not have such a thread, with why.
func (w *gapWatch) end() (gaps []gap, why string, err error) {
	if err := errors.Join(w.stop.Close(), w.cmd.Wait()); err != nil {
		return nil, "", err
	}
	in := bufio.NewScanner(&w.out)
	for in.Scan() {
		var cpu int
		var at, took int64
		if _, err := fmt.Sscan(in.Text(), &cpu, &at, &took); err != nil {
			return nil, in.Text(), nil
		}
		gaps = append(gaps, gap{cpu, time.Unix(0, at), time.Duration(took)})
	}
	return gaps, "", in.Err()
}

// gapsIn tells how long each processor ran nothing between two instants.
func gapsIn(gaps []gap, from, to time.Time) map[int]time.Duration {
	sums := map[int]time.Duration{}
	for _, g := range gaps {
		end := g.at.Add(g.took)
		if g.at.Before(to) && end.After(from) {
			sums[g.cpu] += g.took
		}
	}
	return sums
}

// gapTable sums up the gaps of a run.
func (o *outcome) gapTable(gaps []gap, why string, run time.Duration) {
	t := o.table("Moments above 1 ms in which a processor of this machine ran nothing, not even a thread of real-time priority",
		"processor", "moments", "above 5 ms", "above 10 ms", "longest, ms", "of the time")
	if why != "" {
		t.row(why, "", "", "", "", "")
		return
	}
	counts := map[int][]gap{}
	last := -1
	for _, g := range gaps {
		counts[g.cpu] = append(counts[g.cpu], g)
		last = max(last, g.cpu)
	}
	for cpu := range last + 1 {
		var five, ten int
		var longest, sum time.Duration
		for _, g := range counts[cpu] {
			if g.took > 5*time.Millisecond {
				five++
			}
			if g.took > 10*time.Millisecond {
				ten++
			}
			longest, sum = max(longest, g.took), sum+g.took
		}
		t.row(fmt.Sprint(cpu), fmt.Sprint(len(counts[cpu])), fmt.Sprint(five), fmt.Sprint(ten),
			ms(float64(longest.Nanoseconds())/1e3), fmt.Sprintf("%.2f%%", 100*sum.Seconds()/run.Seconds()))
	}
	if last < 0 {
		t.row("none", "", "", "", "", "")
	}
}
