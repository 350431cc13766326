package bench

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"text/tabwriter"
	"time"
)

// Report is everything that one call of emqd bench measured: the content of its JSON file.
type Report struct {
	Format  int       `json:"format"` // 1
	Time    time.Time `json:"time"`
	Machine Machine   `json:"machine"`
	Target  Server    `json:"target"`
	Peer    *Server   `json:"peer,omitempty"`
	Series  []*Series `json:"series"`
}

// Machine is where the client runs.
type Machine struct {
	Processors int    `json:"processors"`
	Model      string `json:"model,omitempty"`
	MemoryMB   int    `json:"memory_mb,omitempty"`
	Kernel     string `json:"kernel,omitempty"`
	OS         string `json:"os"`
	Arch       string `json:"arch"`
}

// ThisMachine describes the machine as far as the system tells.
func ThisMachine() Machine {
	m := Machine{Processors: runtime.NumCPU(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	field := func(path, name string) string {
		b, err := os.ReadFile(path)
		if err != nil {
			return ""
		}
		for line := range strings.Lines(string(b)) {
			if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == name {
				return strings.TrimSpace(value)
			}
		}
		return ""
	}
	m.Model = field("/proc/cpuinfo", "model name")
	kb := 0
	if _, err := fmt.Sscan(field("/proc/meminfo", "MemTotal"), &kb); err == nil {
		m.MemoryMB = kb / 1024
	}
	if b, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		m.Kernel = strings.TrimSpace(string(b))
	}
	return m
}

// WriteJSON writes the report as indented JSON.
func (r *Report) WriteJSON(to io.Writer) error {
	e := json.NewEncoder(to)
	e.SetIndent("", " ")
	return e.Encode(r)
}

// Print writes a series for people.
func (s *Series) Print(to io.Writer) error {
	t := tabwriter.NewWriter(to, 0, 0, 2, ' ', tabwriter.AlignRight)
	_, _ = fmt.Fprintf(t, "%s\tper second\tp50 ms\tp99 ms\tp99.9 ms\tmax ms\tserver us each\t\n", s.Title) // Flush tells
	if len(s.Runs) > 0 {
		printRuns(t, s.Runs)
	}
	if len(s.Peer) > 0 {
		printRuns(t, s.Peer)
		printRatio(t, s)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, list := range [][]*Result{s.Runs, s.Peer} {
		for i, r := range list {
			if err := r.printWrong(to, i+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// printRuns writes the medians of runs, and those of each kind of request where an operation has several.
func printRuns(t io.Writer, runs []*Result) {
	row := func(name string, rate, cpu float64, d func(*Result) Dist) {
		ms := func(f func(Dist) float64) string {
			return fmt.Sprintf("%.3f", Of(runs, func(r *Result) float64 { return f(d(r)) }).Median/1e3)
		}
		speed, time := "", ""
		if rate > 0 {
			speed = fmt.Sprintf("%.0f", rate)
		}
		if cpu > 0 {
			time = fmt.Sprintf("%.2f", cpu)
		}
		_, _ = fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t\n", name, speed, ms(func(d Dist) float64 { return d.P50 }), ms(func(d Dist) float64 { return d.P99 }),
			ms(func(d Dist) float64 { return d.P999 }), ms(func(d Dist) float64 { return d.Max }), time)
	}
	row(runs[0].Server.Name+" "+runs[0].Op+"s", Of(runs, PerSec).Median, Of(runs, CPU).Median, func(r *Result) Dist { return r.Latency })
	if len(runs[0].Requests) < 2 {
		return
	}
	for _, v := range runs[0].Requests {
		row(v.Name, 0, 0, func(r *Result) Dist {
			for _, w := range r.Requests {
				if w.Name == v.Name {
					return w.Latency
				}
			}
			return Dist{}
		})
	}
}

// printRatio writes the ratios of the medians and their spread.
func printRatio(t io.Writer, s *Series) {
	text := func(f func(*Result) float64) string {
		r := s.Ratio(f)
		if r.Median == 0 {
			return ""
		}
		return fmt.Sprintf("%.2f (%.2f-%.2f)", r.Median, r.Least, r.Most)
	}
	_, _ = fmt.Fprintf(t, "ratio\t%s\t%s\t%s\t%s\t%s\t%s\t\n", text(PerSec), text(P50), text(P99), text(P999), text(Max), text(CPU))
}

// printWrong writes what went wrong in a run.
func (r *Result) printWrong(to io.Writer, round int) error {
	if r.Empty > 0 {
		if _, err := fmt.Fprintf(to, "%s, round %d: %d requests found nothing, which are no operations\n", r.Server.Name, round, r.Empty); err != nil {
			return err
		}
	}
	for _, w := range r.Errors {
		if _, err := fmt.Fprintf(to, "%s, round %d: %d wrong replies: %s\n", r.Server.Name, round, w.Count, w.Text); err != nil {
			return err
		}
	}
	for _, p := range r.Pauses {
		own := ""
		if p.Client > 0 {
			own = fmt.Sprintf("; the client itself did not get on for %.1f ms of it", p.Client)
		}
		if _, err := fmt.Fprintf(to, "%s, round %d: a pause of %.1f ms after %.2f s, %d requests%s\n", r.Server.Name, round, p.Millis, p.At, p.Requests, own); err != nil {
			return err
		}
	}
	return nil
}
