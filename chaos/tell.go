package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"countersign/chaos/verdict"
)

// tell prints what was done, what came of it, and the verdict.
func (r *run) tell(w io.Writer, e *verdict.Evidence, v verdict.Verdict) {
	fmt.Fprintf(w, "\nThe storm lasted %v, the whole run %v.\n", e.Calm.Sub(e.Began).Round(time.Second), e.Ended.Sub(e.Began).Round(time.Second))
	fmt.Fprintln(w, "\nFaults survived")
	total := 0
	for _, kind := range slices.Sorted(maps.Keys(r.ledger.kinds)) {
		fmt.Fprintf(w, "  %5d  %s\n", r.ledger.kinds[kind], kind)
		total += r.ledger.kinds[kind]
	}
	fmt.Fprintln(w, "\nTimes (median, longest)")
	for _, what := range slices.Sorted(maps.Keys(r.times)) {
		list := slices.Sorted(slices.Values(r.times[what]))
		fmt.Fprintf(w, "  %8v %8v  %s (%d)\n", list[len(list)/2].Round(10*time.Millisecond), list[len(list)-1].Round(10*time.Millisecond), what, len(list))
	}
	tellVerdict(w, v)
	fmt.Fprintf(w, "summary: seed %d, %s, %v, %d approvals, %d faults, %d taps, %d second messages, %d sends interrupted: %s\n",
		e.Seed, modeName(r.options), r.options.over, len(e.Asked), total, v.Figures.Taps, sum(v.Figures.Extra), v.Figures.Repeats, passed(v))
}

// tellVerdict prints figures and violations.
func tellVerdict(w io.Writer, v verdict.Verdict) {
	f := v.Figures
	fmt.Fprintln(w, "\nFigures")
	table(w, "approvals, by answer", f.Approvals)
	table(w, "rows, by state", f.States)
	fmt.Fprintf(w, "  taps: %d\n", f.Taps)
	table(w, "taps, by what became of them", f.TapsBy)
	table(w, "messages of the bot", f.Sends)
	table(w, "messages beside the one", f.Extra)
	table(w, "claims", f.Claims)
	table(w, "set aside", f.Dead)
	fmt.Fprintf(w, "  reports: %d, undos: %d\n\n", f.Reports, f.Undone)
	const most = 60
	for i, violation := range v.Violations {
		if i == most {
			fmt.Fprintf(w, "… and %d more\n", len(v.Violations)-most)
			break
		}
		fmt.Fprintf(w, "VIOLATION %s\n", violation)
	}
	fmt.Fprintln(w, passed(v))
}

func passed(v verdict.Verdict) string {
	if n := len(v.Violations); n > 0 {
		return fmt.Sprintf("FAIL (%d violations)", n)
	}
	return "PASS"
}

func table(w io.Writer, name string, counts map[string]int) {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%d %s", counts[k], k))
	}
	fmt.Fprintf(w, "  %s: %s\n", name, strings.Join(parts, ", "))
}

func sum(counts map[string]int) (n int) {
	for _, c := range counts {
		n += c
	}
	return n
}
