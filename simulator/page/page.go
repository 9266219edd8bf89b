package page

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"countersign/simulator"
)

// Runtimes are the programs that ask for approval, as far as the page shows them, and
// the people whom its user can be. All methods are called from several goroutines.
type Runtimes interface {
	// People returns who can be chosen, in the order in which they are offered. It does
	// not change.
	People() []Person
	// Samples returns the requests that can be pressed, in order. It does not change.
	Samples() []Sample
	// Press lets a runtime publish a sample. It returns as soon as that is done, or with
	// an error for the person who pressed.
	Press(ctx context.Context, sample string) error
	// Log returns the entries after a sequence number, oldest first, and a channel that
	// is closed when there may be more.
	Log(after uint64) ([]Entry, <-chan struct{})
}

// A Person is somebody whom the user of the page can be.
type Person struct {
	ID   int64  `json:"id"`   // an account of the simulator
	Name string `json:"name"` // as the simulator has it
	Role string `json:"role"` // what the bot takes the person for, in a word or two
}

// A Sample is a request that can be pressed.
type Sample struct {
	Name  string `json:"name"` // names it to Press
	Title string `json:"title"`
	Hint  string `json:"hint"` // what there is to see, in a sentence
}

// Steps of a sample.
const (
	StepPublished = "published" // the request is in its stream
	StepWaiting   = "waiting"   // for the answer
	StepAnswered  = "answered"  // Data is that of the answer event
	StepClaimed   = "claimed"   // the approved call is the runtime's
	StepReported  = "reported"  // what happened was reported
	StepUndo      = "undo"      // the owner asked for it to be undone
	StepFailed    = "failed"    // the runtime cannot go on; Note says why
)

// An Entry is one step that a runtime took or saw.
type Entry struct {
	Seq     uint64          `json:"seq"` // from 1, rising by 1
	At      time.Time       `json:"at"`
	Sample  string          `json:"sample"`
	ID      string          `json:"approval_id,omitempty"`
	Step    string          `json:"step"`
	Note    string          `json:"note"`              // one plain sentence
	Data    json.RawMessage `json:"data,omitempty"`    // of the event sent or received
	Command string          `json:"command,omitempty"` // what would have done the same in a shell
}

// shownMessages is how many messages of a chat a snapshot holds.
const shownMessages = 300

// page is the handler's state, which never changes.
type page struct {
	server   *simulator.Server
	runtimes Runtimes
	faults   Faults
	epoch    string // names this server among those that a browser has known
}

// New returns the handler of the page. It wants the root of a server of its own; the Bot
// API stays where the simulator serves it. Without faults there are none to press.
func New(s *simulator.Server, r Runtimes, f Faults) http.Handler {
	if f == nil {
		f = noFaults{}
	}
	p := &page{server: s, runtimes: r, faults: f, epoch: epochOf(s)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", serveIndex)
	mux.HandleFunc("GET /static/{name}", serveStatic)
	mux.HandleFunc("GET /api/snapshot", p.serveSnapshot)
	mux.HandleFunc("GET /api/events", p.serveEvents)
	mux.HandleFunc("GET /api/file/{chat}/{message}", p.serveFile)
	mux.HandleFunc("POST /api/send", p.send)
	mux.HandleFunc("POST /api/tap", p.tap)
	mux.HandleFunc("POST /api/sample", p.sample)
	mux.HandleFunc("POST /api/fault", p.fault)
	return guard(mux)
}

// epochOf tells servers apart by the time of the first thing that happened in them.
func epochOf(s *simulator.Server) string {
	changes, _ := s.Changes(0)
	if len(changes) == 0 {
		return "0"
	}
	return strconv.FormatInt(changes[0].At.UnixNano(), 36)
}
