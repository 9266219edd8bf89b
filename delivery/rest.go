package delivery

import (
	"time"

	"countersign/approval"
	"countersign/store"
)

// A rest is how long one approval leaves a chat alone after a failure there.
type rest struct {
	length time.Duration // counts from the next reading
	until  time.Time     // by Redis's clock, once it was counted
	rev    int64         // the revision that failed; another is tried at once
	fails  int           // in a row
}

// What rests for a second or more has failed; such rests double with every
// failure in a row, up to a minute. Nobody waits for a finished card: where
// somebody has to change something first, its rests go on to an hour.
const (
	failing         = time.Second
	longest         = time.Minute
	longestFinished = time.Hour
)

// grown is a rest after so many failures in a row before this one.
func grown(d time.Duration, fails int, most time.Duration) time.Duration {
	return max(d, min(d<<min(fails, 10), most))
}

// rest leaves a chat alone for a while; 0 ends a row of failures. The caller
// holds the reconciler's mutex, as for every method of a job.
func (j *job) rest(chat int64, row *approval.Row, d time.Duration) {
	if d <= 0 {
		delete(j.rests, chat)
		return
	}
	next := rest{length: d, rev: row.Rev, fails: j.rests[chat].fails}
	if d >= failing {
		most := longest
		if d >= longest && row.State != approval.Open {
			most = longestFinished
		}
		next.length = grown(d, next.fails, most)
		next.fails++
	}
	j.rests[chat] = next
}

// left is how much of a chat's rest is left at a reading.
func (j *job) left(chat int64, r *store.Reading) time.Duration {
	w, ok := j.rests[chat]
	if !ok || w.rev != r.Row.Rev {
		return 0
	}
	if w.until.IsZero() {
		w.until = r.Now.Add(w.length)
		j.rests[chat] = w
	}
	return w.until.Sub(r.Now)
}
