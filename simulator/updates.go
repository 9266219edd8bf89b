package simulator

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// Rules of the queue of updates.
const (
	maxPollTimeout = 50              // seconds; more is cut
	maxBatch       = 100             // updates in one answer
	messageLife    = 24 * time.Hour  // of what waits for the bot, except callback queries
	offsetSlack    = 10              // an offset this far beyond the newest id is still one
	sameOffsetWait = 3 * time.Second // a poll with the same offset again this soon waits at least 3 s
	sameOffsetOne  = time.Second / 2 // and this soon it gets one update
	conflictDelay  = 3 * time.Second // between two answers that tell of a conflict
)

// A queue holds the updates that the bot has not confirmed. The server's mutex guards it.
type queue struct {
	next     int64 // id of the next update
	updates  []update
	allowed  []string // nil: the default
	held     *poll
	offset   int64 // of the last call, and when it began
	offsetAt time.Time
	conflict time.Time // when a poll was last told of a conflict, by the clock of timers
}

type update struct {
	id      int64
	raw     json.RawMessage
	expires time.Time
	key     string // updates with one key reach a webhook in order
}

// A poll is a getUpdates call that is held open.
type poll struct {
	stop chan *APIError // buffered; what to answer instead of updates
}

// enqueue makes an update, if the bot wants this kind. The caller holds mu.
func (s *Server) enqueue(kind string, payload any, life time.Duration, key string) {
	if !s.bot.queue.wants(kind) {
		return
	}
	s.push(map[string]json.RawMessage{kind: mustJSON(payload)}, life, key)
}

// push gives an update its id and queues it. The caller holds mu.
func (s *Server) push(fields map[string]json.RawMessage, life time.Duration, key string) int64 {
	q := &s.bot.queue
	id := q.next
	q.next++
	fields["update_id"] = mustJSON(id)
	q.updates = append(q.updates, update{id, mustJSON(fields), s.options.Now().Add(life), key})
	s.wake()
	return id
}

// wants reports whether updates of a kind are made at all.
func (q *queue) wants(kind string) bool {
	if len(q.allowed) > 0 {
		return slices.Contains(q.allowed, kind)
	}
	return kind != "chat_member" && kind != "message_reaction" && kind != "message_reaction_count"
}

// expire forgets updates whose life is over.
func (q *queue) expire(now time.Time) {
	q.updates = slices.DeleteFunc(q.updates, func(u update) bool { return !now.Before(u.expires) })
}

// confirm forgets updates as an offset asks.
func (q *queue) confirm(offset int64) {
	switch {
	case offset < 0:
		if keep := int(-offset); keep < len(q.updates) {
			q.updates = slices.Delete(q.updates, 0, len(q.updates)-keep)
		}
	case offset > 0 && offset <= q.next+offsetSlack:
		q.updates = slices.DeleteFunc(q.updates, func(u update) bool { return u.id < offset })
	}
}

func (q *queue) batch(limit int) json.RawMessage {
	n := min(limit, len(q.updates))
	list := make([]json.RawMessage, n)
	for i := range list {
		list[i] = q.updates[i].raw
	}
	return mustJSON(list)
}

// getUpdates handles the method of that name. It takes mu itself, since it may wait.
func (s *Server) getUpdates(ctx context.Context, c *call) (json.RawMessage, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := &s.bot.queue
	switch {
	case s.bot.loggedOut:
		return nil, s.errs.state("Logged out")
	case s.bot.webhook.url != "":
		return nil, s.errs.state("can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first")
	}
	if err := c.allowedUpdates(q); err != nil {
		return nil, err
	}
	offset := c.int("offset", 0)
	limit := int(min(max(c.int("limit", maxBatch), 1), maxBatch))
	timeout := time.Duration(min(max(c.int("timeout", 0), 0), maxPollTimeout)) * time.Second
	if since := c.at.Sub(q.offsetAt); !q.offsetAt.IsZero() && offset == q.offset && since < sameOffsetWait {
		timeout = max(timeout, sameOffsetWait)
		if since < sameOffsetOne {
			limit = 1
		}
	}
	q.offset, q.offsetAt = offset, c.at
	q.expire(c.at)
	q.confirm(offset)
	if len(q.updates) == 0 && timeout > 0 {
		if err := s.hold(ctx, timeout); err != nil {
			return nil, err
		}
		q.expire(s.options.Now())
	}
	return q.batch(limit), nil
}

// allowedUpdates takes over the parameter of that name, which lasts until it is sent
// again.
func (c *call) allowedUpdates(q *queue) error {
	if !c.has("allowed_updates") {
		return nil
	}
	var kinds []string
	if err := c.object("allowed_updates", &kinds); err != nil {
		return err
	}
	q.allowed = kinds
	return nil
}

// hold waits for an update. It ends an older poll that is held, and is ended by a newer
// one. It gives mu up while it waits.
func (s *Server) hold(ctx context.Context, timeout time.Duration) error {
	q := &s.bot.queue
	s.endPoll("terminated by other getUpdates request; make sure that only one bot instance is running")
	p := &poll{stop: make(chan *APIError, 1)}
	q.held = p
	s.wake() // somebody may wait for a bot that listens
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	defer func() {
		if q.held == p {
			q.held = nil
		}
	}()
	for len(q.updates) == 0 {
		news := s.feed.news
		s.mu.Unlock()
		var conflict *APIError
		over := false
		select {
		case <-news:
		case conflict = <-p.stop:
		case <-timer.C:
			over = true
		case <-ctx.Done():
			over = true
		case <-s.ctx.Done():
			over = true
		}
		if conflict != nil {
			s.delayConflict(ctx)
		}
		s.mu.Lock()
		if conflict != nil {
			return conflict
		}
		if over {
			return nil
		}
	}
	// A newer poll or a webhook may have come together with the update; it wins.
	select {
	case conflict := <-p.stop:
		return conflict
	default:
		return nil
	}
}

// delayConflict keeps two answers that tell of a conflict apart, so that two programs
// with one token do not chase each other in a tight loop.
func (s *Server) delayConflict(ctx context.Context) {
	s.mu.Lock()
	now := s.options.Now()
	since := now.Sub(s.bot.queue.conflict)
	recent := !s.bot.queue.conflict.IsZero() && since < conflictDelay
	s.bot.queue.conflict = now
	s.mu.Unlock()
	if recent {
		s.wait(ctx, conflictDelay)
	}
}

// endPoll ends the held poll with a conflict. The caller holds mu.
func (s *Server) endPoll(text string) {
	if held := s.bot.queue.held; held != nil {
		held.stop <- s.errs.known(text, State)
		s.bot.queue.held = nil
	}
}

// PendingUpdates returns how many updates wait to be confirmed.
func (s *Server) PendingUpdates() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bot.queue.expire(s.options.Now())
	return len(s.bot.queue.updates)
}

// Polling reports whether a getUpdates call is held open. With [Server.Wait] a test can
// wait for a bot that listens.
func (s *Server) Polling() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bot.queue.held != nil
}

// SetNextUpdateID sets the id of the next update. The real server chooses one at random
// after a week without updates, also a lower one.
func (s *Server) SetNextUpdateID(id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bot.queue.next = id
}

// InjectUpdate queues any update: a JSON object with the fields of an Update, whether
// they make sense or not. The update_id is set by the server and returned. The bot gets
// it whatever allowed_updates says.
func (s *Server) InjectUpdate(raw json.RawMessage) (id int64, err error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return 0, fmt.Errorf("inject an update: %w", err)
	}
	if fields == nil {
		fields = map[string]json.RawMessage{}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.push(fields, messageLife, "injected"), nil
}
