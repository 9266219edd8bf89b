package delivery

import (
	"context"
	"errors"
	"runtime/debug"
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

	mu       sync.Mutex // guards all maps
	work     map[string]*job
	rests    map[string]map[int64]rest // of approvals that wait on the feed
	crowds   map[int64]*crowd          // by chat
	troubles map[string]trouble        // of notices that were not taken
	unread   map[string]rest           // of approvals that cannot be read
	running  sync.WaitGroup
}

// A job is one approval being looked at.
type job struct {
	planning bool           // a goroutine reads and plans
	again    bool           // it changed meanwhile: plan once more
	busy     map[int64]bool // chats with something under way
	rests    map[int64]rest // chats to leave alone
}

// NewReconciler returns a Reconciler.
func NewReconciler(cfg Config) *Reconciler {
	return &Reconciler{
		cfg: cfg, work: map[string]*job{}, rests: map[string]map[int64]rest{}, crowds: map[int64]*crowd{},
		troubles: map[string]trouble{}, unread: map[string]rest{},
	}
}

// panicPause is how long an approval is left alone whose planning panicked.
const panicPause = time.Second

// feedWait bounds how long the feed is waited on; go-redis cannot interrupt a
// blocked read, so this is also how long a stop may take.
const feedWait = time.Second

// Run works until ctx ends, and then waits for what is under way.
func (r *Reconciler) Run(ctx context.Context) error {
	defer r.running.Wait()
	point, failures := "0", 0
	for ctx.Err() == nil {
		next, err := r.look(ctx)
		if err == nil {
			var changed []string
			wait := feedWait
			if next >= 0 {
				wait = min(wait, max(next, time.Millisecond))
			}
			point, changed, err = r.cfg.Store.WaitChange(ctx, point, wait)
			for _, id := range changed {
				r.changed(ctx, id)
			}
		}
		if err != nil && ctx.Err() == nil {
			failures++
			if failures == 1 || failures%30 == 0 {
				r.cfg.Log.Error().Err(err).Int("failures", failures).Msg("Redis cannot be read; cards wait")
			}
			pauseFor(ctx, min(time.Duration(failures)*100*time.Millisecond, 2*time.Second))
			continue
		}
		failures = 0
	}
	return nil
}

// look begins work on what is due, and returns when more falls due.
func (r *Reconciler) look(ctx context.Context) (time.Duration, error) {
	due, err := r.cfg.Store.Dirty(ctx, 2*inFlight)
	if err != nil {
		return 0, err
	}
	for i, id := range due.Approvals {
		r.begin(ctx, id, i < due.Urgent)
	}
	for _, nid := range due.Notices {
		r.beginNotice(ctx, nid)
	}
	return due.Next, nil
}

// begin looks at an approval, unless it is being looked at.
func (r *Reconciler) begin(ctx context.Context, id string, urgent bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.take(ctx, id, urgent)
}

// take is begin for a caller that holds mu.
func (r *Reconciler) take(ctx context.Context, id string, urgent bool) {
	if _, ok := r.work[id]; ok || !urgent && len(r.work) >= inFlight {
		return
	}
	j := &job{busy: map[int64]bool{}, rests: r.rests[id]}
	if j.rests == nil {
		j.rests = map[int64]rest{}
	}
	delete(r.rests, id)
	r.work[id] = j
	r.plan(ctx, id, j)
}

// changed looks once more at an approval that is being looked at. Others are
// found by their mark.
func (r *Reconciler) changed(ctx context.Context, id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.work[id]; ok {
		r.wake(ctx, id)
	}
}

// wake looks at an approval now, whether it is being looked at or not. The caller
// holds mu.
func (r *Reconciler) wake(ctx context.Context, id string) {
	switch j, ok := r.work[id]; {
	case !ok:
		r.take(ctx, id, true)
	case j.planning:
		j.again = true
	default:
		r.plan(ctx, id, j)
	}
}

// plan starts the one planner of a job. The caller holds mu.
func (r *Reconciler) plan(ctx context.Context, id string, j *job) {
	j.planning = true
	r.running.Go(func() {
		defer r.recovered(id, func() {
			pauseFor(ctx, panicPause)
			r.drop(id, j) // the mark stays; it is found again
		})
		for r.planOnce(ctx, id, j) {
		}
	})
}

// planOnce reads an approval, starts what it needs, and settles it where it
// needs nothing. It reports whether to plan again at once.
func (r *Reconciler) planOnce(ctx context.Context, id string, j *job) bool {
	lease, _ := r.cfg.Leader.Lease() // before the reading, so that none under a later one is taken for it
	reading, err := r.cfg.Store.Read(ctx, id)
	switch bad := (*store.UnreadableError)(nil); {
	case errors.As(err, &bad):
		r.putOff(ctx, bad, lease)
		r.drop(id, j)
		return false
	case err != nil:
		// The mark stays; it is found again.
		if ctx.Err() == nil {
			r.cfg.Log.Error().Err(err).Str("approval", id).Msg("an approval cannot be read; its cards wait")
			pauseFor(ctx, time.Second)
		}
		r.drop(id, j)
		return false
	}
	if changed, err := r.prepare(ctx, j, reading, lease); changed || err != nil {
		if err != nil {
			pauseFor(ctx, r.unrecorded(err, id))
		}
		return ctx.Err() == nil || r.drop(id, j)
	}
	todo := r.planned(reading)

	switch wait, goes := r.start(ctx, id, j, reading, todo); goes {
	case settles:
		return r.settle(ctx, id, j, reading, wait, lease)
	case plansAgain:
		return true
	}
	return false
}

// A going is how a job goes on after its needs were looked at.
type going int

const (
	settles    going = iota // it needs nothing now
	waits                   // for what is under way
	plansAgain              // it changed meanwhile
)

// start starts what is needed and can be. It returns when to look again where
// nothing is under way.
func (r *Reconciler) start(ctx context.Context, id string, j *job, reading *store.Reading, todo plan) (wait time.Duration, goes going) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.unread, id)
	wait = todo.next
	started := false
	for _, n := range todo.needs {
		if j.busy[n.chat] {
			continue
		}
		if left := j.left(n.chat, reading); left > 0 {
			wait = sooner(wait, left)
			continue
		}
		there := r.crowd(n.chat)
		if there.full(id, n) {
			wait = sooner(wait, lineCheck)
			continue
		}
		there.busy++
		j.busy[n.chat] = true
		started = true
		r.running.Go(func() {
			defer r.recovered(id, func() { r.drop(id, j) })
			r.meet(ctx, id, n, reading, j)
		})
	}
	again := j.again
	j.again = false
	switch {
	case again:
		goes = plansAgain
	case started || len(j.busy) > 0:
		goes = waits
		j.planning = false
	}
	return wait, goes
}

// settle takes an approval that needs nothing off the feed. It reports whether
// it changed meanwhile.
func (r *Reconciler) settle(ctx context.Context, id string, j *job, reading *store.Reading, wait time.Duration, lease store.Lease) bool {
	settled, err := r.cfg.Store.Settle(ctx, reading, wait, lease)
	if err == nil && !settled {
		return true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if j.again {
		j.again = false
		return true
	}
	delete(r.work, id)
	if wait >= 0 && len(j.rests) > 0 {
		r.rests[id] = j.rests
	}
	return false
}

// meet does one thing, and has the approval planned again.
func (r *Reconciler) meet(ctx context.Context, id string, n need, reading *store.Reading, j *job) {
	wait := r.guarded(ctx, id, n, reading)
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(j.busy, n.chat)
	if next := r.leave(n.chat); next != "" && ctx.Err() == nil {
		r.wake(ctx, next)
	}
	j.rest(n.chat, reading.Row, wait)
	switch {
	case ctx.Err() != nil:
		if len(j.busy) == 0 && !j.planning {
			delete(r.work, id)
		}
	case j.planning:
		j.again = true
	default:
		r.plan(ctx, id, j)
	}
}

// planned is the plan of an approval. One that cannot be made is tried again
// later, and keeps no other from its own.
func (r *Reconciler) planned(reading *store.Reading) (todo plan) {
	defer r.recovered(reading.ID, func() { todo = plan{next: afterPanic} })
	return planFor(reading, r.present())
}

// guarded keeps a fault in drawing one card from ending the process.
func (r *Reconciler) guarded(ctx context.Context, id string, n need, reading *store.Reading) (wait time.Duration) {
	defer r.recovered(id, func() { wait = afterPanic })
	return r.perform(ctx, id, n, reading)
}

// recovered takes note of a panic, and does what is to be done then.
func (r *Reconciler) recovered(id string, then func()) {
	if p := recover(); p != nil {
		r.cfg.Log.Error().Interface("panic", p).Bytes("stack", debug.Stack()).Str("approval", id).Msg("drawing a card panicked; it is tried again")
		r.cfg.Count("panics")
		then()
	}
}

// prepare does what an approval needs before its cards can be thought of: one whose
// seal does not hold is refused, cards whose chat has moved go with it, and an
// approval that can be asked nowhere is refused. It reports whether to read it again.
func (r *Reconciler) prepare(ctx context.Context, j *job, reading *store.Reading, lease store.Lease) (changed bool, err error) {
	if row := reading.Row; row != nil && !row.Seal.Good() {
		if changed, err := r.meddled(ctx, reading); changed || err != nil {
			return changed, err
		}
	}
	r.mu.Lock()
	idle := len(j.busy) == 0
	r.mu.Unlock()
	switch strayed := reading.Strayed(); {
	case strayed && idle:
		return true, r.cfg.Store.Rehome(ctx, reading.ID, lease)
	case strayed:
		return false, nil // what is under way is recorded under the chat it was sent to
	}
	if why := unreachable(reading); why != "" {
		return r.refuse(ctx, reading, why)
	}
	return false, nil
}

// drop forgets a job whose mark stays on the feed. It returns false.
func (r *Reconciler) drop(id string, j *job) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	j.planning = false
	if len(j.busy) == 0 {
		delete(r.work, id)
	}
	return false
}

// present is the configuration now, with what was learned of the server.
func (r *Reconciler) present() Present {
	p := r.cfg.Present()
	if r.noTimeTag.Load() {
		p.Cards.TimeTag = false
	}
	return p
}
