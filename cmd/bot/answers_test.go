//go:build !race

// The race detector would take minutes, and meets the same code in other tests.

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"countersign/approval"
	"countersign/config"
	"countersign/queue"
	"countersign/simulator"
)

// A saying is one of the answers with which Telegram says no.
type saying struct {
	Code        int                   `json:"error_code"`
	Description string                `json:"description"`
	Methods     []string              `json:"methods"` // that it is known of; none: any
	Parameters  *simulator.Parameters `json:"parameters"`
}

func (s saying) fault(method string, chat int64) simulator.Fault {
	return simulator.Fault{Method: method, Chat: chat, Code: s.Code, Description: s.Description, Parameters: s.Parameters}
}

// sayings are all answers that are known.
func sayings(t *testing.T) []saying {
	t.Helper()
	data, err := os.ReadFile("../../simulator/data/telegram-errors.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Errors []saying }
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	return file.Errors
}

// A course is what a saying leads to.
type course string

const (
	waits    course = "the same is tried again, ever more seldom, until it is taken"
	plain    course = "the same goes without formatting"
	out      course = "the chat is out"
	moves    course = "the card follows the group"
	mainChat course = "the card goes to the main chat" // of a forum
	bare     course = "the message goes as no reply"
	anew     course = "a new card is sent"
	taken    course = "that is success"
	tooOld   course = "nobody waits for the answer any more"
	dead     course = "the token is refused"
)

// courses tell by the words of a saying what it leads to; all others wait. They
// are written down here once more, by hand, so that a change of what words mean
// does not go unseen.
var courses = map[course][]string{
	plain: {"can't parse entities:", "text is too long", "entities too long"},
	out: {
		"chat not found", "PEER_ID_INVALID", "group is deactivated", "bot was blocked", "USER_IS_BLOCKED", "user is deactivated",
		"can't initiate conversation", "can't send messages to the bot", "bot was kicked", "bot is not a member", "group chat was deleted",
	},
	moves:    {"upgraded to a supergroup"},
	mainChat: {"thread not found", "TOPIC_CLOSED"},
	bare:     {"message to be replied not found"},
	anew:     {"message to edit not found", "message can't be edited", "no text in the message to edit", "MESSAGE_ID_INVALID"},
	taken:    {"message is not modified"},
	tooOld:   {"query is too old"},
	dead:     {"Unauthorized", "Misdirected Request", "Logged out"},
}

func (s saying) course() course {
	if s.Description == "Not Found" {
		return dead
	}
	for c, all := range courses {
		for _, words := range all {
			if strings.Contains(s.Description, words) {
				return c
			}
		}
	}
	return waits
}

// trials are how an answer is met, by the method that gets it.
var trials = map[string]func(w *bubble, s saying){
	"sendMessage":         sendRefused,
	"editMessageText":     editRefused,
	"answerCallbackQuery": answerRefused,
	"sendDocument":        documentRefused,
	"getUpdates":          pollRefused,
	"getMe":               nameRefused,
	"setWebhook":          hookRefused,
}

// unused are methods that the bot never calls, so that what they are told cannot
// reach it.
var unused = []string{"deleteMessage", "getFile", "editMessageReplyMarkup"}

// TestEveryAnswerOfTelegram has every call that gets an answer which says no, as
// Telegram is known to give it, get it for minutes: the card ends right, or the
// chat is out and what is asked only there is refused, or the program ends and
// says why; and nothing is tried without end.
func TestEveryAnswerOfTelegram(t *testing.T) {
	t.Parallel()
	all := sayings(t)
	if len(all) < 66 {
		t.Fatalf("%d answers are known, want all 66", len(all))
	}
	for _, s := range all {
		methods := s.Methods
		if i := slices.Index(methods, "sendMediaGroup"); i >= 0 {
			methods = []string{"sendMessage"} // the same may be said of any message
		}
		if len(methods) == 0 {
			for method := range trials {
				methods = append(methods, method)
			}
		}
		for _, method := range methods {
			if slices.Contains(unused, method) {
				continue
			}
			trial := trials[method]
			if trial == nil {
				t.Errorf("nothing tries %q with %s", s.Description, method)
				continue
			}
			t.Run(fmt.Sprint(method, " ", s.Code, " ", s.Description), func(t *testing.T) {
				t.Parallel()
				inBubble(t, func(w *bubble) {
					trial(w, s)
					if n := len(w.sim.Calls(unused...)); n != 0 {
						t.Errorf("%d calls of what is never called", n)
					}
				}, answersConfig)
			})
		}
	}
}

const (
	oldGroup   = -77
	topicForum = -1001000000009
)

func answersConfig(c *config.Config) {
	c.Routes = slices.Insert(c.Routes, 0,
		config.RouteRule{Match: config.Match{Runtime: "old"}, Chats: []config.Chat{{ID: oldGroup}}, Quorum: 1},
		config.RouteRule{Match: config.Match{Runtime: "topic"}, Chats: []config.Chat{{ID: topicForum, Thread: 2}}, Quorum: 1},
	)
}

const (
	refusedFor = 3 * time.Minute // how long an answer is given
	triesAtOne = 16              // that many calls within it are seldom enough: one card makes at most ten
)

// greeted runs a bot, until it has answered those who said /start before.
func (w *bubble) greeted() *running {
	r := w.run("one", &life{})
	w.pass(2 * time.Second)
	return r
}

// bounded wants no more than so many calls of a method since a moment.
func (w *bubble) bounded(method string, since time.Time, most int) {
	w.Helper()
	n := 0
	for _, c := range w.sim.Calls(method) {
		if !c.At.Before(since) {
			n++
		}
	}
	if n > most {
		w.Errorf("%d calls of %s, want at most %d", n, method, most)
		for _, c := range w.sim.Calls(method) {
			w.Log(c.At, c)
		}
	}
}

// refused wants an approval to be refused since it can be asked nowhere.
func (w *bubble) refused(id string) {
	w.Helper()
	w.until(5*time.Second, id+" is refused", func() bool { return w.row(id).State == approval.Refused })
	w.once(id, "refused")
	if a := string(w.row(id).Answer); !strings.Contains(a, `"reason":"unreachable: `) {
		w.Errorf("the answer is %s, want one that says unreachable", a)
	}
}

// sendRefused: Ann's chat takes no message. What is asked there alone, and what is
// asked elsewhere too.
func sendRefused(w *bubble, s saying) {
	switch s.course() {
	case moves:
		w.sim.AddGroup(oldGroup, "Old", w.ann)
		w.sim.Fault(s.fault("sendMessage", oldGroup))
		w.greeted()
		w.ask("a1", "old", time.Hour)
		w.ann.Tap(w.has(10*time.Second, teamID, "a1", "Reject"), "Reject")
		w.says(5*time.Second, teamID, "a1", "Rejected by Ann")
		return
	case mainChat:
		w.sim.AddForum(topicForum, "Forum", w.ann).AddTopic("Deploys")
		f := s.fault("sendMessage", topicForum)
		f.When = func(c simulator.Call) bool { return c.Int("message_thread_id") != 0 }
		w.sim.Fault(f)
		w.greeted()
		w.ask("a1", "topic", time.Hour)
		w.ann.Tap(w.has(10*time.Second, topicForum, "a1", "Reject"), "Reject")
		w.says(5*time.Second, topicForum, "a1", "Rejected by Ann")
		return
	case bare:
		f := s.fault("sendMessage", annID)
		f.When = func(c simulator.Call) bool { return c.Params["reply_parameters"] != nil }
		w.greeted()
		given := w.sim.Fault(f)
		w.ask("a1", "iris", 30*time.Second)
		w.until(time.Minute, "a notice", func() bool {
			all := w.sim.BotMessages(annID)
			last := all[len(all)-1]
			return last.ReplyToMessage == nil && strings.Contains(last.Text, "lapsed")
		})
		if given.Hits() != 1 {
			w.Errorf("tried %d times as a reply, want once", given.Hits())
		}
		w.says(time.Second, annID, "a1", "Lapsed")
		return
	}
	f := s.fault("sendMessage", annID)
	if s.course() == plain {
		f.When = func(c simulator.Call) bool { return c.Text("parse_mode") != "" }
	}
	w.greeted()
	given := w.sim.Fault(f)
	began := time.Now()
	w.ask("a1", "iris", time.Hour)
	w.ask("b1", "both", time.Hour)
	w.has(5*time.Second, teamID, "b1", "Trash it")
	switch s.course() {
	case plain:
		w.has(5*time.Second, annID, "a1", "Trash it")
	case out:
		w.refused("a1")
		w.pass(refusedFor)
		w.bounded("sendMessage", began, 5) // once more with the outcome
		w.state("b1", approval.Open)
		m, _ := w.card(teamID, "b1")
		w.ann.Tap(m, "Reject")
		w.says(5*time.Second, teamID, "b1", "Rejected by Ann")
		return
	default:
		w.pass(refusedFor)
		w.bounded("sendMessage", began, 2*triesAtOne)
		w.state("a1", approval.Open)
		given.Remove()
	}
	w.has(2*time.Minute, annID, "a1", "Trash it")
	w.has(2*time.Minute, annID, "b1", "Trash it")
	w.confirms("a1")
	w.once("a1", "approved")
	if n := len(w.cards(annID, "a1")); n != 1 {
		w.Errorf("%d cards, want one", n)
	}
}

// editRefused: a card in Ann's chat cannot be changed when the approval ends.
func editRefused(w *bubble, s saying) {
	chat, runtime := int64(annID), "both"
	if s.course() == moves {
		chat, runtime = oldGroup, "old"
		w.sim.AddGroup(oldGroup, "Old", w.ann)
	}
	w.greeted()
	w.ask("b1", runtime, time.Hour)
	m := w.has(5*time.Second, chat, "b1", "Trash it")
	f := s.fault("editMessageText", chat)
	switch s.course() {
	case plain:
		f.When = func(c simulator.Call) bool { return c.Text("parse_mode") != "" }
	case taken:
		f.Applied = true
	}
	given := w.sim.Fault(f)
	w.pass(time.Second)
	began := time.Now()
	tap := w.ann.Tap(m, "Reject")
	w.until(5*time.Second, "b1 is rejected", func() bool { return w.row("b1").State == approval.Rejected })
	if runtime == "both" {
		w.says(5*time.Second, teamID, "b1", "Rejected by Ann")
	}
	w.once("b1", "rejected")
	if _, ok := w.sim.Answer(tap); !ok {
		w.Error("the tap was not answered")
	}
	switch s.course() {
	case plain, anew, taken:
		w.says(10*time.Second, annID, "b1", "Rejected by Ann")
	case moves:
		w.says(10*time.Second, teamID, "b1", "Rejected by Ann")
	}
	w.pass(refusedFor)
	w.bounded("editMessageText", began, triesAtOne)
	w.bounded("sendMessage", began, 2)
	given.Remove()
	switch s.course() {
	case out: // nothing more is said there, but who taps is told
		tap := w.ann.Tap(m, "Trash it")
		w.pass(time.Second)
		if a, ok := w.sim.Answer(tap); !ok || !strings.Contains(a.Text, "rejected") {
			w.Errorf("a tap on the old card was answered %q", a.Text)
		}
	case moves:
	default:
		w.says(10*time.Minute, annID, "b1", "Rejected by Ann")
		last, _ := w.card(annID, "b1")
		if _, open := last.Button("Reject"); open {
			w.Error("the card can still be answered")
		}
	}
	w.once("b1", "rejected")
}

// answerRefused: taps cannot be answered.
func answerRefused(w *bubble, s saying) {
	w.greeted()
	w.ask("b1", "both", time.Hour)
	w.ask("a1", "iris", time.Hour)
	m := w.has(5*time.Second, annID, "b1", "Trash it")
	w.has(5*time.Second, annID, "a1", "Trash it")
	w.sim.Fault(s.fault("answerCallbackQuery", 0))
	began := time.Now()
	w.ann.Tap(m, "Reject")
	w.says(5*time.Second, annID, "b1", "Rejected by Ann")
	w.says(5*time.Second, teamID, "b1", "Rejected by Ann")
	w.confirms("a1")
	w.pass(refusedFor)
	w.once("b1", "rejected")
	w.once("a1", "approved")
	w.bounded("answerCallbackQuery", began, 3*3)
}

// documentRefused: the file that somebody asked for is not taken.
func documentRefused(w *bubble, s saying) {
	w.run("one", &life{})
	long := map[string]any{
		"approval_id": "a1", "runtime": "iris", "tool": "trash", "arguments": map[string]any{"id": strings.Repeat("long ", 2000)},
		"expires_in": 3600, "card": map[string]any{"title": "Trash a1", "action": "Trash it"},
	}
	data, err := json.Marshal(long)
	w.ok(err)
	_, err = w.client.Request(context.Background(), queue.Request{Data: data, NoCheck: true})
	w.ok(err)
	m := w.has(5*time.Second, annID, "a1", "Exact call")
	given := w.sim.Fault(s.fault("sendDocument", annID))
	began := time.Now()
	w.ann.Tap(m, "Exact call")
	w.pass(refusedFor)
	w.bounded("sendDocument", began, 4)
	w.state("a1", approval.Open)
	given.Remove()
	w.confirms("a1")
	w.once("a1", "approved")
}
