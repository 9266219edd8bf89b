package delivery

import (
	"context"
	"time"

	"countersign/approval"
	"countersign/cards"
	"countersign/store"
	"countersign/telegram"
)

// beginNotice sends a notice of its own, unless it is being sent.
func (r *Reconciler) beginNotice(ctx context.Context, nid string) {
	key := "n:" + nid
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.work[key]; ok {
		return
	}
	r.work[key] = &job{}
	r.running.Go(func() {
		defer func() {
			r.mu.Lock()
			defer r.mu.Unlock()
			delete(r.work, key)
		}()
		defer r.recovered(nid, func() { pauseFor(ctx, panicPause) }) // it stays due
		lease, _ := r.cfg.Leader.Lease()
		again := r.restNotice(nid, r.guardedNotice(ctx, nid))
		if again != 0 && ctx.Err() == nil {
			if err := r.cfg.Store.SettleNotice(ctx, nid, again, &lease); err != nil {
				r.unrecorded(err, key)
			}
		}
	})
}

// guardedNotice keeps a fault in one notice from ending the process.
func (r *Reconciler) guardedNotice(ctx context.Context, nid string) (again time.Duration) {
	defer r.recovered(nid, func() { again = afterPanic })
	return r.notice(ctx, nid)
}

// notice sends one notice. It returns when to look at it again: 0 where it was
// recorded as sent, negative where there is nothing more to do.
func (r *Reconciler) notice(ctx context.Context, nid string) time.Duration {
	n, done, err := r.cfg.Store.ReadNotice(ctx, nid)
	if err != nil {
		return r.unrecorded(err, nid)
	}
	// What is looser goes to those whom it was kept for, though they be owners no more,
	// or not yet by this process's configuration.
	if n == nil || done || n.Kind != store.Looser && !r.present().listed(n.Chat) {
		return -1
	}
	if _, err := r.cfg.Pace.Wait(ctx, Notice, n.Chat); err != nil {
		return leaseSoon
	}
	readings, err := r.cfg.Store.Readings(ctx, n.IDs)
	if err != nil {
		return r.unrecorded(err, nid)
	}
	told := toldOf(n, readings)
	if len(told) == 0 && n.Kind != store.Looser && n.Kind != store.Tampered {
		return -1
	}
	lease, left := r.cfg.Leader.Lease()
	if left < CallTimeout {
		return leaseSoon
	}
	switch status, err := r.cfg.Store.IntendNotice(ctx, nid, lease, CallTimeout); {
	case err != nil:
		return r.unrecorded(err, nid)
	case status == store.IsSent:
		return -1
	case status != store.MaySend:
		return leaseSoon
	}
	var sent telegram.Sent
	_, err = r.tell(ctx, nid, n.Chat, r.present().Cards, func(s cards.Settings) cards.Message {
		return noticeText(n, told, s)
	}, func(ctx context.Context, m cards.Message, plain bool) (err error) {
		sent, err = r.cfg.Bot.Send(ctx, telegram.Outgoing{
			Chat: n.Chat, Thread: r.threadOf(n), HTML: m.HTML, Plain: m.Plain, PlainOnly: plain,
		})
		return err
	})
	if err != nil {
		return r.noticeFailed(ctx, n, err)
	}
	ctx, cancel := recording(ctx)
	defer cancel()
	if err := r.cfg.Store.SentNotice(ctx, nid, sent.MessageID); err != nil {
		return r.unrecorded(err, nid)
	}
	r.cfg.Count("sends", "notice")
	return 0
}

// toldOf are the rows that a notice names: those that did not lapse after all,
// are gone or cannot be read are left out.
func toldOf(n *store.Notice, readings []*store.Reading) []*approval.Row {
	var rows []*approval.Row
	for _, r := range readings {
		if r.Row == nil {
			continue
		}
		if n.Kind == store.SharedLapse && r.Row.State != approval.Lapsed {
			continue
		}
		rows = append(rows, r.Row)
	}
	return rows
}

// noticeText renders a notice; rows are those that it names.
func noticeText(n *store.Notice, rows []*approval.Row, s cards.Settings) cards.Message {
	switch n.Kind {
	case store.Unapproved:
		return cards.RanUnapproved(rows[0], n.Outcome, s)
	case store.Looser:
		return cards.Looser(n.What, s)
	case store.Tampered:
		row := &approval.Row{ID: n.IDs[0], State: approval.Refused}
		if len(rows) > 0 {
			row = rows[0] // else somebody has taken it away since
		}
		return cards.Tampered(row, s)
	}
	return cards.SharedLapse(rows, n.Total-(len(n.IDs)-len(rows)), s)
}
