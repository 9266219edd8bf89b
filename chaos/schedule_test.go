package main

import (
	"reflect"
	"slices"
	"testing"
	"time"
)

// A seed is all that a plan and a schedule depend on.
func TestSeedRepeats(t *testing.T) {
	for _, webhook := range []bool{false, true} {
		a, b := schedule(7, 3, webhook, time.Minute), schedule(7, 3, webhook, time.Minute)
		if !reflect.DeepEqual(a, b) {
			t.Error("the same seed draws two schedules")
		}
		if reflect.DeepEqual(a, schedule(8, 3, webhook, time.Minute)) {
			t.Error("two seeds draw one schedule")
		}
	}
	if !reflect.DeepEqual(plans(7, 200, time.Minute), plans(7, 200, time.Minute)) {
		t.Error("the same seed draws two plans")
	}
	if reflect.DeepEqual(plans(7, 200, time.Minute), plans(8, 200, time.Minute)) {
		t.Error("two seeds draw one plan")
	}
}

// A minute holds every kind of strike, in order, and none beyond its end.
func TestScheduleHasEverything(t *testing.T) {
	for _, webhook := range []bool{false, true} {
		for seed := range uint64(20) {
			list := schedule(seed, 3, webhook, time.Minute)
			kinds := map[string]bool{}
			for _, s := range list {
				kinds[s.kind] = true
				if s.bot < 0 || s.bot >= 3 || s.last <= 0 || s.n < 1 || s.at > time.Minute+time.Minute {
					t.Fatalf("seed %d: %+v", seed, s)
				}
			}
			for _, kind := range append(heavy(), light(webhook)...) {
				if !kinds[kind] {
					t.Errorf("seed %d: no %s", seed, kind)
				}
			}
			if !slices.IsSortedFunc(list, func(a, b strike) int { return int(a.at - b.at) }) {
				t.Errorf("seed %d: not in order", seed)
			}
		}
	}
}

// Two thousand approvals hold every fate and every route, and each request is one
// that can be published.
func TestPlansHaveEverything(t *testing.T) {
	fates, runtimes := map[fate]int{}, map[string]int{}
	for i, p := range plans(1, 2000, time.Minute) {
		fates[p.fate]++
		runtimes[p.route.runtime]++
		if p.at < 0 || p.at >= time.Minute {
			t.Errorf("%s comes at %v", p.id, p.at)
		}
		if i > 0 && p.fate != malformed {
			if _, err := p.ask.Request(); err != nil {
				t.Error(err)
			}
		}
		if !slices.Contains(p.route.owners, p.who) {
			t.Errorf("%s: %d acts and is none of %v", p.id, p.who, p.route.owners)
		}
	}
	for _, s := range shares() {
		if fates[s.fate] == 0 {
			t.Errorf("none is %s", s.fate)
		}
	}
	for _, r := range routes() {
		if runtimes[r.runtime] == 0 {
			t.Errorf("none goes by the route of %s", r.runtime)
		}
	}
}
