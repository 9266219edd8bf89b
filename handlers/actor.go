package handlers

import (
	"strconv"
	"time"

	"countersign/approval"
	"countersign/cards"
	"countersign/store"
)

// An actor is a person who taps or writes, as the configuration knows them now.
type actor struct {
	who     Person
	present Present
}

// by is this person in an answer.
func (a actor) by(chat int64, message int, method string) approval.By {
	return approval.By{
		Surface: approval.Telegram, ID: strconv.FormatInt(a.who.ID, 10), Name: a.who.Name,
		Chat: chat, Message: message, Method: method,
	}
}

// attempt is an answer by this person.
func (a actor) attempt(r *store.Reading, d approval.Decision, g store.Guard, by approval.By) store.Attempt {
	shown := a.shown(r)
	return store.Attempt{
		Decision: d, Guard: g, User: a.who.ID, By: by,
		Confirm: a.present.confirm(), Counts: a.present.owner, Shown: &shown,
	}
}

// opens is a confirm step that this person opens.
func (a actor) opens(chat int64, card string) store.StepBy {
	return store.StepBy{User: a.who.ID, Name: a.who.Name, Window: a.present.confirm().Window, Chat: chat, Card: card}
}

// shown counts the lines that this person has had shown in full.
func (a actor) shown(r *store.Reading) approval.Shown {
	pages, all := r.SeenBy(a.who.ID)
	return cards.Seen(r.Row, pages, all, a.present.Cards)
}

// unseen refuses an approval while lines were not opened, where that is asked;
// "" lets it pass.
func (a actor) unseen(r *store.Reading) string {
	shown := a.shown(r)
	if a.present.confirm().NoUnseen && shown.Lines < shown.Of {
		return cards.Unseen(shown.Lines, shown.Of)
	}
	return ""
}

// confirming reports whether this person's confirm step is open, so that
// nothing but unopened lines may be in the way of a yes.
func (a actor) confirming(r *store.Reading) bool {
	return r.Step.OpenAt(r.Now, a.present.confirm().Window) && r.Step.By == a.who.ID && r.Now.Before(r.Row.ExpiresAt)
}

// words are what a transition came to, for the person who asked for it. done is
// what to say where it happened.
func (a actor) words(status store.Status, r *store.Reading, done string) string {
	switch status {
	case store.Done:
		return done
	case store.Voted, store.HasVoted:
		votes := 0
		for _, v := range r.Votes {
			if a.present.owner(v.User) {
				votes++
			}
		}
		return cards.Voted(votes, r.Row.Quorum, status == store.HasVoted)
	case store.AlreadyOpen:
		return cards.ToastSameStep
	case store.NotOpen:
		return cards.Already(r.Row, r.Now, a.present.Cards)
	case store.Late:
		return cards.Late(r.Row, r.Now, a.present.Cards)
	case store.Meddled:
		return cards.ToastMeddled
	case store.NotOwner:
		return cards.ToastNotAllowed
	case store.OtherPerson, store.NoStep, store.OldStep, store.NotShown, store.TooSoon, store.WindowOver:
		return cards.NotConfirmed(approval.Verdict(status), r.Step)
	}
	return cards.ToastUnknown
}

// tooOld reports whether a plain word written then decides nothing any more.
func (a actor) tooOld(written, now time.Time) bool {
	return now.Sub(written) > a.present.confirm().Window
}
