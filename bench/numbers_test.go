package main

import (
	"math"
	"strings"
	"testing"
)

func TestPercentile(t *testing.T) {
	hundred := make([]float64, 100)
	for i := range hundred {
		hundred[i] = float64(100 - i)
	}
	for _, c := range []struct {
		values []float64
		share  float64
		want   float64
	}{
		{hundred, 0.5, 50},
		{hundred, 0.99, 99},
		{hundred, 1, 100},
		{hundred, 0, 1},
		{[]float64{7}, 0.99, 7},
		{[]float64{3, 1, 2}, 0.5, 2},
	} {
		if got := percentile(c.values, c.share); got != c.want {
			t.Errorf("percentile(%d values, %v) = %v, want %v", len(c.values), c.share, got, c.want)
		}
	}
	if got := percentile(nil, 0.5); !math.IsNaN(got) {
		t.Errorf("of none: %v", got)
	}
}

func TestMedian(t *testing.T) {
	if got := median([]float64{9, 1, 5}); got != 5 {
		t.Errorf("of three: %v", got)
	}
	if got := median([]float64{4, 1, 2, 9}); got != 3 {
		t.Errorf("of four: %v", got)
	}
}

// A ratio is one of a single round: what slows a round down slows both.
func TestRatiosAreOfOneRound(t *testing.T) {
	r := newResults()
	for _, round := range [][2]float64{{100, 50}, {10, 5}, {1000, 250}} {
		r.add(intakeFast, theFloor, round[0])
		r.add(intakeFast, theBot, round[1])
	}
	text := table(r)
	if want := "| 50.0 (5.00–250) | 100 (10.0–1,000) | – | 0.50 (0.25–0.50) | ≥ 0.25 × floor | met |"; !strings.Contains(text, want) {
		t.Errorf("no %q in\n%s", want, text)
	}
}

func TestTableTellsWhatIsMissed(t *testing.T) {
	r := newResults()
	r.add(lapses, theBot, 2999)
	r.add(toPoll, theBot, 40)
	for line := range strings.Lines(table(r)) {
		switch {
		case strings.Contains(line, lapses) && !strings.Contains(line, "| missed |"),
			strings.Contains(line, toPoll) && !strings.Contains(line, "| met |"),
			strings.Contains(line, intakeSlow) && !strings.Contains(line, "|  |"): // not measured
			t.Error(line)
		}
	}
}

func TestNumber(t *testing.T) {
	for v, want := range map[float64]string{0.123: "0.12", 12.34: "12.3", 123.4: "123", 12345: "12,345", 1005: "1,005"} {
		if got := number(v); got != want {
			t.Errorf("number(%v) = %s, want %s", v, got, want)
		}
	}
}
