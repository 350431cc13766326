package bench

import (
	"encoding/base64"
	"maps"
	"slices"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Result is what one run of a load on one server gave.
type Result struct {
	Load     Load    `json:"load"`
	Server   Server  `json:"server"`
	Op       string  `json:"op"` // what is counted
	Ops      int64   `json:"ops_done"`
	Seconds  float64 `json:"seconds"`
	PerSec   float64 `json:"per_second"`
	CPU      float64 `json:"server_cpu_us_per_op,omitempty"` // 0 when the server is not on this machine
	Latency  Dist    `json:"latency"`                        // of whole operations
	Requests []Verb  `json:"requests"`
	Empty    int64   `json:"empty,omitempty"` // claims and pops that found nothing
	Errors   []Wrong `json:"errors,omitempty"`
	Pauses   []Pause `json:"pauses,omitempty"`
}

// Verb is the latency of one kind of request.
type Verb struct {
	Name    string `json:"name"`
	Latency Dist   `json:"latency"`
}

// Wrong is a reply that was not as it should be.
type Wrong struct {
	Text  string `json:"text"` // verb and reply
	Count int64  `json:"count"`
}

// Dist is a distribution of latencies, in microseconds.
type Dist struct {
	Count int64   `json:"count"`
	Mean  float64 `json:"mean_us"`
	P50   float64 `json:"p50_us"`
	P90   float64 `json:"p90_us"`
	P99   float64 `json:"p99_us"`
	P999  float64 `json:"p999_us"`
	Max   float64 `json:"max_us"`
	HDR   string  `json:"hdr,omitempty"` // the histogram in nanoseconds, HdrHistogram's V2 encoding, compressed, in base64
}

// dist sums a histogram up.
func dist(h *hdrhistogram.Histogram) Dist {
	if h.TotalCount() == 0 {
		return Dist{}
	}
	us := func(q float64) float64 { return float64(h.ValueAtQuantile(q)) / 1e3 }
	d := Dist{
		Count: h.TotalCount(), Mean: h.Mean() / 1e3, P50: us(50), P90: us(90), P99: us(99), P999: us(99.9), Max: float64(h.Max()) / 1e3,
	}
	if b, err := h.Encode(hdrhistogram.V2CompressedEncodingCookieBase); err == nil {
		d.HDR = string(b)
	}
	return d
}

// Histogram is the whole distribution, in nanoseconds.
func (d Dist) Histogram() (*hdrhistogram.Histogram, error) {
	if d.HDR == "" {
		return histogram(), nil
	}
	if _, err := base64.StdEncoding.DecodeString(d.HDR); err != nil {
		return nil, err
	}
	return hdrhistogram.Decode([]byte(d.HDR))
}

// result sums up what the engine measured.
func (e *engine) result(s *Server, l *Load, w *workload) *Result {
	e.blame()
	r := &Result{Load: *l, Server: *s, Op: w.op, Seconds: float64(e.measured) / 1e9, Pauses: e.pauses}
	all := histogram()
	errors := map[string]int64{}
	for _, g := range e.groups {
		r.Ops += g.done
		r.Empty += g.empty
		all.Merge(g.ops)
		for _, v := range g.verbs {
			if v.hist.TotalCount() == 0 {
				continue
			}
			name := v.name
			if len(e.groups) > 1 {
				name = g.name + " " + v.name
			}
			r.Requests = append(r.Requests, Verb{name, dist(v.hist)})
		}
		for text, n := range g.failed {
			errors[text] += n
		}
	}
	for _, text := range slices.Sorted(maps.Keys(errors)) {
		r.Errors = append(r.Errors, Wrong{text, errors[text]})
	}
	r.Latency = dist(all)
	if r.Seconds > 0 {
		r.PerSec = float64(r.Ops) / r.Seconds
	}
	if r.Ops > 0 {
		r.CPU = e.cpu / float64(r.Ops)
	}
	return r
}
