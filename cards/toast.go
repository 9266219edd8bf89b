package cards

import (
	"strconv"
	"time"

	"countersign/approval"
)

// maxToast is the most that an answer to a tap may say.
const maxToast = 200

// Short answers that need nothing of a row.
const (
	ToastNotAllowed = string(toastNotAllowed)  // not among those who may answer this
	ToastReader     = string(toastReader)      // a reader tried to decide
	ToastStranger   = string(toastStranger)    // not in people
	ToastUnknown    = string(toastUnknown)     // no such card or reference here
	ToastTrying     = string(toastTrying)      // not recorded yet and being tried
	ToastStale      = string(toastStale)       // the button is of an earlier drawing
	ToastRetired    = string(toastRetired)     // the card was posted again below
	ToastSameStep   = string(toastSamePerson)  // the action tapped again while one's own step is open
	ToastNoUndo     = string(toastNoUndo)      // the undo offer is over
	ToastBelow      = string(toastBelow)       // the card was posted again
	ToastFile       = string(toastFile)        // sent as a file
	ToastApproved   = string(toastApprovedNow) // this tap approved it
	ToastRejected   = string(toastRejectedNow) // this tap rejected it
	ToastAltered    = string(toastAltered)     // likewise, of one that was answered before
	ToastMeddled    = string(toastMeddled)     // its seal does not hold
	ToastBroken     = string(toastBroken)      // what is kept of it cannot be read, or we failed
	ToastOldWord    = string(toastOldWord)     // a word came too late to mean anything
	ToastCancelled  = string(toastCancelled)   // the confirm step was left
)

// Already says how row was answered, by whom and when; "" while it is open. A
// time of another day than now's carries its date.
func Already(row *approval.Row, now time.Time, s Settings) string {
	if row.State == approval.Open {
		return ""
	}
	d, by, at := decision(row)
	clock := clockTime(at, now, s)
	switch d {
	case approval.DecisionApproved:
		return toast(toastApproved, person(by), clock)
	case approval.DecisionRejected:
		return toast(toastRejected, person(by), clock)
	case approval.DecisionLapsed:
		return toast(toastLapsed, clock)
	case approval.DecisionWithdrawn:
		return toast(toastWithdrawn, clock)
	}
	return toast(toastRefused, clock)
}

// Late says that the deadline of row has passed, also where no sweep has taken
// note of it yet.
func Late(row *approval.Row, now time.Time, s Settings) string {
	return toast(toastLapsed, clockTime(row.ExpiresAt, now, s))
}

// NotConfirmed says why a Yes did not count; "" if it did. step is the open one,
// or nil.
func NotConfirmed(v approval.Verdict, step *approval.Step) string {
	switch v {
	case approval.Allowed:
		return ""
	case approval.OtherPerson:
		if step != nil {
			return Confirming(step)
		}
		return toast(toastNotOpen)
	case approval.OldStep:
		return toast(toastOldStep)
	case approval.NotShown:
		return toast(toastNotYet)
	case approval.TooSoon:
		return toast(toastTooSoon)
	case approval.WindowOver:
		return toast(toastWindow)
	}
	return toast(toastNotOpen)
}

// Confirming says that somebody else is confirming.
func Confirming(step *approval.Step) string {
	return toast(toastOther, string(short(step.Name, maxName)))
}

// Unseen says that opened of n lines are too few to approve.
func Unseen(opened, n int) string { return toast(toastUnseen, count(n-opened), count(n)) }

// Voted says that a person's approval counts, and how many there are. again: it
// counted before this tap.
func Voted(votes, quorum int, again bool) string {
	if again {
		return toast(toastVoted, count(votes), count(quorum))
	}
	return toast(toastVote, count(votes), count(quorum))
}

// UndoAsked says who asked for the undo.
func UndoAsked(by approval.By) string { return toast(toastUndoAsked, person(by)) }

// toast fills w with parts in their visible form. It fits however it is filled,
// since names are short, and is cut all the same.
func toast(w words, parts ...string) string { return cut(fill(w, parts...), maxToast) }

func count(n int) string { return strconv.Itoa(n) }

// person is who, for where nothing is linked.
func person(by approval.By) string {
	switch by.Surface {
	case approval.CLI:
		return fill(byCLI, string(named(by)))
	case approval.Policy:
		return string(byPolicy)
	case approval.Runtime:
		return string(byProgram)
	}
	return string(named(by))
}

// clockTime is the time of at, with its date if now is another day.
func clockTime(at, now time.Time, s Settings) string {
	at, now = at.In(s.location()), now.In(s.location())
	if at.Year() == now.Year() && at.YearDay() == now.YearDay() {
		return at.Format("15:04 MST")
	}
	return at.Format("2 Jan 2006 15:04 MST")
}
