package delivery

import (
	"context"
	"errors"
	"runtime/debug"
	"time"

	"countersign/store"
)

// A job is one approval being looked at.
type job struct {
	planning bool           // a goroutine reads and plans
	again    bool           // it changed meanwhile: plan once more
	busy     map[int64]bool // chats with something under way
	rests    map[int64]rest // chats to leave alone

	// told says that a message alone told of it, which may be an old one: its mark has
	// to be due. It is the planner's own.
	told bool
}

// panicPause is how long an approval is left alone whose planning panicked.
const panicPause = time.Second

// begin looks at an approval, unless it is being looked at.
func (r *Reconciler) begin(ctx context.Context, id string, urgent bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.take(ctx, id, urgent)
}

// take is begin for a caller that holds mu.
func (r *Reconciler) take(ctx context.Context, id string, urgent bool) {
	if _, ok := r.work[id]; ok {
		return
	}
	if !urgent && len(r.work) >= inFlight {
		r.starved = true
		return
	}
	r.hire(ctx, id, false)
}

// hire makes a job of an approval that has none. The caller holds mu.
func (r *Reconciler) hire(ctx context.Context, id string, told bool) {
	j := &job{busy: map[int64]bool{}, rests: r.rests[id], told: told}
	if j.rests == nil {
		j.rests = map[int64]rest{}
	}
	delete(r.rests, id)
	r.work[id] = j
	r.plan(ctx, id, j)
}

// changed looks at an approval that a message told of, without asking first what
// else is due. Where there is no room it is found by its mark.
func (r *Reconciler) changed(ctx context.Context, id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch _, ok := r.work[id]; {
	case ok:
		r.wake(ctx, id)
	case len(r.work) >= inFlight:
		r.starved = true
		r.rings() // a person may wait for it: its mark says so
	default:
		r.hire(ctx, id, true)
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
	if j.told && !reading.Due() {
		return r.finish(id, j, feedWait)
	}
	j.told = false
	if changed, err := r.prepare(ctx, j, reading, lease); changed || err != nil {
		if err != nil {
			pauseFor(ctx, r.unrecorded(err, id))
		}
		return ctx.Err() == nil || r.drop(id, j)
	}
	p := r.present()
	todo := r.planned(reading, p)

	switch first, wait, goes := r.start(ctx, task{id: id, reading: reading, lease: lease, present: p, drawn: todo.drawn, job: j}, todo); goes {
	case settles:
		return r.settle(ctx, id, j, reading, wait, lease)
	case plansAgain:
		return true
	case waits:
		if first != nil {
			r.tend(ctx, *first)
		}
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
// nothing is under way, and where the planner has nothing left to do but wait, what it
// is to do itself first.
func (r *Reconciler) start(ctx context.Context, t task, todo plan) (first *task, wait time.Duration, goes going) {
	r.mu.Lock()
	defer r.mu.Unlock()
	id, j, reading := t.id, t.job, t.reading
	delete(r.unread, id)
	wait = todo.next
	tasks := make([]task, 0, 1)
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
		t.need = n
		tasks = append(tasks, t)
	}
	again := j.again
	j.again = false
	switch {
	case again:
		goes = plansAgain
	case len(j.busy) > 0:
		goes = waits
		j.planning = false
		if len(tasks) > 0 {
			first, tasks = &tasks[0], tasks[1:]
		}
	}
	for _, t := range tasks {
		r.running.Go(func() { r.tend(ctx, t) })
	}
	return first, wait, goes
}

// tend is meet for a goroutine that does nothing else after it.
func (r *Reconciler) tend(ctx context.Context, t task) {
	defer r.recovered(t.id, func() { r.drop(t.id, t.job) })
	r.meet(ctx, t)
}

// settle takes an approval that needs nothing off the feed. It reports whether
// it changed meanwhile.
func (r *Reconciler) settle(ctx context.Context, id string, j *job, reading *store.Reading, wait time.Duration, lease store.Lease) bool {
	settled, err := r.cfg.Store.Settle(ctx, reading, wait, lease)
	switch {
	case err != nil:
		pauseFor(ctx, r.unrecorded(err, id))
	case !settled:
		return true
	}
	return r.finish(id, j, wait)
}

// finish forgets a job, but for its rests where it is to be looked at again (negative:
// never). It reports whether it changed meanwhile.
func (r *Reconciler) finish(id string, j *job, again time.Duration) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if j.again {
		j.again = false
		return true
	}
	r.close(id, j, again)
	return false
}

// close is finish for a caller that holds mu, of a job that did not change.
func (r *Reconciler) close(id string, j *job, again time.Duration) {
	delete(r.work, id)
	if again >= 0 && len(j.rests) > 0 {
		r.rests[id] = j.rests
	}
	if again >= 0 && again < feedWait {
		time.AfterFunc(again, r.rings) // sooner than it would be found
	}
	r.makeRoom()
}

// recovered takes note of a panic, and does what is to be done then.
func (r *Reconciler) recovered(id string, then func()) {
	if p := recover(); p != nil {
		r.cfg.Log.Error().Interface("panic", p).Bytes("stack", debug.Stack()).Str("approval", id).Msg("drawing a card panicked; it is tried again")
		r.cfg.Count("panics")
		then()
	}
}

// drop forgets a job whose mark stays on the feed. It returns false.
func (r *Reconciler) drop(id string, j *job) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	j.planning = false
	if len(j.busy) == 0 {
		delete(r.work, id)
		r.makeRoom()
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
