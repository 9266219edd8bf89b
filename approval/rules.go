package approval

import "time"

// Confirm is how a confirm step works.
type Confirm struct {
	Window   time.Duration // how long a step stays open
	Dwell    time.Duration // how long a step must have been shown before Yes counts
	OneTap   bool          // a halt is approved by one tap
	NoUnseen bool          // lines not opened refuse the approval
}

// A Verdict is why a person's Yes does not count, or Allowed.
type Verdict string

// The verdicts of [StepAllows].
const (
	Allowed     Verdict = "ok"
	NoStep      Verdict = "no_step"      // none open, or it ended
	OtherPerson Verdict = "other_person" // someone else is confirming
	OldStep     Verdict = "old_step"     // this button belongs to an earlier step
	NotShown    Verdict = "not_shown"    // the edit that shows it has not succeeded yet
	TooSoon     Verdict = "too_soon"     // within the dwell
	WindowOver  Verdict = "window_over"
)

// StepAllows reports whether user's button Yes, drawn at rev on card, counts at
// now. A nil step never allows.
func StepAllows(s *Step, user int64, card string, rev int64, c Confirm, now time.Time) Verdict {
	switch {
	case s == nil:
		return NoStep
	case now.After(s.OpenedAt.Add(c.Window)):
		return WindowOver
	case s.By != user:
		return OtherPerson
	case s.Rev != rev || s.CardID != card:
		return OldStep
	case s.ShownAt.IsZero():
		return NotShown
	case now.Before(s.ShownAt.Add(c.Dwell)):
		return TooSoon
	}
	return Allowed
}

// OpenAt reports whether the step is still open at now.
func (s *Step) OpenAt(now time.Time, window time.Duration) bool {
	return s != nil && !now.After(s.OpenedAt.Add(window))
}
