package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// The names of what is measured, as the table has them.
const (
	intakeFast = "cards per second, 5,000 requests waiting"
	intakeSlow = "the same, 40 ms to the API"
	toCard     = "request → card, ms"
	toAnswer   = "Yes → answer readable, ms"
	toToast    = "Yes → tap answered, ms"
	cpuOf      = "CPU seconds per 1,000 approvals"
	redisCPU   = "CPU seconds of Redis beside"
	memoryIdle = "memory idle, MiB"
	memoryFull = "memory with 100,000 open, MiB"
	memoryBack = "memory with 100,000 open, after a restart, MiB"
	toPoll     = "start → first poll, ms"
	binary     = "size of the program, MiB"
	fullCard   = "100,000 open: request → card, ms"
	fullAnswer = "100,000 open: Yes → answer readable, ms"
	fullToast  = "100,000 open: Yes → tap answered, ms"
	lapses     = "lapses per second, 10,000 at once"
)

// A row is one line of the table: a measure, what it is held against, and by how much.
type row struct {
	name string
	// against is the measure and contender for the ratio; none where the name is empty.
	against measure
	bound   string // what it is to reach, in words
	met     func(value, ratio float64) bool
}

// rows are the lines of the table, in order.
func rows() []row {
	floor := func(name string) measure { return measure{name, theFloor} }
	empty := func(name string) measure { return measure{name, theBot} }
	ratioFrom := func(least float64) func(_, ratio float64) bool {
		return func(_, ratio float64) bool { return ratio >= least }
	}
	ratioTo := func(most float64) func(_, ratio float64) bool {
		return func(_, ratio float64) bool { return ratio <= most }
	}
	from := func(least float64) func(value, _ float64) bool {
		return func(value, _ float64) bool { return value >= least }
	}
	upTo := func(most float64) func(value, _ float64) bool {
		return func(value, _ float64) bool { return value <= most }
	}
	const p50, p99 = ", p50", ", p99"
	return []row{
		{intakeFast, floor(intakeFast), "≥ 0.25 × floor", ratioFrom(0.25)},
		{intakeSlow, floor(intakeSlow), "≥ 500", from(500)},
		{toCard + p50, floor(toCard + p50), "≤ 1.6 × floor", ratioTo(1.6)},
		{toCard + p99, floor(toCard + p99), "≤ 10", upTo(10)},
		{toAnswer + p50, floor(toAnswer + p50), "≤ 1.5 × floor", ratioTo(1.5)},
		{toAnswer + p99, floor(toAnswer + p99), "≤ 10", upTo(10)},
		{toToast + p50, floor(toToast + p50), "≤ 1.5 × floor", ratioTo(1.5)},
		{toToast + p99, floor(toToast + p99), "≤ 10", upTo(10)},
		{cpuOf, floor(cpuOf), "≤ 2.5 × floor", ratioTo(2.5)},
		{redisCPU, floor(redisCPU), "", nil},
		{fullCard + p50, empty(toCard + p50), "≤ 1.1 × empty", ratioTo(1.1)},
		{fullCard + p99, empty(toCard + p99), "≤ 10", upTo(10)},
		{fullAnswer + p50, empty(toAnswer + p50), "≤ 1.1 × empty", ratioTo(1.1)},
		{fullAnswer + p99, empty(toAnswer + p99), "≤ 10", upTo(10)},
		{fullToast + p50, empty(toToast + p50), "≤ 1.1 × empty", ratioTo(1.1)},
		{fullToast + p99, empty(toToast + p99), "≤ 10", upTo(10)},
		{lapses, measure{}, "≥ 3,000", from(3000)},
		{memoryIdle, floor(memoryIdle), "≤ 25", upTo(25)},
		{memoryFull, measure{}, "≤ 35", upTo(35)},
		{memoryBack, measure{}, "≤ 35", upTo(35)},
		{toPoll, floor(toPoll), "≤ 40", upTo(40)},
		{binary, measure{}, "", nil},
	}
}

// table writes what was measured as a Markdown table. What was not measured is a dash.
func table(r *results) string {
	var b strings.Builder
	b.WriteString("| | Countersign | floor | obvious bot | ratio | to reach | |\n|---|---|---|---|---|---|---|\n")
	for _, line := range rows() {
		ours := r.of(line.name, theBot)
		ratio := ratios(ours, r.values[line.against])
		verdict := ""
		if line.met != nil && len(ours) > 0 {
			verdict = "missed"
			if line.met(median(ours), median(ratio)) {
				verdict = "met"
			}
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s |\n", line.name, spread(ours),
			spread(r.of(line.name, theFloor)), spread(r.of(line.name, theUsual)), spread(ratio), line.bound, verdict)
	}
	return b.String()
}

// spread is a median with the least and the most.
func spread(values []float64) string {
	switch len(values) {
	case 0:
		return "–"
	case 1:
		return number(values[0])
	}
	return fmt.Sprintf("%s (%s–%s)", number(median(values)), number(slices.Min(values)), number(slices.Max(values)))
}

// number writes a value with as many digits as mean something.
func number(v float64) string {
	switch a := math.Abs(v); {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return "–"
	case a >= 1000:
		n := int64(math.Round(v))
		return fmt.Sprintf("%d,%03d", n/1000, n%1000)
	case a >= 100:
		return fmt.Sprintf("%.0f", v)
	case a >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}
