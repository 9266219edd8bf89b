package delivery

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"countersign/store"
	"countersign/telegram"
)

// Bot is what delivery needs of Telegram.
type Bot interface {
	Send(ctx context.Context, m telegram.Outgoing) (telegram.Sent, error)
	Edit(ctx context.Context, chat int64, message int, m telegram.Outgoing) error
	Reach(ctx context.Context, chat int64) error
}

// Config is what a Reconciler works with.
type Config struct {
	Store   *store.Store
	Bot     Bot
	Pace    *Pace
	Leader  *Leader
	Present func() Present // the configuration now
	Log     zerolog.Logger
	Count   func(event string, labels ...string)
	Carded  func(openedAt time.Time) // a card that asks was sent; may be nil
}

// inFlight bounds how many approvals are worked on at once; beyond it only what
// people wait for is begun.
const inFlight = 1000

// A Reconciler brings cards in line with rows while it runs. One process runs
// one, while it holds the lease.
type Reconciler struct {
	cfg       Config
	noTimeTag atomic.Bool // the server does not know <tg-time>

	mu       sync.Mutex // guards what follows, up to the blank line
	work     map[string]*job
	rests    map[string]map[int64]rest // of approvals that wait on the feed
	crowds   map[int64]*crowd          // by chat
	troubles map[string]trouble        // of notices that were not taken
	unread   map[string]rest           // of approvals that cannot be read
	starved  bool                      // more is due than there was room for

	ring    chan struct{} // holds one where Run is to look again
	running sync.WaitGroup
}

// NewReconciler returns a Reconciler.
func NewReconciler(cfg Config) *Reconciler {
	return &Reconciler{
		cfg: cfg, work: map[string]*job{}, rests: map[string]map[int64]rest{}, crowds: map[int64]*crowd{},
		troubles: map[string]trouble{}, unread: map[string]rest{}, ring: make(chan struct{}, 1),
	}
}

// feedWait bounds how long nothing is looked for that no message told of: marks that
// were put off fall due, and messages are lost to whoever reads too slowly. go-redis
// cannot interrupt a blocked read, so this is also how long a stop may take.
const feedWait = time.Second

// Run works until ctx ends, and then waits for what is under way.
func (r *Reconciler) Run(ctx context.Context) error {
	defer r.running.Wait()
	ctx, end := context.WithCancel(ctx)
	defer end() // also where it panics: nobody would look any more while listen goes on
	r.running.Go(func() {
		for ctx.Err() == nil {
			r.safeListen(ctx)
		}
	})
	look := time.NewTimer(0)
	defer look.Stop()
	failures := 0
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
			return nil
		case <-r.ring:
		case <-look.C:
		}
		next, err := r.look(ctx)
		if err != nil {
			r.unheard(ctx, &failures, err)
			next = 0
		} else {
			failures = 0
		}
		wait := feedWait
		if next >= 0 {
			wait = min(wait, max(next, time.Millisecond))
		}
		look.Reset(wait)
	}
	return nil
}

// safeListen is listen, begun anew by whoever calls it after a panic. What was told of
// meanwhile is found by its mark.
func (r *Reconciler) safeListen(ctx context.Context) {
	defer r.recovered("", func() { pauseFor(ctx, panicPause) })
	r.listen(ctx)
}

// listen begins work on what the changes feed tells of, until ctx ends.
func (r *Reconciler) listen(ctx context.Context) {
	point, failures := "0", 0
	for ctx.Err() == nil {
		news, err := r.cfg.Store.WaitChange(ctx, point, feedWait)
		if err != nil {
			r.unheard(ctx, &failures, err)
			continue
		}
		failures, point = 0, news.Point
		for _, id := range news.Approvals {
			r.changed(ctx, id)
		}
		if !news.All {
			r.rings()
		}
	}
}

// unheard logs that Redis cannot be read, now and then, and waits for a moment.
func (r *Reconciler) unheard(ctx context.Context, failures *int, err error) {
	if ctx.Err() != nil {
		return
	}
	*failures++
	if *failures == 1 || *failures%30 == 0 {
		r.cfg.Log.Error().Err(err).Int("failures", *failures).Msg("Redis cannot be read; cards wait")
	}
	pauseFor(ctx, min(time.Duration(*failures)*100*time.Millisecond, 2*time.Second))
}

// look begins work on what is due, and returns when more falls due.
func (r *Reconciler) look(ctx context.Context) (time.Duration, error) {
	limit := r.looksFor()
	due, err := r.cfg.Store.Dirty(ctx, limit)
	if err != nil {
		return 0, err
	}
	for i, id := range due.Approvals {
		r.begin(ctx, id, i < due.Urgent)
	}
	for _, nid := range due.Notices {
		r.beginNotice(ctx, nid)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.starved = r.starved || len(due.Approvals)+len(due.Notices) == limit
	r.makeRoom()
	return due.Next, nil
}

// urgentOnly is how many marks are read while there is room only for what people
// wait for.
const urgentOnly = 64

// looksFor is how many marks to read: those of what is in hand are among them.
func (r *Reconciler) looksFor() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.work) >= inFlight {
		return urgentOnly
	}
	return len(r.work) + inFlight
}

// makeRoom has Run look for more, where more was left and half of the room is free. The
// caller holds mu.
func (r *Reconciler) makeRoom() {
	if !r.starved || len(r.work) > inFlight/2 {
		return
	}
	r.starved = false
	r.rings()
}

// rings has Run look again.
func (r *Reconciler) rings() {
	select {
	case r.ring <- struct{}{}:
	default: // it will anyway
	}
}
