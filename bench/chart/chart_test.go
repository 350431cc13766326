package chart

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// wellFormed requires that text is XML to its end.
func wellFormed(t *testing.T, text string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(text))
	for {
		_, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		require.NoError(t, err)
	}
}

func TestWriteSVG(t *testing.T) {
	c := Chart{
		Title: "p99 < 5 & more", X: Axis{Label: "jobs/s", Floor: true}, Y: Axis{Label: "ms", Log: true},
		Lines: []Line{
			{Name: "emqd", Points: []Point{{1000, 0.5}, {2000, 0.7}, {30000, 20}}},
			{Name: "peer", Color: 1, Dash: 1, Points: []Point{{1000, 0}, {2000, 3}}},
		},
	}
	var b bytes.Buffer
	require.NoError(t, c.WriteSVG(&b))
	wellFormed(t, b.String())
	for _, want := range []string{"p99 &lt; 5 &amp; more", ">jobs/s<", ">ms<", ">emqd<", ">peer<", ">10k<", ">30k<", "prefers-color-scheme:dark", "stroke-dasharray"} {
		require.Contains(t, b.String(), want)
	}
	require.NotContains(t, b.String(), "NaN")
	require.NotContains(t, b.String(), "Inf")
	require.Equal(t, 4, strings.Count(b.String(), "<circle"), "a value of 0 has no place on a logarithmic axis")
}

func TestEmptyChart(t *testing.T) {
	for _, log := range []bool{false, true} {
		c := Chart{Title: "nothing", X: Axis{Log: log}, Y: Axis{Log: log}, Lines: []Line{{Name: "x"}}}
		var b bytes.Buffer
		require.NoError(t, c.WriteSVG(&b))
		wellFormed(t, b.String())
		require.NotContains(t, b.String(), "NaN")
	}
}

func TestTicks(t *testing.T) {
	text := func(a Axis, values ...float64) (list []string) {
		for _, tick := range a.scale(values, 0, 100).ticks {
			list = append(list, tick.Text)
		}
		return list
	}
	require.Equal(t, []string{"0", "5k", "10k", "15k", "20k", "25k", "30k"}, text(Axis{Floor: true}, 1000, 29000))
	require.Equal(t, []string{"0.2", "0.5", "1", "2", "5", "10"}, text(Axis{Log: true}, 0.3, 9))
	require.Equal(t, []string{"0.01", "0.1", "1", "10", "100"}, text(Axis{Log: true}, 0.05, 60))
	require.Equal(t, []string{"1", "16"}, text(Axis{Log: true, Ticks: []Tick{{1, "1"}, {16, "16"}, {256, "256"}}}, 1, 64))
}
