package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
)

// machine says where it was measured.
func machine(ctx context.Context, s *stage) string {
	cpu := runtime.GOARCH
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		if m := regexp.MustCompile(`(?m)^model name\s*: (.+)$`).FindSubmatch(text); m != nil {
			cpu = string(m[1])
		}
	}
	version := "?"
	if info, err := s.rdb.Info(ctx, "server").Result(); err == nil {
		if m := regexp.MustCompile(`redis_version:(\S+)`).FindStringSubmatch(info); m != nil {
			version = m[1]
		}
	}
	return fmt.Sprintf("Measured on %d cores (%s), %s, %s, Redis %s.", runtime.NumCPU(), cpu, runtime.GOOS, runtime.Version(), version)
}

// The lines in the document between which this program writes.
const (
	tableBegins = "<!-- bench: table -->"
	tableEnds   = "<!-- bench: end -->"
)

var errNoPlace = errors.New("docs/performance.md has no place for the table")

// writeDocs puts the table into the document, and the plots beside it.
func writeDocs(dir, where string, r *results) error {
	name := filepath.Join(dir, "performance.md")
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	before, rest, ok := strings.Cut(string(text), tableBegins)
	_, after, ends := strings.Cut(rest, tableEnds)
	if !ok || !ends {
		return errNoPlace
	}
	whole := before + tableBegins + "\n" + where + "\n\n" + table(r) + tableEnds + after
	if err := os.WriteFile(name, []byte(whole), 0o644); err != nil {
		return err
	}
	for file, svg := range plots(r) {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(svg), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// plots are the pictures, by file name, of what was measured.
func plots(r *results) map[string]string {
	all := map[string]string{}
	var groups []barGroup
	for _, g := range []struct{ name, title string }{{intakeFast, "API answers at once"}, {intakeSlow, "40 ms to the API"}} {
		group := barGroup{name: g.title}
		for _, c := range []contender{theFloor, theBot, theUsual} {
			if values := r.of(g.name, c); len(values) > 0 {
				group.bars = append(group.bars, bar{string(c), values})
			}
		}
		if len(group.bars) > 0 {
			groups = append(groups, group)
		}
	}
	if len(groups) > 0 {
		all["performance-intake.svg"] = drawBars("Cards per second, 5,000 requests waiting", groups)
	}
	for _, p := range []struct{ file, title, name, full string }{
		{"performance-card.svg", "Request → card, ms, at fifty a second", toCard, fullCard},
		{"performance-answer.svg", "Yes → answer readable, ms, at fifty a second", toAnswer, fullAnswer},
	} {
		var lines []line
		for _, l := range []struct {
			label string
			m     measure
		}{
			{"floor", measure{p.name, theFloor}},
			{"Countersign", measure{p.name, theBot}},
			{"Countersign, 100,000 open", measure{p.full, theBot}},
			{"obvious bot", measure{p.name, theUsual}},
		} {
			if values := r.all[l.m]; len(values) > 0 {
				lines = append(lines, line{l.label, quantiles(values)})
			}
		}
		if len(lines) > 0 {
			all[p.file] = drawLines(p.title, lines)
		}
	}
	return all
}

// A point is a share and the value below which that share lies.
type point struct{ share, value float64 }

// quantiles are the points of a latency plot: from a tenth to all but one in a thousand.
func quantiles(values []float64) []point {
	var all []point
	for x := 0.0; x <= 1; x += 0.02 {
		share := 1 - math.Pow(10, -3*x)*0.9 // 0.1 … 0.9991
		all = append(all, point{share, percentile(values, share)})
	}
	return all
}
