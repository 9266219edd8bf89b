package main

import (
	"math"
	"slices"
)

// percentile is the value below which a share of the values lies, by the nearest rank;
// NaN of none. The values need no order.
func percentile(values []float64, share float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	rank := int(math.Ceil(share * float64(len(sorted))))
	return sorted[min(max(rank, 1), len(sorted))-1]
}

// median is the middle value, of an even number of values the mean of the two.
func median(values []float64) float64 {
	n := len(values)
	if n == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// ratios are the quotients of what was measured in the same rounds.
func ratios(of, to []float64) []float64 {
	all := make([]float64, 0, len(of))
	for i := range min(len(of), len(to)) {
		all = append(all, of[i]/to[i])
	}
	return all
}

// A measure is one thing that is measured, of one contender.
type measure struct {
	name string
	who  contender
}

// results hold a value of each measure for every round, and the latencies of all rounds.
type results struct {
	values map[measure][]float64
	all    map[measure][]float64
}

func newResults() *results {
	return &results{values: map[measure][]float64{}, all: map[measure][]float64{}}
}

func (r *results) add(name string, who contender, value float64) {
	m := measure{name, who}
	r.values[m] = append(r.values[m], value)
}

// latencies takes the latencies of one round.
func (r *results) latencies(name string, who contender, values []float64) {
	m := measure{name, who}
	r.all[m] = append(r.all[m], values...)
	r.add(name+", p50", who, percentile(values, 0.50))
	r.add(name+", p99", who, percentile(values, 0.99))
}

// of are the values of a measure, one for each round.
func (r *results) of(name string, who contender) []float64 { return r.values[measure{name, who}] }
