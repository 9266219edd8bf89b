package approval

import (
	"encoding/json"
	"slices"
	"time"
)

// State is where an approval stands.
type State string

// The states, in the order of an approval's life.
const (
	Requested State = "requested" // before there is a row; only in the audit
	Open      State = "open"
	Approved  State = "approved"
	Rejected  State = "rejected"
	Lapsed    State = "lapsed"
	Withdrawn State = "withdrawn"
	Refused   State = "refused"
	Claimed   State = "claimed"
	Executed  State = "executed"
	Failed    State = "failed"
	Partial   State = "partial"
	Undone    State = "undone"
)

// WasApproved reports whether a row in this state had been approved.
func (s State) WasApproved() bool {
	switch s {
	case Approved, Claimed, Executed, Failed, Partial, Undone:
		return true
	}
	return false
}

// Decision is the answer to a request.
type Decision string

// The decisions. Each is also the state a row has right after it.
const (
	DecisionApproved  Decision = "approved"
	DecisionRejected  Decision = "rejected"
	DecisionLapsed    Decision = "lapsed"
	DecisionWithdrawn Decision = "withdrawn"
	DecisionRefused   Decision = "refused"
)

// A Chat is a place where cards are shown. Thread is 0 outside topics.
type Chat struct {
	ID     int64 `json:"id"`
	Thread int   `json:"thread,omitempty"`
}

// A Row is the durable record of one approval, as read from Redis. Times have
// millisecond precision and are by Redis's clock.
type Row struct {
	ID        string
	State     State
	Ref       string // five characters, unique among living approvals
	Rev       int64  // rises with every change of row, step or votes
	Stream    string // the inbound stream it came by
	Terms     string
	Pin       string
	OpenedAt  time.Time
	ExpiresAt time.Time
	Owners    []int64 // who may answer, fixed when the row opened
	Quorum    int     // how many different owners must approve
	Chats     []Chat  // where its cards go, fixed when the row opened
	Tier      string  // the derived risk word, "" if none was derived

	// Raw is the request's data, byte for byte; nil for a refused row.
	Raw []byte
	// Request is Raw decoded; nil for a refused row.
	Request *Request

	Answer   *Answer // nil while open
	AnswerAt time.Time
	Claim    *ClaimRecord
	Report   *Report // the last one taken, nil before
	ReportAt time.Time
	// UndoUntil is when the undo offer ends, zero if there is none.
	UndoUntil time.Time
	Undo      *By // who asked for the undo, nil before
	// Seal says whether the row is as it was opened and answered. Where it is not,
	// nothing of it may be shown or approved.
	Seal Seal
	// Forgotten is when its text was forgotten, at the operator's word; zero: it was not.
	Forgotten time.Time
	// Quiet lists chats that get no card or notice of their own, because a
	// shared notice speaks for this approval there.
	Quiet []int64
}

// OwnedBy reports whether id was fixed as one who may answer.
func (r *Row) OwnedBy(id int64) bool { return slices.Contains(r.Owners, id) }

// Title is the card's title, or the id where none could be read or the seal does
// not hold.
func (r *Row) Title() string {
	if r.Request == nil || !r.Seal.Good() {
		return r.ID
	}
	return r.Request.Card.Title
}

// Action is the action as words: the card's action, or the title.
func (r *Row) Action() string {
	if r.Request == nil || !r.Seal.Good() {
		return r.ID
	}
	if r.Request.Card.Action != "" {
		return r.Request.Card.Action
	}
	return r.Request.Card.Title
}

// RefusedBySeal reports whether it was refused because its seal did not hold.
func (r *Row) RefusedBySeal() bool {
	if r.Answer == nil || r.State != Refused {
		return false // an owner's own words may begin with anything
	}
	code := ReasonCode(r.Answer.Reason)
	return code == CodeTampered || code == CodeUnsealed
}

// CanUndo reports whether an undo may be asked for at now.
func (r *Row) CanUndo(now time.Time) bool {
	switch r.State {
	case Executed, Partial:
	default:
		return false
	}
	return r.Seal.Good() && r.Request != nil && r.Request.Card.UndoTool != "" && r.Undo == nil && now.Before(r.UndoUntil)
}

// A ClaimRecord says who claimed an approval, and when.
type ClaimRecord struct {
	By  string
	At  time.Time
	Pin string
}

// A Step is an open confirm step: one owner was asked whether they mean it.
type Step struct {
	By       int64
	Name     string
	Rev      int64     // the row's revision at which it was opened; Yes must name it
	OpenedAt time.Time // the window counts from here
	Chat     int64     // where it was opened
	CardID   string    // the card it was opened on; "" when opened where no card stands
	// ShownAt is when the edit that showed it on the card succeeded; zero
	// before. The dwell counts from here.
	ShownAt time.Time
	// Question is the message that asked for a typed yes, 0 if none was sent.
	Question     int
	QuestionChat int64 // the chat it was sent to
}

// Surface is where an answer came from.
type Surface string

// The surfaces.
const (
	Telegram Surface = "telegram"
	CLI      Surface = "cli"
	Policy   Surface = "policy"
	Sweeper  Surface = "sweeper"
	Runtime  Surface = "runtime"
	Intake   Surface = "intake"
)

// By says who or what decided. It is never empty in an answer.
type By struct {
	Surface Surface `json:"surface"`
	ID      string  `json:"id"` // a Telegram user id in decimal, a system user, a policy
	Name    string  `json:"name,omitempty"`
	Chat    int64   `json:"chat_id,omitempty"`
	Message int     `json:"message_id,omitempty"`
	Method  string  `json:"method,omitempty"` // button or typed
}

// Methods of answering in Telegram.
const (
	Button = "button"
	Typed  = "typed"
)

// A Vote is one owner's approval under a quorum.
type Vote struct {
	By   By        `json:"by"`
	User int64     `json:"user"`
	At   time.Time `json:"at"`
}

// A Report says what a runtime did with an approval.
type Report struct {
	ID        string     `json:"approval_id"`
	Outcome   State      `json:"outcome"` // executed, failed, partial or undone
	Results   []Result   `json:"results,omitempty"`
	Message   string     `json:"message,omitempty"`
	UndoUntil *time.Time `json:"undo_until,omitempty"`
}

// A Result is the fate of one item line, counted from 1.
type Result struct {
	Line   int    `json:"line"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail,omitempty"`
}

// A Withdrawal says that a runtime no longer asks.
type Withdrawal struct {
	ID     string
	Reason string
}

// A ClaimEvent is the claim's own word that it happened.
type ClaimEvent struct {
	ID  string
	Pin string
	By  string
}

// Shown says how many item lines a card had shown in full to a person.
type Shown struct {
	Lines int `json:"lines"`
	Of    int `json:"of"`
}

// An Answer is the data of an approval.answered event.
type Answer struct {
	ID          string
	Runtime     string
	RunID       string
	Decision    Decision
	Terms       string
	Pin         string
	Calls       []Call // nil where none could be read
	Context     json.RawMessage
	Reason      string
	Observation string
	By          By
	Approvals   []By // under a quorum, every By that approved, in order
	Shown       *Shown
	At          time.Time
}
