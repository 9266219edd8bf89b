package telegram

import "time"

// waits is a range of waits, which double from first to last. A share of each wait is left to chance, so that several
// processes do not come back together.
type waits struct {
	first, last time.Duration
	least       time.Duration // no wait is shorter
}

// The waits of a Poller.
var (
	failureWaits  = waits{first: 500 * time.Millisecond, last: 30 * time.Second}
	conflictWaits = waits{first: 4 * time.Second, last: 30 * time.Second, least: 3 * time.Second}
	sinkWaits     = waits{first: 500 * time.Millisecond, last: 5 * time.Second}
)

// backoff counts failures in a row. The zero value has seen none.
type backoff struct{ failures int }

func (b *backoff) reset() { b.failures = 0 }

// next returns the wait after one more failure: between half and the whole of its step, as chance (in [0, 1)) has it.
func (b *backoff) next(w waits, chance float64) time.Duration {
	step := w.first
	for range b.failures {
		if step >= w.last {
			break
		}
		step *= 2
	}
	b.failures++
	step = min(step, w.last)
	return max(w.least, step/2+time.Duration(chance*float64(step/2)))
}
