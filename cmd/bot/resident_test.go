package main

import (
	"slices"
	"testing"
)

// Memory is given back once work has come to rest, and not while there is little to
// give.
func TestRest(t *testing.T) {
	t.Parallel()
	const mib = 1 << 20
	var r rest
	var got []bool
	for _, made := range []uint64{
		6 * mib, 6*mib + 1000, 6*mib + 2000, // the start, and nothing after it
		9 * mib, 9*mib + 1000, // little
		30 * mib, 50 * mib, 50*mib + 1000, 50*mib + 2000, // much
	} {
		got = append(got, r.after(made))
	}
	want := []bool{
		false, true, false,
		false, false,
		false, false, true, false,
	}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
