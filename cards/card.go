package cards

import (
	"time"

	"countersign/approval"
)

// A Button is one key of an inline keyboard.
type Button struct {
	Text  string // never empty, ≤ 64 characters
	Data  string // callback data, 1–64 bytes; see [Press]
	Style string // "danger", "primary" or "" for the app's own
}

// A Message is what is sent or edited: HTML for Telegram's parser, Plain for
// when that parser refuses, and the keyboard, which is nil if there is none.
type Message struct {
	HTML     string
	Plain    string // the text that HTML stands for; sent alone it needs one pre entity over all of it, or Telegram links what it finds
	Units    int    // length of Plain in UTF-16 units, ≤ 4,096
	Entities int    // formatted runs in HTML, ≤ 100
	Keyboard [][]Button
}

// Settings is what the configuration says about cards. The zero value works:
// UTC, plain times, no masking, the words approve and reject.
type Settings struct {
	Confirm  approval.Confirm
	Location *time.Location // for times that Telegram cannot show in the reader's own zone; nil is UTC
	TimeTag  bool           // the server knows <tg-time>
	Redact   bool           // mask what looks like a secret

	// Layouts remembers how long lists were laid out; nil remembers nothing.
	Layouts *Layouts

	ApproveWord string   // the word a card tells people to reply; "" is approve
	RejectWord  string   // "" is reject
	ReplyWords  []string // every reply word; none may seem to begin an action button
}

func (s Settings) approveWord() string {
	if s.ApproveWord == "" {
		return "approve"
	}
	return s.ApproveWord
}

func (s Settings) rejectWord() string {
	if s.RejectWord == "" {
		return "reject"
	}
	return s.RejectWord
}

func (s Settings) location() *time.Location {
	if s.Location == nil {
		return time.UTC
	}
	return s.Location
}

// A View is one card of an approval at one moment.
type View struct {
	Row    *approval.Row
	Step   *approval.Step  // the open confirm step, or nil; the caller has judged its window by Now
	Votes  []approval.Vote // the votes that count, in order
	CardID string          // this card's random id, 1–22 characters of base64url
	Page   int             // 0-based; beyond the last page it is the last
	Exact  bool            // the exact call is shown
	Reader bool            // a reader's copy: nothing to decide
	// Retired says that the card was posted again below: no buttons, and no
	// content before the end.
	Retired bool
	// Astray says that the card stands in the main chat, because its topic is gone
	// or closed.
	Astray bool
	// Opened of OfLines lines were shown in full to the person who is confirming.
	Opened, OfLines int
	// Short is how many owners are left to vote where the quorum can no longer
	// be reached: 0 means that it can, -1 that nobody is left.
	Short int
	Now   time.Time
}

// over reports whether the approval has its answer.
func (v View) over() bool { return v.Row.State != approval.Open }

// decidable reports whether this card may carry deciding buttons.
func (v View) decidable() bool { return !v.over() && !v.Reader && !v.Retired }

// Card draws v.
func Card(v View, s Settings) Message {
	f := newFace(v.Row, s)
	t := &text{}
	size := roomUsual + len(f.title) + len(f.asked) + len(f.why)
	if p := f.page(v.Page); p.last > 0 {
		for _, line := range f.lines()[p.first:p.last] {
			size += len(line) + len("\n1000. ")
		}
	}
	t.plain.Grow(size)
	t.html.Grow(size + roomMarkup)
	switch {
	case v.Retired && !v.over():
		t.line(wordRetired)
		t.line("{}", bold(f.title))
		return t.message(nil)
	case v.over():
		f.outcome(t, v)
	default:
		t.line(badge(v.Row))
	}
	t.line("{}", bold(f.title))
	f.body(t, v)
	f.small(t, v)
	if !v.over() {
		f.standing(t, v)
	} else {
		f.aftermath(t, v)
	}
	return t.message(f.keyboard(v))
}
