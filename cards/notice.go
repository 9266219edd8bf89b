package cards

import (
	"time"

	"countersign/approval"
)

// Room in notices.
const (
	maxListedTitle = 100
	maxNamed       = 20 // approvals a shared notice names
	maxChanges     = 10 // of the policies
	maxChange      = 300
)

// Question asks the person of v.Step, who typed approve, whether they mean it. A
// reply of yes to it confirms.
func Question(v View, s Settings) Message {
	f := newFace(v.Row, s)
	t := &text{}
	f.question(t, v)
	yes, within := code(show(string(wordWord))), own(words(lasting(s.Confirm.Window)))
	if v.Step == nil {
		t.line(wordReplyYes, yes, within)
	} else {
		t.line(wordYouReply, plain(short(v.Step.Name, maxName)), yes, within)
	}
	t.gap()
	t.line(wordSmall, ref(v.Row))
	return t.message(nil)
}

// LapseNotice says that row lapsed. It is posted as a reply to the card.
func LapseNotice(row *approval.Row, s Settings) Message {
	f := newFace(row, s)
	t := &text{}
	t.line(wordNotice, bold(f.title))
	t.line(wordLapsed, ref(row))
	return t.message(nil)
}

// SharedLapse says that many lapsed in one chat at once: total of them, of which
// it names the first 20 of rows.
func SharedLapse(rows []*approval.Row, total int, s Settings) Message {
	t := &text{}
	t.line(wordLapsedMany, number(total))
	named := min(len(rows), maxNamed)
	for _, row := range rows[:named] {
		t.line(wordItem, ref(row), bold(listed(row, s)))
	}
	if more := total - named; more > 0 {
		t.line(wordMore, number(more), own("/pending"))
	}
	return t.message(nil)
}

// Reminder says once, at now, that row is still open shortly before its deadline.
func Reminder(row *approval.Row, now time.Time, s Settings) Message {
	f := newFace(row, s)
	t := &text{}
	t.line(wordReminder, bold(f.title))
	t.line(wordStillOpen, ref(row), own(words(lasting(row.ExpiresAt.Sub(now)))), s.when(row.ExpiresAt, moment))
	return t.message(nil)
}

// RanUnapproved warns that a runtime reported outcome for an approval that was
// never approved.
func RanUnapproved(row *approval.Row, outcome approval.State, s Settings) Message {
	f := newFace(row, s)
	t := &text{}
	runtime := show("?")
	if row.Request != nil && row.Request.Runtime != "" {
		runtime = short(row.Request.Runtime, maxRuntime)
	}
	t.line(wordRan, bold(f.title))
	t.line(wordRanWhat, ref(row), code(show(string(outcome))), code(runtime))
	return t.message(nil)
}

// Looser tells an owner what the operator's configuration allows that it did not
// before, one sentence each.
func Looser(what []string, s Settings) Message {
	t := &text{}
	t.line(wordLooser)
	named := min(len(what), maxChanges)
	for _, w := range what[:named] {
		t.line(wordLooserOne, plain(short(w, maxChange)))
	}
	if more := len(what) - named; more > 0 {
		t.line(wordLooserMore, number(more))
	}
	return t.message(nil)
}

// Tampered tells an owner that the seal of row does not hold: that it was refused
// for it, or was changed after it was answered.
func Tampered(row *approval.Row, s Settings) Message {
	t := &text{}
	said := wordTamperOne
	if row.State != approval.Refused {
		said = wordTamperLate
	}
	t.line(said, code(short(row.ID, maxListedTitle)))
	return t.message(nil)
}

// Here points at the card it is sent as a reply to.
func Here() Message { return Note(string(wordHere)) }

// Unknown answers a word or command that names nothing known here. Its command
// can be tapped.
func Unknown() Message {
	t := &text{}
	t.line(toastUnknown)
	return t.message(nil)
}

// Note is a reply of nothing but a short text made in this package.
func Note(s string) Message {
	t := &text{}
	t.line("{}", plain(shown(cut(s, maxUnits/2))))
	return t.message(nil)
}

// ref names row by its short reference.
func ref(row *approval.Row) piece { return own(words(Neutral(row.Ref))) }

// listed is the title of row where many are named.
func listed(row *approval.Row, s Settings) shown {
	title := row.Title()
	if !sealHolds(row) {
		title = row.ID
	}
	return short(s.hide(title), maxListedTitle)
}

// lasting says how long d is, in the largest units that fit.
func lasting(d time.Duration) string {
	switch d = max(d, 0); {
	case d < 2*time.Minute:
		return fill(wordSeconds, count(int(d/time.Second)))
	case d < 2*time.Hour:
		return fill(wordMinutes, count(int(d/time.Minute)))
	}
	return fill(wordHours, count(int(d/time.Hour)), count(int(d%time.Hour/time.Minute)))
}
