package telegram

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/rs/zerolog"
)

const (
	defaultPollTimeout = 25 * time.Second
	defaultPollLimit   = 50

	// shortestPoll spaces polls that bring nothing new: a server that answers at once is not asked again at once.
	shortestPoll = 200 * time.Millisecond

	saveTimeout = 3 * time.Second
)

// Source gives updates. A [Client] is one.
type Source interface {
	Updates(ctx context.Context, offset int64, timeout time.Duration, limit int) ([]RawUpdate, error)
}

// Sink takes updates, in order, one batch at a time.
//
// Handle returns nil only when every one of them is kept or done for good: they are then confirmed, and Telegram
// forgets them. After an error all of them come again. An update may come twice in any case; the sink tells by the
// exact id, since ids need not grow: after a quiet week Telegram begins anywhere. An id of 0 is an update whose id
// cannot be read; it has to be set aside like any other that cannot be decoded.
type Sink interface {
	Handle(ctx context.Context, updates []RawUpdate) error
}

// PollHealth is how polling went last.
type PollHealth struct {
	OK     bool
	At     time.Time // of the answer or failure
	Kind   Kind      // the failure of a poll; 0 if OK, or if the sink failed
	Reason string    // one line for an operator; empty if OK
}

// PollerConfig is what a Poller needs. All but Client, Sink, Now and Jitter may be left out.
type PollerConfig struct {
	Client Source
	Sink   Sink
	Log    zerolog.Logger
	Now    func() time.Time
	Jitter func() float64 // in [0, 1)

	Timeout time.Duration // of one long poll, whole seconds; 0: 25 s
	Limit   int           // most updates of one poll, 1–100; 0: 50

	// Load and Save keep the next offset between runs. Without them, or if they fail, the last batch comes once more
	// after a restart. Save is called by one goroutine at a time, while the next poll is under way.
	Load func(ctx context.Context) (int64, error)
	Save func(ctx context.Context, offset int64) error

	// OnHealth is told after every poll, from the goroutine of Run.
	OnHealth func(PollHealth)
}

// Poller reads updates by long polling.
type Poller struct {
	cfg PollerConfig
}

// NewPoller makes a Poller.
func NewPoller(cfg PollerConfig) *Poller {
	if cfg.Timeout <= 0 {
		cfg.Timeout = defaultPollTimeout
	}
	if cfg.Limit <= 0 {
		cfg.Limit = defaultPollLimit
	}
	if cfg.Load == nil {
		cfg.Load = func(context.Context) (int64, error) { return 0, nil }
	}
	if cfg.Save == nil {
		cfg.Save = func(context.Context, int64) error { return nil }
	}
	if cfg.OnHealth == nil {
		cfg.OnHealth = func(PollHealth) {}
	}
	return &Poller{cfg: cfg}
}

// Run polls until ctx ends, and then returns nil. Only one Run per token may be under way anywhere; a lease is honoured
// by ending ctx with it. Any other return is an error that no waiting can cure: the token is refused.
func (p *Poller) Run(ctx context.Context) error {
	r := &pollRun{PollerConfig: p.cfg, log: newSparseLog(p.cfg.Log, p.cfg.Now)}
	offset, err := r.Load(ctx)
	if err != nil && ctx.Err() == nil {
		r.log.say(zerolog.WarnLevel, "offset", err, "the stored offset cannot be read; polling from the oldest update")
	}
	r.offset = offset
	defer r.saving.Wait()
	for ctx.Err() == nil {
		wait, err := r.once(ctx)
		if err != nil {
			return err
		}
		pause(ctx, wait)
	}
	return nil
}

// pollRun is the state of one Run; only its goroutine uses it, but for the log and Save,
// which that of saving uses too.
type pollRun struct {
	PollerConfig
	log    *sparseLog
	offset int64          // of the next poll
	saving sync.WaitGroup // the offset being stored, one at a time
	down   bool           // the last poll or batch failed
	polls  backoff
	sinks  backoff
}

// saveSafely is save, with a panic in it as a failure.
func (r *pollRun) saveSafely(ctx context.Context, offset int64) {
	defer func() {
		if v := recover(); v != nil {
			r.log.say(zerolog.ErrorLevel, "offset", fmt.Errorf("%v\n%s", v, debug.Stack()), "storing the offset panicked")
		}
	}()
	r.save(ctx, offset)
}

// once polls once and hands over what came. It returns how long to wait before the next poll, or a fatal error.
func (r *pollRun) once(ctx context.Context) (time.Duration, error) {
	begun := r.Now()
	updates, err := r.Client.Updates(ctx, r.offset, r.Timeout, r.Limit)
	if ctx.Err() != nil {
		return 0, nil // a poll that was stopped is no failure
	}
	if err != nil {
		return r.failed(err)
	}
	r.polls.reset()
	if len(updates) > 0 {
		if err := r.Sink.Handle(ctx, updates); err != nil {
			return r.refused(ctx, err), nil
		}
	}
	r.sinks.reset()
	next := after(updates, r.offset)
	stuck := next == r.offset
	r.offset = next
	if !stuck {
		r.saving.Wait()
		r.saving.Go(func() { r.saveSafely(ctx, next) })
	}
	if r.down {
		r.down = false
		r.log.say(zerolog.InfoLevel, "recovered", nil, "updates come again")
	}
	r.OnHealth(PollHealth{OK: true, At: r.Now()})
	if stuck {
		return max(0, shortestPoll-r.Now().Sub(begun)), nil
	}
	return 0, nil
}

// after returns the offset that confirms updates. It follows this batch alone, since ids may begin anew lower.
func after(updates []RawUpdate, offset int64) int64 {
	var highest int64
	for _, u := range updates {
		highest = max(highest, u.ID)
	}
	if highest == 0 {
		return offset
	}
	return highest + 1
}

// save keeps an offset, also when the run was told to stop while the batch was handled. The next poll does not wait for
// it: a failure costs no more than a repeated batch after a restart.
func (r *pollRun) save(ctx context.Context, offset int64) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTimeout)
	defer cancel()
	if err := r.Save(ctx, offset); err != nil {
		r.log.say(zerolog.WarnLevel, "offset", err, "the offset cannot be stored")
	}
}

// refused is what follows when the sink did not take a batch: nothing is confirmed, and it comes again.
func (r *pollRun) refused(ctx context.Context, err error) time.Duration {
	if ctx.Err() != nil {
		return 0
	}
	r.down = true
	r.log.say(zerolog.ErrorLevel, "sink", err, "updates cannot be taken; they stay with Telegram and are asked for again")
	r.OnHealth(PollHealth{At: r.Now(), Reason: "updates cannot be taken: " + err.Error()})
	// Telegram keeps a tap for 150 s only, so this wait stays short.
	return r.sinks.next(sinkWaits, r.Jitter())
}

// failed is what follows a failed poll: how long to wait, or a fatal error.
func (r *pollRun) failed(err error) (time.Duration, error) {
	var e *Error
	if !errors.As(err, &e) {
		e = &Error{Kind: Transport, Method: "getUpdates", Err: err}
	}
	r.down = true
	r.OnHealth(PollHealth{At: r.Now(), Kind: e.Kind, Reason: e.Error()})
	switch e.Kind {
	case Unauthorized:
		return 0, fmt.Errorf("the bot token is refused: check telegram.token or telegram.token_file and "+
			"telegram.api_url, or get a new token from @BotFather: %w", e)
	case Conflict:
		r.log.say(zerolog.ErrorLevel, e.Kind.String(), e,
			"something else takes this bot's updates: stop the other process that uses the token, or delete the webhook")
		return r.polls.next(conflictWaits, r.Jitter()), nil
	case TooMany:
		r.log.say(zerolog.WarnLevel, e.Kind.String(), e, "Telegram asks to poll less often")
		return max(e.RetryAfter, time.Second), nil
	default:
		r.log.say(zerolog.WarnLevel, e.Kind.String(), e, "polling failed; trying again")
		return r.polls.next(failureWaits, r.Jitter()), nil
	}
}

// pause waits for d or the end of ctx.
func pause(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
