package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"countersign/approval"
	"countersign/cards"
)

// A pose is one telling moment of an approval, as cards are shown at it.
type pose struct {
	name, caption string
	group         bool            // shown in a group
	shows         []cards.Message // a later one is a reply to the first
}

// chat is where the pose is shown.
func (p pose) chat() int64 {
	if p.group {
		return demoPayments
	}
	return demoAnn
}

// poser makes rows and draws them as they stand at one moment.
type poser struct {
	now      time.Time
	settings cards.Settings
}

func newPoser(now time.Time) poser {
	s := cards.Settings{TimeTag: true, Redact: true, ReplyWords: []string{"approve", "reject", "deny"}}
	s.Confirm.Window = time.Minute
	return poser{now: now, settings: s}
}

// trash is an open row of a destructive call that can be undone.
func (p poser) trash(lines ...string) *approval.Row {
	if len(lines) == 0 {
		lines = []string{"Big Summer Sale: 40 % off everything · shop@northwind.example", "Your coupon expires tonight · deals@contoso.example", "We miss you! · hello@fabrikam.example"}
	}
	title := fmt.Sprintf("Trash %d emails", len(lines))
	return &approval.Row{
		ID: "pose", Ref: "K7QF2", Rev: 3, State: approval.Open, Pin: "sha256:" + strings.Repeat("5e1f", 16), Tier: "destroy",
		OpenedAt: p.now.Add(-2 * time.Minute), ExpiresAt: p.now.Add(58 * time.Minute), Quorum: 1, Owners: []int64{demoAnn, demoOlga},
		Request: &approval.Request{
			ID: "pose", Kind: approval.ToolCall, Runtime: demoIris, Effect: approval.Destructive,
			Calls: []approval.Call{{Tool: "trash_email", Arguments: json.RawMessage(`{"ids":["m-1841","m-1846","m-1852"],"folder":"inbox"}`)}},
			Card: approval.Card{
				Title: title, Lines: lines, UndoTool: "restore_email", UndoDays: 30, Request: "Can you delete my promo emails?",
			},
		},
	}
}

// card draws a row, after what changes the view.
func (p poser) card(row *approval.Row, changes ...func(*cards.View)) cards.Message {
	v := cards.View{Row: row, CardID: "Zm9vYmFyYmF6cXV4", Now: p.now}
	for _, change := range changes {
		change(&v)
	}
	return cards.Card(v, p.settings)
}

func confirmedBy(name string) func(*cards.View) {
	return func(v *cards.View) {
		v.Step = &approval.Step{By: demoAnn, Name: name, Rev: 4, CardID: v.CardID}
	}
}

// sawPages is of a person who opened these pages.
func (p poser) sawPages(pages ...int) func(*cards.View) {
	return func(v *cards.View) {
		shown := cards.Seen(v.Row, pages, false, p.settings)
		v.Opened, v.OfLines = shown.Lines, shown.Of
	}
}

// answered is row with its answer.
func (p poser) answered(row *approval.Row, state approval.State, name, reason string) *approval.Row {
	row.State, row.AnswerAt = state, p.now.Add(-time.Minute)
	row.Answer = &approval.Answer{Decision: approval.Decision(state), By: approval.By{Surface: approval.Telegram, ID: "1001", Name: name}, Reason: reason, At: row.AnswerAt}
	if state.WasApproved() {
		row.Answer.Decision = approval.DecisionApproved
	}
	return row
}

// poses are the twelve of the contact sheet.
func (p poser) poses() []pose {
	many := manyLines(manyEmails)
	write := func() *approval.Row {
		row := p.trash("To: maria@example.com", "Subject: Dinner on Friday", "Friday at seven works. Shall we say the place by the river?")
		r := row.Request
		r.Effect, row.Tier = approval.Write, "outreach"
		r.Card.Title, r.Card.Action, r.Card.UndoTool, r.Card.Request = "Send an email to maria@example.com", "Send the email", "", "Tell Maria that Friday works"
		r.Calls[0] = approval.Call{Tool: "send_email", Arguments: json.RawMessage(`{"to":["maria@example.com"],"subject":"Dinner on Friday","body":"Hi Maria,\n\nFriday at seven works. Shall we say the place by the river?\n\nAnn","headers":{"Authorization":"Bearer hunter2hunter2"}}`)}
		return row
	}
	hostile := p.trash()
	sample := hostileSample()
	hostile.Request.Card = approval.Card{
		Title: sample.ask.Card.Title, Action: sample.ask.Card.Action, Lines: sample.ask.Card.Lines, Request: sample.ask.Card.Request,
	}
	arabic := p.trash("فاتورة من شركة النور · 1,204.50 €", "می\u200cخواهم این سه نامه را پاک کنم", "שלום לכולם, נתראה ביום 12", "नमस्ते, क्\u200dषमा करें", "ขอบคุณสำหรับอาหารกลางวัน")
	arabic.Request.Card.Title, arabic.Request.Card.Action, arabic.Request.Card.Request = "حذف ٥ رسائل", "احذف", "نظّف صندوق الوارد من فضلك"
	partial := p.answered(p.trash(), approval.Partial, "Ann", "")
	partial.UndoUntil = p.now.Add(30 * 24 * time.Hour)
	partial.Report = &approval.Report{Outcome: approval.Partial, Results: []approval.Result{{Line: 1, OK: true}, {Line: 2, Detail: "the server did not find it"}, {Line: 3, OK: true}}}
	lapsed := p.answered(p.trash(), approval.Lapsed, "", "")
	pay := p.trash("4,800.00 € to Acme Ltd", "From the account “Operations”")
	pay.Quorum, pay.Request.Runtime, pay.Request.Effect, pay.Tier = 2, demoLedger, approval.Write, "act"
	pay.Request.Card.Title, pay.Request.Card.Action, pay.Request.Card.UndoTool, pay.Request.Card.Request = "Pay invoice 2026-0117", "Pay 4,800 €", "", ""
	votes := func(v *cards.View) {
		v.Votes = []approval.Vote{{By: approval.By{Surface: approval.Telegram, Name: "Olga"}}}
	}
	noUndo := p.trash("Quarterly review · Thursday 14:00–15:30 · 6 guests")
	noUndo.Request.Card = approval.Card{Title: "Delete “Quarterly review”", Action: "Delete the event", Lines: noUndo.Request.Card.Lines, Request: "Clear my Thursday afternoon"}
	return []pose{
		{name: "short", caption: "Asking", shows: []cards.Message{p.card(p.trash())}},
		{name: "long", caption: "A long list", shows: []cards.Message{p.card(p.trash(many...))}},
		{name: "page", caption: "Its third page", shows: []cards.Message{p.card(p.trash(many...), func(v *cards.View) { v.Page = 2 })}},
		{name: "confirming", caption: "Confirming, no undo", shows: []cards.Message{p.card(noUndo, confirmedBy("Ann"))}},
		{name: "unseen", caption: "Confirming, not all opened", shows: []cards.Message{p.card(p.trash(many...), confirmedBy("Ann"), p.sawPages(0, 1, 2))}},
		{name: "exact", caption: "The exact call, a secret masked", shows: []cards.Message{p.card(write(), func(v *cards.View) { v.Exact = true })}},
		{name: "hostile", caption: "Hostile text", shows: []cards.Message{p.card(hostile)}},
		{name: "arabic", caption: "Other scripts", shows: []cards.Message{p.card(arabic)}},
		{name: "partial", caption: "Approved, partly done", shows: []cards.Message{p.card(partial)}},
		{name: "rejected", caption: "Rejected with a reason", shows: []cards.Message{p.card(p.answered(p.trash(), approval.Rejected, "Ann", "the coupon is one I want to keep"))}},
		{name: "lapsed", caption: "Lapsed, with its notice", shows: []cards.Message{p.card(lapsed), cards.LapseNotice(lapsed, p.settings)}},
		{name: "quorum", caption: "One of two owners", group: true, shows: []cards.Message{p.card(pay, votes)}},
	}
}
