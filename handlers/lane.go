package handlers

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// safeLane is lane, with a panic as its error.
func (h *Handlers) safeLane(ctx context.Context, chat int64, lane []received) (err error) {
	defer caught(&err)
	return h.lane(ctx, chat, lane)
}

// lane handles updates of one chat, in order, after those of it that came before.
// Which of them are new is asked once they are in: one that is delivered twice at once
// is not by then.
func (h *Handlers) lane(ctx context.Context, chat int64, lane []received) error {
	if chat != 0 {
		if err := h.lanes.enter(ctx, chat); err != nil {
			h.trying(ctx, lane)
			return fmt.Errorf("updates wait for others of their chat: %w", err)
		}
		defer h.lanes.leave(chat)
	}
	err := h.inOrder(ctx, lane)
	if err != nil {
		h.trying(ctx, lane)
	}
	return err
}

// inOrder handles the updates of a lane one after the other. While one is handled, those
// before it may still be being recorded as handled; in the end all are.
func (h *Handlers) inOrder(ctx context.Context, lane []received) (err error) {
	recorded, begun := make(chan error, len(lane)), 0
	defer func() {
		for range begun {
			err = errors.Join(err, <-recorded)
		}
	}()
	asked := false
	for i := range lane {
		u := &lane[i]
		if u.old {
			continue
		}
		confirmed := h.confirm(ctx, u)
		if !confirmed && !asked {
			if err := h.incoming(ctx, lane[i:]); err != nil {
				return fmt.Errorf("updates are not recorded yet: %w", err)
			}
			asked = true
		}
		if u.old {
			continue
		}
		if !confirmed {
			if err := h.one(ctx, *u); err != nil {
				return fmt.Errorf("update %d: %w", u.raw.ID, err)
			}
		}
		h.tapped(*u)
		if i == len(lane)-1 {
			return h.record(ctx, *u)
		}
		begun++
		go func() { recorded <- h.record(ctx, *u) }()
	}
	return nil
}

// tapped takes note of how long it took to handle a tap.
func (h *Handlers) tapped(u received) {
	if u.Callback != nil && h.cfg.Tapped != nil {
		h.cfg.Tapped(u.came)
	}
}

// incoming finds out which updates of a lane were handled before. With those that tap cards
// comes what their cards stand for, but for what one before may change.
func (h *Handlers) incoming(ctx context.Context, lane []received) error {
	ctx, cancel := context.WithTimeout(ctx, handleTimeout)
	defer cancel()
	ids := make([]int64, len(lane))
	for i, u := range lane {
		ids[i] = u.id
	}
	tapped := tappedCards(lane)
	in, err := h.cfg.Store.Incoming(ctx, ids, slices.Sorted(maps.Keys(tapped)))
	if err != nil {
		return err
	}
	for i := range lane {
		lane[i].now, lane[i].old = in.Now, !in.Fresh[lane[i].id]
	}
	for card, i := range tapped {
		lane[i].reading = in.Tapped[card]
	}
	return nil
}

// mostReadings bounds how much is read at once with the updates of a chat.
const mostReadings = 8

// tappedCards are the cards that updates of a lane tap, each with the first that does:
// whatever else comes before it there is a tap on another.
func tappedCards(lane []received) map[string]int {
	tapped := map[string]int{}
	for i, u := range lane {
		card := u.card()
		if card == "" || len(tapped) == mostReadings {
			break
		}
		if _, ok := tapped[card]; !ok {
			tapped[card] = i
		}
	}
	return tapped
}
