package bench

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/echomq/emqd/bench/chart"
)

// Chart draws what was measured: latency against load when there were several rates, throughput against depth when there
// were several depths, and else latency by percentile.
func (r *Report) Chart() *chart.Chart {
	rates, depths := map[float64]bool{}, map[int]bool{}
	for _, s := range r.Series {
		for _, run := range s.Runs[:min(1, len(s.Runs))] {
			rates[run.Load.Rate], depths[run.Load.Depth] = true, true
		}
	}
	switch {
	case len(rates) > 1:
		return LatencyChart(r.title("latency against load"), r.Series)
	case len(depths) > 1:
		return DepthChart(r.title("throughput against depth"), r.Series)
	}
	return PercentileChart(r.title("latency by percentile"), r.Series)
}

// title is the works of a report and what is drawn of them.
func (r *Report) title(what string) string {
	works, conns := "", 0
	var seen []string
	for _, s := range r.Series {
		if len(s.Runs) == 0 || slices.Contains(seen, s.Runs[0].Load.Work) {
			continue
		}
		seen = append(seen, s.Runs[0].Load.Work)
		if works != "" {
			works += ", "
		}
		works, conns = works+s.Runs[0].Load.Work, s.Runs[0].Load.Conns
	}
	return fmt.Sprintf("%s: %s, %d connections", works, what, conns)
}

// sides are the two lists of runs of a series.
func (s *Series) sides() [2][]*Result { return [2][]*Result{s.Runs, s.Peer} }

// group returns the series by work, in their order.
func byWork(series []*Series) (works []string, of map[string][]*Series) {
	of = map[string][]*Series{}
	for _, s := range series {
		if len(s.Runs) == 0 {
			continue
		}
		w := s.Runs[0].Load.Work
		if of[w] == nil {
			works = append(works, w)
		}
		of[w] = append(of[w], s)
	}
	return works, of
}

// label names a line: the server, and the work when there are several.
func label(work string, works int, name, what string) string {
	if works > 1 {
		name += " " + work
	}
	if what != "" {
		name += " " + what
	}
	return name
}

// offered is the rate at which operations were to begin; in a closed loop, that at which they were done.
func offered(runs []*Result) float64 {
	if rate := runs[0].Load.Rate; rate > 0 {
		return rate
	}
	return Of(runs, PerSec).Median
}

// LatencyChart draws p50, p99 and p99.9 of operations against how many were to begin a second.
func LatencyChart(title string, series []*Series) *chart.Chart {
	c := &chart.Chart{
		Title: title, X: chart.Axis{Label: "operations per second that are to begin", Floor: true}, Y: chart.Axis{Label: "latency, ms", Log: true},
	}
	works, of := byWork(series)
	for i, work := range works {
		for side := range 2 {
			for j, q := range []struct {
				name   string
				figure func(*Result) float64
			}{{"p50", P50}, {"p99", P99}, {"p99.9", P999}} {
				var points []chart.Point
				name := ""
				for _, s := range of[work] {
					runs := s.sides()[side]
					if len(runs) > 0 {
						points = append(points, chart.Point{X: offered(runs), Y: Of(runs, q.figure).Median / 1e3})
						name = runs[0].Server.Name
					}
				}
				if name != "" {
					c.Lines = append(c.Lines, chart.Line{Name: label(work, len(works), name, q.name), Color: 2*i + side, Dash: j, Points: points})
				}
			}
		}
	}
	return c
}

// DepthChart draws throughput against the depth of pipelines.
func DepthChart(title string, series []*Series) *chart.Chart {
	c := &chart.Chart{
		Title: title, X: chart.Axis{Label: "requests in a pipeline", Log: true}, Y: chart.Axis{Label: "operations per second", Floor: true},
	}
	works, of := byWork(series)
	depths := map[int]bool{}
	for i, work := range works {
		for side := range 2 {
			var points []chart.Point
			name := ""
			for _, s := range of[work] {
				runs := s.sides()[side]
				if len(runs) > 0 {
					depth := runs[0].Load.Depth
					if !depths[depth] {
						depths[depth] = true
						c.X.Ticks = append(c.X.Ticks, chart.Tick{At: float64(depth), Text: strconv.Itoa(depth)})
					}
					points = append(points, chart.Point{X: float64(depth), Y: Of(runs, PerSec).Median})
					name = runs[0].Server.Name
				}
			}
			if name != "" {
				c.Lines = append(c.Lines, chart.Line{Name: label(work, len(works), name, ""), Color: i, Dash: side, Points: points})
			}
		}
	}
	return c
}

// PercentileChart draws the latency of operations by percentile, all runs of a side together.
func PercentileChart(title string, series []*Series) *chart.Chart {
	c := &chart.Chart{
		Title: title, X: chart.Axis{Label: "percentile", Log: true}, Y: chart.Axis{Label: "latency, ms", Log: true},
	}
	for i, text := range []string{"0", "90", "99", "99.9", "99.99", "99.999"} {
		at := 1.0
		for range i {
			at *= 10
		}
		c.X.Ticks = append(c.X.Ticks, chart.Tick{At: at, Text: text + "%"})
	}
	works, of := byWork(series)
	color := 0
	for _, work := range works {
		for _, s := range of[work] {
			for side, runs := range s.sides() {
				if len(runs) == 0 {
					continue
				}
				all := histogram()
				for _, r := range runs {
					if h, err := r.Latency.Histogram(); err == nil {
						all.Merge(h)
					}
				}
				var points []chart.Point
				for rest := 1.0; rest >= 1e-5 && rest*float64(all.TotalCount()) >= 1; rest /= 1.25 {
					points = append(points, chart.Point{X: 1 / rest, Y: float64(all.ValueAtQuantile(100*(1-rest))) / 1e6})
				}
				c.Lines = append(c.Lines, chart.Line{Name: label(work, len(works), runs[0].Server.Name, ""), Color: color, Dash: side, Points: points})
				color++
			}
		}
	}
	return c
}
