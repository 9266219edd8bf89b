package page

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"countersign/simulator"
)

// A Snapshot is everything that the page shows to a person.
type Snapshot struct {
	Position string               `json:"position"` // the id of the event behind which it stands
	Epoch    string               `json:"epoch"`    // of this server; message ids mean something in it only
	Viewer   simulator.User       `json:"viewer"`
	Bot      simulator.User       `json:"bot"`
	Chats    []simulator.ChatView `json:"chats"`
	People   []Person             `json:"people"`
	Samples  []Sample             `json:"samples"`
	Entries  []Entry              `json:"entries"` // oldest first
	Board    Board                `json:"board"`
}

// A position is how much of a server a client has seen.
type position struct {
	epoch   string
	changes uint64
	entries uint64
}

// String is the id of an event.
func (p position) String() string {
	return fmt.Sprintf("%s.%d.%d", p.epoch, p.changes, p.entries)
}

// parsePosition reads an id that a client brings. What is no id is the zero position,
// which is of no server.
func parsePosition(id string) position {
	parts := strings.Split(id, ".")
	if len(parts) != 3 {
		return position{}
	}
	changes, err1 := strconv.ParseUint(parts[1], 10, 64)
	entries, err2 := strconv.ParseUint(parts[2], 10, 64)
	if err1 != nil || err2 != nil {
		return position{}
	}
	return position{parts[0], changes, entries}
}

// snapshot shows a person everything, and how far that reaches.
func (p *page) snapshot(viewer int64) (Snapshot, position) {
	entries, _ := p.runtimes.Log(0)
	at := position{epoch: p.epoch}
	if n := len(entries); n > 0 {
		at.entries = entries[n-1].Seq
	}
	board, _ := p.faults.Board()
	seen := p.server.Snapshot(viewer, shownMessages)
	at.changes = seen.Seq
	return Snapshot{
		Position: at.String(), Epoch: p.epoch,
		Viewer: seen.Viewer, Bot: seen.Bot, Chats: seen.Chats,
		People: notNil(p.runtimes.People()), Samples: notNil(p.runtimes.Samples()), Entries: notNil(entries),
		Board: board.filled(),
	}, at
}

// notNil makes JSON write an empty list as one.
func notNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

func (p *page) serveSnapshot(w http.ResponseWriter, r *http.Request) {
	viewer, ok := p.viewer(w, r)
	if !ok {
		return
	}
	s, _ := p.snapshot(viewer)
	reply(w, http.StatusOK, s)
}

// viewer reads who is looking; without a word about it, that is the first of the people.
// If it is nobody, it answers the request and reports false.
func (p *page) viewer(w http.ResponseWriter, r *http.Request) (id int64, ok bool) {
	as := r.URL.Query().Get("as")
	if people := p.runtimes.People(); as == "" && len(people) > 0 {
		return people[0].ID, true
	}
	id, err := strconv.ParseInt(as, 10, 64)
	if err != nil || p.person(id) == nil {
		fail(w, http.StatusBadRequest, "as must be the id of one of the people")
		return 0, false
	}
	return id, true
}

// person returns the handle of somebody whom the user can be, or nil.
func (p *page) person(id int64) *simulator.Person {
	if !slices.ContainsFunc(p.runtimes.People(), func(o Person) bool { return o.ID == id }) {
		return nil
	}
	return p.server.Person(id)
}
