package verdict_test

import (
	"fmt"
	"strconv"
	"time"

	"countersign/chaos/verdict"
)

const (
	ann  = 1001
	olga = 1003
	sam  = 1004
	team = -100
)

// noon is when the run of these tests began; everything in it is so many seconds
// later.
func noon(seconds float64) time.Time {
	return time.UnixMilli(1_800_000_000_000).Add(time.Duration(seconds * float64(time.Second)))
}

func ms(seconds float64) string { return fmt.Sprint(noon(seconds).UnixMilli()) }

// good is a run in which every promise was kept, with one approval of each kind.
func good() *verdict.Evidence {
	e := &verdict.Evidence{
		Dwell: 300 * time.Millisecond, Window: 20 * time.Second, Slack: 50 * time.Millisecond,
		Began: noon(0), Calm: noon(60), Ended: noon(90), Owners: []int64{ann, olga},
		Answered: map[string]verdict.Toast{}, Rows: map[string]map[string]string{}, Own: map[string][]verdict.Event{},
		Held: map[string]map[string]string{},
	}
	b := book{e}
	b.approved()
	b.rejected()
	b.lapsed()
	b.withdrawn()
	b.malformed()
	b.typed()
	b.quorum()
	b.operator()
	b.halt()
	b.shared()
	return e
}

// A book writes evidence.
type book struct{ *verdict.Evidence }

// ask enters a request, and the card it got in each chat, 1 s in.
func (b book) ask(id string, chats []int64, change ...func(*verdict.Asked)) {
	a := verdict.Asked{
		ID: id, Chats: chats, Owners: []int64{ann, olga}, Quorum: 1, Data: "data of " + id, Terms: "terms of " + id, Pin: "pin of " + id,
		Published: 1, Shown: map[int64]int{},
	}
	for _, c := range change {
		c(&a)
	}
	b.Asked = append(b.Asked, a)
	b.Rows[id] = map[string]string{
		"state": "open", "terms": a.Terms, "pin": a.Pin, "request": a.Data, "opened_at": ms(0.5), "expires_at": ms(50), "rev": "1",
	}
	for i, chat := range chats {
		cid := fmt.Sprintf("%s-%d", id, i)
		b.Cards = append(b.Cards, verdict.Card{ID: cid, Approval: id, Chat: chat, Message: b.message(id, chat)})
		b.send(id, chat, verdict.ACard, "🔴 Deletes data", "a"+cid+".1", "r"+cid+".1")
	}
}

// message is the id of an approval's card in a chat.
func (b book) message(id string, chat int64) int64 {
	n, err := strconv.ParseInt(id[1:], 10, 64)
	if err != nil {
		panic(err)
	}
	return n*10 + (chat & 1)
}

// send is a call that sent something, 1 s in.
func (b book) send(id string, chat int64, kind, badge string, buttons ...string) {
	b.Calls = append(b.Calls, verdict.Call{
		Method: "sendMessage", From: noon(1), Until: noon(1.1), Chat: chat, Message: b.message(id, chat), Approval: id,
		Kind: kind, Badge: badge, Buttons: buttons, Applied: true, OK: true,
	})
}

// edit is a call that edited a card.
func (b book) edit(at float64, id string, chat int64, badge string, buttons ...string) {
	b.Calls = append(b.Calls, verdict.Call{
		Method: "editMessageText", From: noon(at), Until: noon(at + 0.1), Chat: chat, Message: b.message(id, chat), Approval: id,
		Kind: verdict.ACard, Badge: badge, Buttons: buttons, Applied: true, OK: true,
	})
}

// tap is a tap that was answered.
func (b book) tap(at float64, who, chat int64, id, data string) {
	t := verdict.Tap{ID: fmt.Sprintf("q%d", len(b.Taps)), By: who, Chat: chat, Message: b.message(id, chat), Data: data, At: noon(at)}
	b.Taps = append(b.Taps, t)
	b.Calls = append(b.Calls,
		verdict.Call{Method: "getUpdates", From: noon(at), Until: noon(at + 0.1), OK: true, Carried: []string{t.ID}},
		verdict.Call{Method: "answerCallbackQuery", From: noon(at + 0.1), Until: noon(at + 0.2), Callback: t.ID, Applied: true, OK: true})
	b.Answered[t.ID] = verdict.Toast{Text: "Approved.", At: noon(at + 0.2)}
}

func (b book) word(at float64, who, chat int64, id, text string) {
	b.Words = append(b.Words, verdict.Word{By: who, Chat: chat, Approval: id, Text: text, At: noon(at)})
}

// end answers an approval: the row, both streams, and every card.
func (b book) end(at float64, id, state, decision, by, badge string) {
	data := fmt.Sprintf(`{"approval_id":%q,"decision":%q,"approved":%v,"terms":"terms of %s","pin":"pin of %s",%s}`,
		id, decision, decision == "approved", id, id, by)
	row := b.Rows[id]
	row["state"], row["answer"], row["answered_at"] = state, data, ms(at)
	event := verdict.Event{Entry: ms(at) + "-0", Type: "approval.answered", Subject: id, Data: data}
	b.Answers = append(b.Answers, event)
	b.Own[id] = append(b.Own[id], event)
	b.Told = append(b.Told, verdict.Told{ID: id, Data: data})
	for _, c := range b.Cards {
		if c.Approval == id {
			b.edit(at+0.2, id, c.Chat, badge, "e"+c.ID+".9")
			b.Messages = append(b.Messages, verdict.Message{
				Chat: c.Chat, ID: c.Message, Kind: verdict.ACard, Approval: id, Buttons: []string{"e" + c.ID + ".9"},
				Text: badge + "\nTrash the mail of " + id + "\n" + map[string]string{"executed": "✔️ Done", "undone": "↩️ Undone"}[state],
			})
		}
	}
}

const byAnn = `"by":{"surface":"telegram","id":"1001","name":"Ann","method":"button"}`

// confirm taps the action and, after the dwell, Yes.
func (b book) confirm(at float64, who, chat int64, id, cid string) {
	b.tap(at, who, chat, id, "a"+cid+".1")
	yes := fmt.Sprintf("y%s.%d", cid, int(at))
	b.edit(at+0.5, id, chat, "🔴 Deletes data", "c"+cid+".2", "r"+cid+".1", yes)
	b.tap(at+1.5, who, chat, id, yes)
}

func (b book) approved() {
	const id = "c00001"
	b.ask(id, []int64{ann, team}, func(a *verdict.Asked) { a.Undo = true })
	b.confirm(2, ann, ann, id, id+"-0")
	b.end(3.6, id, "undone", "approved", byAnn, "✅ Approved by Ann · 12:00")
	b.Claims = append(b.Claims,
		verdict.Claim{ID: id, By: "one", Pin: "pin of " + id, Result: verdict.Granted, At: noon(4)},
		verdict.Claim{ID: id, By: "two", Pin: "pin of " + id, Result: "already_claimed", At: noon(4)})
	b.Held[id] = map[string]string{"by": "one", "at": ms(4), "pin": "pin of " + id}
	b.Reports = append(b.Reports,
		verdict.Report{ID: id, Outcome: "executed", Message: "report 0 of " + id, Taken: true},
		verdict.Report{ID: id, Outcome: "undone", Message: "report 1 of " + id, Taken: true})
	b.edit(5, id, ann, "✅ Approved by Ann · 12:00", "u"+id+"-0.5")
	b.tap(6, ann, ann, id, "u"+id+"-0.5")
	b.Own[id] = append(b.Own[id], verdict.Event{Entry: ms(6.2) + "-0", Type: "approval.undo_requested", Subject: id, Data: "{}"})
	b.Answers = append(b.Answers, b.Own[id][1])
	row := b.Rows[id]
	row["report"], row["undo"] = `{"outcome":"undone","message":"report 1 of c00001"}`, "{}"
}

func (b book) rejected() {
	const id = "c00002"
	b.ask(id, []int64{team})
	b.tap(2, sam, team, id, "a"+id+"-0.1") // a stranger, in vain
	b.tap(3, olga, team, id, "r"+id+"-0.1")
	b.end(3.2, id, "rejected", "rejected", `"by":{"surface":"telegram","id":"1003","name":"Olga","method":"button"}`, "❌ Rejected by Olga · 12:00")
}

func (b book) lapsed() {
	const id = "c00003"
	b.ask(id, []int64{ann})
	b.end(50.4, id, "lapsed", "lapsed", `"by":{"surface":"sweeper","id":"sweeper"}`, "⌛ Lapsed · 12:00")
	b.send(id, ann, verdict.ANotice, "⌛ Trash the mail of "+id)
	b.Messages = append(b.Messages, verdict.Message{Chat: ann, ID: 900, Kind: verdict.ANotice, Approval: id, Text: "⌛ Trash the mail of " + id + "\nlapsed unanswered"})
}

func (b book) withdrawn() {
	const id = "c00004"
	b.ask(id, []int64{ann}, func(a *verdict.Asked) { a.Withdrawn = 1 })
	b.end(5, id, "withdrawn", "withdrawn", `"by":{"surface":"runtime","id":"x"}`, "↩️ Withdrawn · 12:00")
}

func (b book) malformed() {
	const id = "c00005"
	b.ask(id, nil, func(a *verdict.Asked) { a.Malformed = true })
	b.end(1, id, "refused", "refused", `"reason":"invalid: card.title is required","by":{"surface":"intake","id":"intake"}`, "")
}

func (b book) typed() {
	const id = "c00006"
	b.ask(id, []int64{team}, func(a *verdict.Asked) { a.Others = 1 })
	b.Dead = append(b.Dead, verdict.DeadLetter{Reason: "terms_differ", ID: id})
	b.word(2, olga, team, id, "/approve K7QF2")
	b.word(4, olga, team, id, "Yes!")
	b.end(4.2, id, "approved", "approved", `"by":{"surface":"telegram","id":"1003","name":"Olga","method":"typed"}`, "✅ Approved by Olga · 12:00")
}

func (b book) quorum() {
	const id = "c00007"
	b.ask(id, []int64{team}, func(a *verdict.Asked) { a.Quorum = 2 })
	b.confirm(2, ann, team, id, id+"-0")
	b.confirm(6, olga, team, id, id+"-0")
	b.end(7.6, id, "approved", "approved",
		`"approvals":[{"surface":"telegram","id":"1001","name":"Ann","method":"button"},{"surface":"telegram","id":"1003","name":"Olga","method":"button"}],`+
			`"by":{"surface":"telegram","id":"1003","name":"Olga","method":"button"}`, "✅ Approved by Olga · 12:00")
}

func (b book) operator() {
	const id = "c00008"
	b.ask(id, []int64{ann})
	b.Operator = append(b.Operator, verdict.Order{ID: id, Decision: "approved", At: noon(3), Done: true})
	b.end(3.4, id, "approved", "approved", `"by":{"surface":"cli","id":"root","name":"root"}`, "✅ Approved by root at the command line · 12:00")
}

func (b book) halt() {
	const id = "c00009"
	b.ask(id, []int64{ann}, func(a *verdict.Asked) { a.Halt = true })
	b.tap(2, ann, ann, id, "a"+id+"-0.1")
	b.end(2.2, id, "approved", "approved", byAnn, "✅ Approved by Ann · 12:00")
}

func (b book) shared() {
	const id = "c00010"
	b.ask(id, []int64{ann})
	b.Rows[id]["quiet"] = "[1001]"
	b.end(50.4, id, "lapsed", "lapsed", `"by":{"surface":"sweeper","id":"sweeper"}`, "⌛ Lapsed · 12:00")
	b.Messages = append(b.Messages, verdict.Message{Chat: ann, ID: 901, Kind: verdict.AShared, Text: "⌛ 30 approvals lapsed unanswered"})
}
