package main

import (
	"context"
	"runtime/debug"
	heap "runtime/metrics"
	"time"
)

// When memory is given back to the system: once there was quiet, and before it enough
// to do that much may lie unused. While there is work, the next of it needs it at once.
const (
	quietFor   = time.Second
	quietBytes = 256 << 10 // made on the heap in that time
	worthBytes = 4 << 20   // made on the heap since it was given back last
)

// giveBack gives back to the system, until ctx ends, what a start or a burst of work has
// left behind.
func giveBack(ctx context.Context) {
	made := []heap.Sample{{Name: "/gc/heap/allocs:bytes"}}
	var r rest
	for wait(ctx, quietFor) {
		heap.Read(made)
		if r.after(made[0].Value.Uint64()) {
			debug.FreeOSMemory()
		}
	}
}

// A rest tells from what was made on the heap when work has come to rest.
type rest struct {
	last, given uint64
}

// after is asked once a second, with all that was ever made on the heap.
func (r *rest) after(made uint64) bool {
	since := made - r.last
	r.last = made
	if since > quietBytes || made-r.given < worthBytes {
		return false
	}
	r.given = made
	return true
}
