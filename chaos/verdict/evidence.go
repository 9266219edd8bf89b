package verdict

import (
	"fmt"
	"regexp"
	"time"
)

// Evidence is everything a run leaves behind. Times are by one clock.
type Evidence struct {
	Seed   uint64
	Dwell  time.Duration
	Window time.Duration
	// Slack is how far apart two logs of one moment may be.
	Slack  time.Duration
	Began  time.Time
	Calm   time.Time // when the last fault was taken away
	Ended  time.Time
	Owners []int64 // everybody who may answer something

	// What people and runtimes did.
	Asked     []Asked
	Taps      []Tap
	Words     []Word
	Operator  []Order
	Claims    []Claim
	Reports   []Report
	Told      []Told
	Deletions []Place // messages that people deleted
	Out       []int64 // chats that the bot cannot write to at the end

	// What was done to the bots.
	Strikes []Strike

	// What Telegram saw.
	Calls    []Call
	Messages []Message // of the bot, as they stand, deleted ones as they last stood
	Answered map[string]Toast

	// What Redis keeps.
	Rows    map[string]map[string]string // by approval
	Answers []Event                      // of all
	Own     map[string][]Event           // by approval
	Held    map[string]map[string]string // claims, by approval
	Cards   []Card
	Dead    []DeadLetter

	// Left is what was still to do when the run ended, in words.
	Left []string
	// Said are lines of the bots' logs that must not be there.
	Said []string
}

// Asked is one approval, as its runtime asked for it.
type Asked struct {
	ID      string
	Halt    bool
	Runtime string
	Chats   []int64
	Owners  []int64 // who may answer
	Quorum  int
	Data    string // of the request, as published
	Terms   string
	Pin     string
	Undo    bool // it can be undone
	// Malformed says that it breaks a rule.
	Malformed bool
	// Published counts how often Redis took it, Unclear how often nobody knows.
	Published, Unclear int
	// Others counts requests of other terms under this id that Redis took.
	Others int
	// Withdrawn counts how often it was withdrawn, taken or unclear.
	Withdrawn int
	// Shown counts how often somebody asked to see it again, by chat.
	Shown map[int64]int
}

// Tap is a tap on a button.
type Tap struct {
	ID      string // of the callback query
	By      int64
	Chat    int64
	Message int64
	Data    string
	At      time.Time
	Forged  bool // the button was not there
}

// Word is a message that somebody wrote.
type Word struct {
	By       int64
	Chat     int64
	Message  int64
	ReplyTo  int64
	Approval string // which it is about, as its writer saw it
	Text     string
	At       time.Time
}

// Order is an answer at the command line.
type Order struct {
	ID, Decision string
	At           time.Time
	Done         bool // the command said so
}

// Results of a claim, beside the code of a refusal.
const (
	Granted = "ok"
	Unclear = "unclear" // the connection broke
)

// Claim is an attempt to claim.
type Claim struct {
	ID, By, Pin string
	Result      string
	At          time.Time
}

// Report is a report, in the order in which its runtime made it.
type Report struct {
	ID      string
	Outcome string
	Message string // tells it from the others
	Taken   bool   // Redis said so
}

// Told is what a runtime read as the answer to its request.
type Told struct {
	ID, Entry, Data string
}

// Place is a message in a chat.
type Place struct{ Chat, Message int64 }

// Strike is something that was done to one bot, or to all of them.
type Strike struct {
	Kind  string
	Bot   int // -1: all
	From  time.Time
	Until time.Time
}

// Call is one call of the Bot API.
type Call struct {
	Bot      int
	Method   string
	From     time.Time
	Until    time.Time
	Chat     int64
	Message  int64  // edited, or sent
	Callback string // answered
	Approval string // named in the text
	Kind     string // of what is sent or edited: see the kinds of messages
	Badge    string // its first line
	Buttons  []string
	// Applied says that Telegram did it; OK that the bot was told so; Late that it
	// was an answer to a tap that Telegram no longer took.
	Applied, OK, Late bool
	// Out says that Telegram refused it because the bot is out of the chat.
	Out bool
	// Carried are the callback queries that getUpdates handed over, or a webhook
	// delivery.
	Carried []string
}

// Kinds of messages.
const (
	ACard     = "card"
	ANotice   = "notice"
	AReminder = "reminder"
	AShared   = "shared notice"
	AWord     = "word"
)

// Message is a message of the bot.
type Message struct {
	Chat, ID int64
	Kind     string
	Approval string
	Text     string
	Buttons  []string
	Deleted  bool
}

// Toast is the answer to a tap.
type Toast struct {
	Text string
	At   time.Time
}

// Event is an entry of an answer stream.
type Event struct {
	Entry, Type, Subject, Data string
}

// Card is what the bot remembers of a card.
type Card struct {
	ID       string
	Approval string
	Chat     int64
	Message  int64 // 0: none was recorded
	Copies   []int64
	Failed   string
	Retired  bool
	Reader   bool
}

// DeadLetter is an entry that was set aside.
type DeadLetter struct {
	Reason string
	ID     string // the approval it names, if it does
}

// Violation is a broken promise.
type Violation struct {
	Promise string // which, in a word
	ID      string // the approval or tap
	Text    string
}

// String says it in one line.
func (v Violation) String() string { return fmt.Sprintf("%s: %s: %s", v.Promise, v.ID, v.Text) }

// title is how titles name their approval.
var title = regexp.MustCompile(`\bc[0-9]{5}\b`)

// ApprovalIn finds the approval that a text names, "" if none.
func ApprovalIn(text string) string { return title.FindString(text) }
