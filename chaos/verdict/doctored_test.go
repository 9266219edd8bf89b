package verdict_test

import (
	"strings"
	"time"

	"countersign/chaos/verdict"
)

// A forgery is evidence of one broken promise.
type forgery struct {
	name, promise, id string
	doctor            func(e *verdict.Evidence)
}

func doctored() []forgery {
	return []forgery{
		{"the row is gone", "lost", "c00001", func(e *verdict.Evidence) { delete(e.Rows, "c00001") }},
		{"the row is open still", "lost", "c00003", func(e *verdict.Evidence) {
			e.Rows["c00003"]["state"] = "open"
			delete(e.Rows["c00003"], "answer")
		}},
		{"no answer on its own stream", "one answer", "c00002", func(e *verdict.Evidence) { e.Own["c00002"] = nil }},
		{"two answers on its own stream", "one answer", "c00002", func(e *verdict.Evidence) {
			e.Own["c00002"] = append(e.Own["c00002"], e.Own["c00002"][0])
		}},
		{"two answers on the stream of all", "one answer", "c00001", func(e *verdict.Evidence) { e.Answers = append(e.Answers, e.Answers[0]) }},
		{"no answer on the stream of all", "one answer", "c00001", func(e *verdict.Evidence) { e.Answers = e.Answers[1:] }},
		{"the stream says another thing than the row", "one answer", "c00004", func(e *verdict.Evidence) {
			e.Own["c00004"][0].Data = strings.Replace(e.Own["c00004"][0].Data, "withdrawn", "rejected", 1)
		}},
		{"the row has another state than its answer", "one answer", "c00002", func(e *verdict.Evidence) { e.Rows["c00002"]["state"] = "approved" }},
		{"approved is true in a rejection", "one answer", "c00002", func(e *verdict.Evidence) {
			answer(e, "c00002", `"approved":false`, `"approved":true`)
		}},
		{"an answer to somebody else", "one answer", "c00002", func(e *verdict.Evidence) { answer(e, "c00002", `:"c00002"`, `:"c00001"`) }},
		{"a row that nobody asked for", "one answer", "c00077", func(e *verdict.Evidence) { e.Rows["c00077"] = map[string]string{"state": "lapsed"} }},
		{"an answer that nobody asked for", "one answer", "c00077", func(e *verdict.Evidence) {
			e.Answers = append(e.Answers, verdict.Event{Type: "approval.answered", Subject: "c00077"})
		}},
		{"a row of a request that was never taken", "one answer", "c00003", func(e *verdict.Evidence) { asked(e, "c00003").Published = 0 }},

		{"other terms in the row", "terms", "c00001", func(e *verdict.Evidence) { e.Rows["c00001"]["terms"] = "others" }},
		{"another pin in the row", "terms", "c00001", func(e *verdict.Evidence) { e.Rows["c00001"]["pin"] = "others" }},
		{"another request in the row", "terms", "c00001", func(e *verdict.Evidence) { e.Rows["c00001"]["request"] += " " }},
		{"other terms in the answer", "terms", "c00001", func(e *verdict.Evidence) { answer(e, "c00001", "terms of", "others of") }},

		{"approved without a tap on Yes", "approved by right", "c00001", func(e *verdict.Evidence) { dropTap(e, 'y', "c00001") }},
		{"approved without a tap on the action", "approved by right", "c00001", func(e *verdict.Evidence) { dropTap(e, 'a', "c00001") }},
		{"Yes tapped by somebody else", "approved by right", "c00001", func(e *verdict.Evidence) { tapOf(e, 'y', "c00001").By = olga }},
		{"the action tapped by somebody else", "approved by right", "c00001", func(e *verdict.Evidence) { tapOf(e, 'a', "c00001").By = olga }},
		{"a Yes that no card showed", "approved by right", "c00001", func(e *verdict.Evidence) { callWith(e, tapOf(e, 'y', "c00001").Data).Applied = false }},
		{"a Yes that was shown later", "approved by right", "c00001", func(e *verdict.Evidence) {
			callWith(e, tapOf(e, 'y', "c00001").Data).From = noon(3.55)
		}},
		{"the Yes of another approval's card", "approved by right", "c00001", func(e *verdict.Evidence) {
			tapOf(e, 'y', "c00001").Data = tapOf(e, 'y', "c00007").Data
		}},
		{"Yes before the dwell", "approved by right", "c00001", func(e *verdict.Evidence) { e.Rows["c00001"]["answered_at"] = ms(2.7) }},
		{"Yes after the window", "approved by right", "c00001", func(e *verdict.Evidence) { e.Rows["c00001"]["answered_at"] = ms(23) }},
		{"approved by a stranger", "approved by right", "c00001", func(e *verdict.Evidence) {
			for i := range e.Taps {
				if e.Taps[i].By == ann {
					e.Taps[i].By = sam
				}
			}
			answer(e, "c00001", `"1001"`, `"1004"`)
		}},
		{"approved by nobody known", "approved by right", "c00001", func(e *verdict.Evidence) { answer(e, "c00001", `"telegram"`, `"policy"`) }},
		{"approved at the deadline", "in time", "c00001", func(e *verdict.Evidence) { e.Rows["c00001"]["expires_at"] = ms(3.6) }},
		{"rejected after the deadline", "in time", "c00002", func(e *verdict.Evidence) { e.Rows["c00002"]["expires_at"] = ms(3) }},
		{"approved by a word alone", "approved by right", "c00006", func(e *verdict.Evidence) { e.Words = e.Words[:1] }},
		{"approved by a yes alone", "approved by right", "c00006", func(e *verdict.Evidence) { e.Words = e.Words[1:] }},
		{"approved by somebody else's yes", "approved by right", "c00006", func(e *verdict.Evidence) { e.Words[1].By = ann }},
		{"a quorum of one", "approved by right", "c00007", func(e *verdict.Evidence) {
			answer(e, "c00007", `{"surface":"telegram","id":"1001","name":"Ann","method":"button"},`, "")
		}},
		{"a quorum of one person twice", "approved by right", "c00007", func(e *verdict.Evidence) {
			answer(e, "c00007", `"id":"1001","name":"Ann"`, `"id":"1003","name":"Olga"`)
		}},
		{"a vote without a Yes", "approved by right", "c00007", func(e *verdict.Evidence) { dropTap(e, 'y', "c00007") }},
		{"the operator approved nothing", "approved by right", "c00008", func(e *verdict.Evidence) { e.Operator = nil }},
		{"the operator rejected", "approved by right", "c00008", func(e *verdict.Evidence) { e.Operator[0].Decision = "rejected" }},
		{"a halt without a tap", "approved by right", "c00009", func(e *verdict.Evidence) { dropTap(e, 'a', "c00009") }},
		{"a halt by a forged button", "approved by right", "c00009", func(e *verdict.Evidence) { tapOf(e, 'a', "c00009").Data = "ac00009-0.7" }},
		{"rejected without a tap", "rejected by right", "c00002", func(e *verdict.Evidence) { dropTap(e, 'r', "c00002") }},
		{"rejected by a stranger", "rejected by right", "c00002", func(e *verdict.Evidence) {
			tapOf(e, 'r', "c00002").By = sam
			answer(e, "c00002", `"1003"`, `"1004"`)
		}},
		{"lapsed too soon", "lapsed when due", "c00003", func(e *verdict.Evidence) { e.Rows["c00003"]["answered_at"] = ms(49) }},
		{"withdrawn by nobody", "withdrawn by right", "c00004", func(e *verdict.Evidence) { asked(e, "c00004").Withdrawn = 0 }},
		{"refused for no reason", "refused by right", "c00005", func(e *verdict.Evidence) { asked(e, "c00005").Malformed = false }},
		{"unreachable, and nothing failed", "refused by right", "c00004", func(e *verdict.Evidence) {
			answer(e, "c00004", "withdrawn", `"refused","reason":"unreachable: Forbidden"`)
			e.Rows["c00004"]["state"] = "refused"
		}},

		{"unreachable, and another approval's card failed", "refused by right", "c00004", func(e *verdict.Evidence) {
			answer(e, "c00004", "withdrawn", `"refused","reason":"unreachable: Forbidden"`)
			e.Rows["c00004"]["state"] = "refused"
			sendOf(e, "c00003").Out = true
		}},
		{"unreachable, and the chat was gone only later", "refused by right", "c00004", func(e *verdict.Evidence) {
			answer(e, "c00004", "withdrawn", `"refused","reason":"unreachable: Forbidden"`)
			e.Rows["c00004"]["state"] = "refused"
			e.Calls = append(e.Calls, verdict.Call{Method: "sendChatAction", Chat: ann, Out: true, From: noon(20)})
		}},
		{"a card says that it is open", "cards", "c00002", func(e *verdict.Evidence) { message(e, "c00002").Text = "🔴 Deletes data\nTrash the mail of c00002" }},
		{"a card names somebody else", "cards", "c00002", func(e *verdict.Evidence) {
			m := message(e, "c00002")
			m.Text = strings.Replace(m.Text, "Olga", "Ann", 1)
		}},
		{"a card says another outcome", "cards", "c00004", func(e *verdict.Evidence) { message(e, "c00004").Text = "⌛ Lapsed · 12:00\nTrash the mail of c00004" }},
		{"a card does not say what became of it", "cards", "c00001", func(e *verdict.Evidence) {
			m := message(e, "c00001")
			m.Text = strings.Replace(m.Text, "Undone", "Running", 1)
		}},
		{"a card still has its buttons", "cards", "c00002", func(e *verdict.Evidence) { message(e, "c00002").Buttons = []string{"rc00002-0.1"} }},
		{"a card offers an undo that is over", "cards", "c00001", func(e *verdict.Evidence) { message(e, "c00001").Buttons = []string{"uc00001-0.5"} }},
		{"a card was given up, and its chat is there again", "cards", "c00001", func(e *verdict.Evidence) {
			card(e, "c00001").Failed = "Forbidden: bot was blocked by the user"
			message(e, "c00001").Text = "🔴 Deletes data"
		}},
		{"a copy of a card stays behind", "cards", "c00002", func(e *verdict.Evidence) {
			e.Messages = append(e.Messages, verdict.Message{Chat: team, ID: 777, Kind: verdict.AWord, Approval: "c00002", Text: "🔴 Deletes data"})
			card(e, "c00002").Copies = []int64{777}
		}},
		{"a card that never was", "cards", "c00002", func(e *verdict.Evidence) { card(e, "c00002").Message = 12345 }},
		{"no card at all", "cards", "c00004", func(e *verdict.Evidence) { card(e, "c00004").Message = 0 }},
		{"a card is another approval's", "cards", "c00002", func(e *verdict.Evidence) { message(e, "c00002").Approval = "c00004" }},
		{"a card once said another outcome", "cards follow rows", "c00002", func(e *verdict.Evidence) { badgeOf(e, "c00002", "✅ Approved by Olga · 12:00") }},
		{"a card knew before the row", "cards follow rows", "c00002", func(e *verdict.Evidence) {
			c := lastCall(e, "c00002")
			c.From, c.Until = noon(2), noon(2.1)
		}},

		{"a second card for no reason", "extra messages", "c00003", func(e *verdict.Evidence) { second(e, nil) }},
		{"a second card, and the kill was another bot's", "extra messages", "c00003", func(e *verdict.Evidence) {
			second(e, nil)
			e.Strikes = append(e.Strikes, verdict.Strike{Kind: "bot.kill", Bot: 1, From: noon(1.2), Until: noon(1.2)})
		}},
		{"a second card, and the kill was much later", "extra messages", "c00003", func(e *verdict.Evidence) {
			second(e, nil)
			e.Strikes = append(e.Strikes, verdict.Strike{Kind: "bot.kill", Bot: 0, From: noon(30), Until: noon(30)})
		}},
		{"a second notice", "extra messages", "c00003", func(e *verdict.Evidence) {
			e.Messages = append(e.Messages, verdict.Message{Chat: ann, ID: 902, Kind: verdict.ANotice, Approval: "c00003", Text: "⌛ c00003"})
		}},
		{"a lapse that nobody was told of", "lapses told", "c00003", func(e *verdict.Evidence) {
			for i, m := range e.Messages {
				if m.Kind == verdict.ANotice {
					e.Messages[i].Kind, e.Messages[i].Approval = verdict.AWord, ""
				}
			}
		}},
		{"a shared notice that was never sent", "lapses told", "c00010", func(e *verdict.Evidence) {
			for i, m := range e.Messages {
				if m.Kind == verdict.AShared {
					e.Messages[i].Kind = verdict.AWord
				}
			}
		}},
		{"told of a lapse that was none", "lapses told", "c00002", func(e *verdict.Evidence) {
			e.Messages = append(e.Messages, verdict.Message{Chat: team, ID: 903, Kind: verdict.ANotice, Approval: "c00002", Text: "⌛ c00002"})
		}},

		{"claimed twice", "claimed once", "c00001", func(e *verdict.Evidence) { e.Claims[1].Result = verdict.Granted }},
		{"claimed with another pin", "claimed once", "c00001", func(e *verdict.Evidence) {
			e.Claims[0].Pin = "others"
			e.Held["c00001"]["pin"] = "others"
		}},
		{"claimed, and Redis has another", "claimed once", "c00001", func(e *verdict.Evidence) { e.Held["c00001"]["by"] = "two" }},
		{"claimed though rejected", "claimed once", "c00002", func(e *verdict.Evidence) {
			e.Claims = append(e.Claims, verdict.Claim{ID: "c00002", By: "x", Pin: "pin of c00002", Result: verdict.Granted})
			e.Held["c00002"] = map[string]string{"by": "x", "pin": "pin of c00002"}
		}},
		{"a claim that nobody made", "claimed once", "c00006", func(e *verdict.Evidence) { e.Held["c00006"] = map[string]string{"by": "x"} }},
		{"a claim that the row does not know", "claimed once", "c00001", func(e *verdict.Evidence) { e.Rows["c00001"]["state"] = "approved" }},
		{"a report was lost", "reports", "c00001", func(e *verdict.Evidence) { delete(e.Rows["c00001"], "report") }},
		{"an older report stands", "reports", "c00001", func(e *verdict.Evidence) { e.Rows["c00001"]["report"] = `{"message":"report 0 of c00001"}` }},
		{"a report that nobody made", "reports", "c00001", func(e *verdict.Evidence) { e.Rows["c00001"]["report"] = `{"message":"boo"}` }},
		{"the row is not what its report says", "reports", "c00001", func(e *verdict.Evidence) { e.Rows["c00001"]["state"] = "failed" }},
		{"undo asked for twice", "undo once", "c00001", func(e *verdict.Evidence) { e.Own["c00001"] = append(e.Own["c00001"], e.Own["c00001"][1]) }},
		{"undo asked for by nobody", "undo once", "c00001", func(e *verdict.Evidence) { dropTap(e, 'u', "c00001") }},
		{"an undo that was not passed on", "undo once", "c00001", func(e *verdict.Evidence) { e.Own["c00001"] = e.Own["c00001"][:1] }},
		{"a runtime was told another thing", "told once", "c00001", func(e *verdict.Evidence) { e.Told[0].Data = "{}" }},

		{"a tap that no bot was given", "taps answered", "q0", func(e *verdict.Evidence) {
			unanswered(e, 0)
			for i := range e.Calls {
				e.Calls[i].Carried = nil
			}
		}},
		{"a tap without an answer", "taps answered", "q0", func(e *verdict.Evidence) { unanswered(e, 0) }},
		{"a tap without an answer, and another bot was killed", "taps answered", "q0", func(e *verdict.Evidence) {
			unanswered(e, 0)
			e.Strikes = append(e.Strikes, verdict.Strike{Kind: "bot.kill", Bot: 1, From: e.Taps[0].At, Until: e.Taps[0].At.Add(time.Second)})
		}},
		{"other terms were not set aside", "set aside", "c00006", func(e *verdict.Evidence) { e.Dead = nil }},
		{"something is left to do", "comes to rest", "-", func(e *verdict.Evidence) { e.Left = []string{"3 approvals are open"} }},
		{"a log holds the token", "logs", "-", func(e *verdict.Evidence) { e.Said = []string{"bot-0.log holds the token"} }},
	}
}

// Where to doctor.

func asked(e *verdict.Evidence, id string) *verdict.Asked {
	for i := range e.Asked {
		if e.Asked[i].ID == id {
			return &e.Asked[i]
		}
	}
	panic("no such approval: " + id)
}

func card(e *verdict.Evidence, id string) *verdict.Card {
	for i := range e.Cards {
		if e.Cards[i].Approval == id {
			return &e.Cards[i]
		}
	}
	panic("no card of " + id)
}

func message(e *verdict.Evidence, id string) *verdict.Message {
	for i := range e.Messages {
		if e.Messages[i].Approval == id {
			return &e.Messages[i]
		}
	}
	panic("no message of " + id)
}

func tapOf(e *verdict.Evidence, letter byte, id string) *verdict.Tap {
	for i, t := range e.Taps {
		if t.Data[0] == letter && strings.HasPrefix(t.Data[1:], id) && t.By != sam {
			return &e.Taps[i]
		}
	}
	panic("no such tap")
}

func dropTap(e *verdict.Evidence, letter byte, id string) { tapOf(e, letter, id).Data = "-" }

func callWith(e *verdict.Evidence, button string) *verdict.Call {
	for i, c := range e.Calls {
		for _, b := range c.Buttons {
			if b == button {
				return &e.Calls[i]
			}
		}
	}
	panic("no call with " + button)
}

// sendOf is the first call that sent an approval's card.
func sendOf(e *verdict.Evidence, id string) *verdict.Call {
	for i, c := range e.Calls {
		if c.Approval == id && c.Method == "sendMessage" {
			return &e.Calls[i]
		}
	}
	panic("no send of " + id)
}

// lastCall is the last one about an approval.
func lastCall(e *verdict.Evidence, id string) *verdict.Call {
	for i := len(e.Calls) - 1; ; i-- {
		if e.Calls[i].Approval == id {
			return &e.Calls[i]
		}
	}
}

func badgeOf(e *verdict.Evidence, id, badge string) { lastCall(e, id).Badge = badge }

// answer changes an approval's answer wherever it stands.
func answer(e *verdict.Evidence, id, old, new string) {
	if old == "withdrawn" {
		old = `"withdrawn"`
	}
	change := func(s string) string { return strings.Replace(s, old, new, 1) }
	e.Rows[id]["answer"] = change(e.Rows[id]["answer"])
	for _, list := range [][]verdict.Event{e.Own[id], e.Answers} {
		for i := range list {
			if list[i].Subject == id {
				list[i].Data = change(list[i].Data)
			}
		}
	}
	for i := range e.Told {
		if e.Told[i].ID == id {
			e.Told[i].Data = change(e.Told[i].Data)
		}
	}
}

// second gives c00003 a second card, and changes the send of the first.
func second(e *verdict.Evidence, change func(*verdict.Call)) {
	m := *message(e, "c00003")
	m.ID += 5000
	e.Messages = append(e.Messages, m)
	if change != nil {
		change(sendOf(e, "c00003"))
	}
}

// unanswered takes the answer to a tap, and every try to give one, away.
func unanswered(e *verdict.Evidence, tap int) {
	id := e.Taps[tap].ID
	delete(e.Answered, id)
	for i := range e.Calls {
		if e.Calls[i].Callback == id {
			e.Calls[i].Callback = ""
		}
	}
}
