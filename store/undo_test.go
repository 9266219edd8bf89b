package store_test

import (
	"encoding/json"
	"time"

	"countersign/approval"
	"countersign/store"
	"countersign/store/storetest"
)

// asksUndo asks for an undo; whatever is not Done must change nothing.
func (e *env) asksUndo(r *store.Reading, user int64, want store.Status) {
	e.Helper()
	ask := func() {
		status, _, err := e.store.Undo(e.ctx, r, user, telegram(user))
		e.ok(err)
		same(e, "status", status, want)
	}
	if want == store.Done {
		e.marked(r.ID, ask)
	} else {
		e.unchanged(ask)
	}
}

func (e *env) decode(text string, into any) {
	e.Helper()
	e.ok(json.Unmarshal([]byte(text), into))
}

func undoChecks() []check {
	return []check{
		{"undo", "an owner's undo goes out once, on both streams", func(e *env) {
			r := e.executed("a1")
			e.asksUndo(r, ben, store.Done)
			own, all := e.events(e.keys.Answer("a1")), e.events(e.keys.Answers())
			same(e, "events", len(own), 2)
			same(e, "all answers have the same event", all[1], own[1])
			same(e, "type", own[1]["type"], any("approval.undo_requested"))
			same(e, "id", own[1]["id"], any("a1/undo_requested"))
			same(e, "subject", own[1]["subject"], any("a1"))
			var data struct {
				ID    string          `json:"approval_id"`
				Tool  string          `json:"undo_tool"`
				Calls json.RawMessage `json:"calls"`
				By    approval.By
			}
			e.decode(own[1]["data"].(string), &data)
			same(e, "id", data.ID, "a1")
			same(e, "tool", data.Tool, "untrash_emails")
			same(e, "by", data.By, telegram(ben))

			after := e.read("a1")
			same(e, "state", after.Row.State, approval.Executed)
			same(e, "asked by", *after.Row.Undo, telegram(ben))
			same(e, "revision", after.Row.Rev, r.Row.Rev+1)
			e.audited("a1 executed>executed telegram/1002")
			same(e, "audited as an undo", e.audits()[len(e.audits())-1].Undo, true)
			e.together("a1", days*24*time.Hour)
			e.asksUndo(after, ann, store.UndoAsked)
			e.asksUndo(r, ann, store.UndoAsked)
		}},
		{"undo", "who is no owner undoes nothing", func(e *env) { e.asksUndo(e.executed("a1"), cleo, store.NotOwner) }},
		{"undo", "an undo is to be had until its end", func(e *env) {
			r := e.executed("a1")
			e.executed("a2")
			e.advance(days*24*time.Hour - e.tick())
			e.asksUndo(e.read("a2"), ann, store.Done)
			e.advance(e.tick())
			e.asksUndo(r, ann, store.UndoOver)
		}},
		{"undo", "only what ran can be undone", func(e *env) {
			ids := e.everAnswered()
			e.open("open")
			ids[approval.Open] = "open"
			for state, id := range ids {
				want := store.NoUndo
				if state == approval.Executed || state == approval.Partial {
					want = store.Done
				}
				e.asksUndo(e.read(id), ann, want)
			}
		}},
		{"undo", "without an undo declared there is none", func(e *env) {
			storetest.Open(e.TB, e.store, storetest.Request("a1"))
			storetest.Approve(e.TB, e.store, "a1")
			e.reported("a1", approval.Executed, 100, store.Done)
			e.asksUndo(e.read("a1"), ann, store.NoUndo)
		}},
		{"undo", "a reading from before a report is read again", func(e *env) {
			stale := e.executed("a1")
			e.reported("a1", approval.Partial, 101, store.Done)
			e.asksUndo(stale, ann, store.Done)
			e.audited("a1 partial>partial telegram/1001")
		}},
		{"undo", "what is unknown or gone has no undo", func(e *env) {
			e.asksUndo(e.read("never"), ann, store.Unknown)
			r := e.executed("a1")
			e.ok(e.rdb.Del(e.ctx, e.keys.Row("a1")).Err())
			e.asksUndo(r, ann, store.Unknown)
			e.opens(e.unreadable("a2"), store.Opened)
			e.asksUndo(e.read("a2"), ann, store.Unknown)
		}},
	}
}
