package page

import (
	"context"
	"net/http"
	"time"
)

// Faults are the troubles that the user of the page can bring about, and how everything
// behind it fares. All methods are called from several goroutines.
type Faults interface {
	// Board returns how things are now, and a channel that is closed when that has
	// changed. Until then it returns the same channel.
	Board() (Board, <-chan struct{})
	// Begin brings a fault about; one that is there already stays. The error is for the
	// person who pressed.
	Begin(ctx context.Context, fault string) error
	// End takes a fault away; one that is not there stays away.
	End(ctx context.Context, fault string) error
}

// A Board says how everything behind the page is.
type Board struct {
	Parts  []Part      `json:"parts"`
	Faults []Fault     `json:"faults"`
	Behind []Behind    `json:"behind"` // what has to be caught up with; empty if nothing
	Log    []Happening `json:"log"`    // oldest first
}

// A Part is what a fault can strike: the bot, for example.
type Part struct {
	Name  string    `json:"name"`
	State string    `json:"state"` // in a few words
	OK    bool      `json:"ok"`
	Until time.Time `json:"until,omitzero"` // when that ends by itself
}

// A Fault is a trouble that can be pressed.
type Fault struct {
	Name    string    `json:"name"` // names it to Begin and End
	Title   string    `json:"title"`
	Hint    string    `json:"hint"`              // what there is to see, in a sentence or two
	Ending  string    `json:"ending,omitempty"`  // the title of its end; empty: it ends by itself
	Command string    `json:"command,omitempty"` // what would do the same in a shell
	On      bool      `json:"on"`
	Until   time.Time `json:"until,omitzero"` // when it ends by itself
}

// A Behind is how many of something wait.
type Behind struct {
	What  string `json:"what"` // in the number that fits: "card", "cards"
	Count int    `json:"count"`
}

// A Happening is what befell a part.
type Happening struct {
	At   time.Time `json:"at"`
	Text string    `json:"text"` // one plain sentence
}

// noFaults is the page of a program that offers none.
type noFaults struct{}

func (noFaults) Board() (Board, <-chan struct{}) { return Board{}, nil }

func (noFaults) Begin(context.Context, string) error { return nil }

func (noFaults) End(context.Context, string) error { return nil }

// fault brings a fault about, or ends it.
func (p *page) fault(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Fault string `json:"fault"`
		End   bool   `json:"end"`
	}
	if !decode(w, r, &body) {
		return
	}
	board, _ := p.faults.Board()
	for _, f := range board.Faults {
		if f.Name != body.Fault {
			continue
		}
		act := p.faults.Begin
		if body.End {
			act = p.faults.End
		}
		if err := act(r.Context(), f.Name); err != nil {
			fail(w, http.StatusConflict, err.Error())
			return
		}
		reply(w, http.StatusAccepted, struct{}{})
		return
	}
	fail(w, http.StatusNotFound, "there is no such fault")
}

// filled makes JSON write empty lists as such.
func (b Board) filled() Board {
	b.Parts, b.Faults, b.Behind, b.Log = notNil(b.Parts), notNil(b.Faults), notNil(b.Behind), notNil(b.Log)
	return b
}

// board sends how things are, unless the client has been told.
func (s *stream) board() (<-chan struct{}, error) {
	board, turned := s.faults.Board()
	if turned == s.told {
		return turned, nil
	}
	s.told = turned
	return turned, s.send("board", board.filled())
}
