package page

import (
	"net/http"
	"strings"

	"countersign/simulator"
	"countersign/simulator/entities"
)

// maxText is how long a message can be, in UTF-16 code units.
const maxText = 4096

// send writes a message as somebody.
func (p *page) send(w http.ResponseWriter, r *http.Request) {
	var body struct {
		As      int64  `json:"as"`
		Chat    int64  `json:"chat"`
		Thread  int64  `json:"thread"`
		ReplyTo int64  `json:"reply_to"`
		Text    string `json:"text"`
	}
	if !decode(w, r, &body) {
		return
	}
	who := p.person(body.As)
	text := strings.TrimSpace(body.Text)
	switch {
	case who == nil:
		fail(w, http.StatusBadRequest, "as must be the id of one of the people")
		return
	case text == "":
		fail(w, http.StatusBadRequest, "text is empty")
		return
	case entities.UTF16Len(text) > maxText:
		fail(w, http.StatusBadRequest, "text is longer than 4096 characters")
		return
	case !p.sees(body.As, body.Chat):
		fail(w, http.StatusForbidden, "this person is not in that chat")
		return
	}
	m, err := who.Post(simulator.Draft{Chat: body.Chat, Thread: body.Thread, ReplyTo: body.ReplyTo, Text: text})
	if err != nil {
		fail(w, http.StatusConflict, err.Error())
		return
	}
	reply(w, http.StatusOK, m)
}

// tap taps a button as somebody. Its answer comes by the stream.
func (p *page) tap(w http.ResponseWriter, r *http.Request) {
	var body struct {
		As      int64  `json:"as"`
		Chat    int64  `json:"chat"`
		Message int64  `json:"message"`
		Data    string `json:"data"`
	}
	if !decode(w, r, &body) {
		return
	}
	who := p.person(body.As)
	switch {
	case who == nil:
		fail(w, http.StatusBadRequest, "as must be the id of one of the people")
		return
	case !p.sees(body.As, body.Chat):
		fail(w, http.StatusForbidden, "this person is not in that chat")
		return
	}
	id, err := who.Press(simulator.Press{Chat: body.Chat, Message: body.Message, Data: &body.Data})
	if err != nil {
		fail(w, http.StatusConflict, err.Error())
		return
	}
	reply(w, http.StatusOK, struct {
		Callback string `json:"callback"`
	}{id})
}

// sees reports whether a person can open a chat. A direct chat is there as soon as the
// person writes in it.
func (p *page) sees(person, chat int64) bool {
	if chat == person {
		return true
	}
	for _, c := range p.server.Snapshot(person, 1).Chats {
		if c.Chat.ID == chat {
			return true
		}
	}
	return false
}

// sample lets a runtime publish a request.
func (p *page) sample(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Sample string `json:"sample"`
	}
	if !decode(w, r, &body) {
		return
	}
	for _, s := range p.runtimes.Samples() {
		if s.Name != body.Sample {
			continue
		}
		if err := p.runtimes.Press(r.Context(), s.Name); err != nil {
			fail(w, http.StatusConflict, err.Error())
			return
		}
		reply(w, http.StatusAccepted, struct{}{})
		return
	}
	fail(w, http.StatusNotFound, "there is no such sample")
}
