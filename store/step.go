package store

import (
	"context"
	"fmt"
	"time"

	"countersign/approval"
)

// A StepBy is a confirm step that an owner wants to open.
type StepBy struct {
	User   int64
	Name   string
	Window time.Duration
	Chat   int64
	Card   string // the card it is opened on, "" where none stands in the chat
	// Page is what this person has in front of them there, where that may be news: with
	// the step it counts as seen, as by [Store.Look]. "" for none.
	Page string
}

// OpenStep opens a confirm step. AlreadyOpen: this person's step is open and unchanged.
// Whatever is not Done changes nothing.
func (s *Store) OpenStep(ctx context.Context, id string, by StepBy) (Status, *Reading, error) {
	return s.step(ctx, id, by.Card, "open", by.User, by.Name, by.Window.Milliseconds(), by.Chat, by.Card, "", by.Page)
}

// CancelStep ends an open step, whoever's it is. rev is the step's revision on
// the button; 0 cancels any.
func (s *Store) CancelStep(ctx context.Context, id string, user int64, window time.Duration, rev int64) (Status, *Reading, error) {
	var want any = ""
	if rev != 0 {
		want = rev
	}
	return s.step(ctx, id, "", "cancel", user, "", window.Milliseconds(), "", "", want, "")
}

func (s *Store) step(ctx context.Context, id, card string, args ...any) (Status, *Reading, error) {
	k := s.keys
	v, err := s.run(ctx, "step", []string{k.Row(id), k.memory(id), k.dirty(), k.wake(), k.card(card)},
		append([]any{k.Prefix(), id}, args...)...)
	if err != nil {
		return "", nil, err
	}
	return s.parseResult(v)
}

// Asked records the message that asks for a typed yes in a chat, so that a
// reply to it finds its approval. It reports false where that step is over.
func (s *Store) Asked(ctx context.Context, id string, stepRev, chat int64, message int, card string) (bool, error) {
	v, err := s.run(ctx, "asked", []string{s.keys.Row(id), s.keys.memory(id)},
		s.keys.Prefix(), id, stepRev, chat, message, card, s.retention.Milliseconds())
	return asString(v) == "1", err
}

// Undo asks for the undo of an executed approval, once.
func (s *Store) Undo(ctx context.Context, r *Reading, user int64, by approval.By) (Status, *Reading, error) {
	for range attemptLimit {
		switch {
		case r.Row == nil:
			return Unknown, r, nil
		case !r.Row.Seal.Good():
			return Meddled, r, nil // nobody can vouch for what it names
		case r.Row.Request == nil:
			return Unknown, r, nil
		}
		event := approval.UndoRequested{
			ID: r.ID, UndoTool: r.Row.Request.Card.UndoTool, Calls: r.Row.Request.Calls,
			Context: r.Row.Request.Context, By: by, At: r.Now,
		}
		data, err := event.Encode()
		if err != nil {
			return "", r, err
		}
		if data, err = s.sign(data); err != nil {
			return "", r, fmt.Errorf("store: sign the undo of %q: %w", r.ID, err)
		}
		audit := approval.Audit{
			ID: r.ID, From: r.Row.State, To: r.Row.State, At: r.Now, BySurface: by.Surface, ByID: by.ID,
			Pin: r.Row.Pin, Terms: r.Row.Terms, Undo: true,
		}
		k := s.keys
		v, err := s.run(ctx, "undo",
			[]string{k.Row(r.ID), k.dirty(), k.wake(), k.audit(), k.Answers(), k.Answer(r.ID), k.signing()},
			k.Prefix(), r.ID, r.rev, user, jsonText(by), string(data), r.ID+"/undo_requested",
			stamp(r.Now), auditText(audit), s.retention.Milliseconds(), r.covered, s.signer())
		if err != nil {
			return "", r, err
		}
		status, fresh, err := s.parseResult(v)
		if err != nil {
			return "", r, err
		}
		r = fresh
		if status == unsigned {
			return "", r, fmt.Errorf("store: undo of %q: %w", r.ID, ErrNamespaceSigns)
		}
		if status != Changed {
			return status, r, nil
		}
	}
	return "", r, fmt.Errorf("store: %q changed %d times while its undo was asked for", r.ID, attemptLimit)
}
