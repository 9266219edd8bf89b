package simulator_test

import (
	"encoding/json"
	"strings"
	"time"

	"countersign/simulator"
)

// Parameters of calls, and the ways to the known errors.

func say(text string) params { return params{"chat_id": annID, "text": text} }

func html(text string) params    { return params{"chat_id": annID, "text": text, "parse_mode": "HTML"} }
func with(p, more params) params { return merge(p, more) }
func markup(v any) params        { return params{"reply_markup": v} }
func oneButton(b params) params  { return markup(params{"inline_keyboard": [][]params{{b}}}) }
func inThread(thread int64) params {
	return params{"chat_id": forumID, "text": "x", "message_thread_id": thread}
}

func merge(list ...params) params {
	out := params{}
	for _, p := range list {
		for name, v := range p {
			out[name] = v
		}
	}
	return out
}

// sending provokes an error by a sendMessage alone.
func sending(p params) func(*world) answer {
	return func(w *world) answer { return w.call("sendMessage", p) }
}

// writing provokes an error by a message to a chat, in a state that is set up first.
func writing(chat int64, setUp func(*world)) func(*world) answer {
	return func(w *world) answer {
		setUp(w)
		return w.call("sendMessage", params{"chat_id": chat, "text": "x"})
	}
}

const (
	groupID   = -77
	channelID = -1001000000003
)

func editLong(w *world) answer {
	m := w.send(annID, "x")
	return w.call("editMessageText", params{"chat_id": annID, "message_id": m.MessageID, "text": strings.Repeat("x", 4097)})
}

func editWith(more params) func(*world) answer {
	return func(w *world) answer {
		m := w.send(annID, "x")
		return w.call("editMessageText", merge(say("x"), params{"message_id": m.MessageID}, more))
	}
}

func editDeleted(w *world) answer {
	m := w.send(annID, "x")
	w.Delete(m)
	return w.call("editMessageText", with(say("y"), params{"message_id": m.MessageID}))
}

func editForeign(w *world) answer {
	m := w.ann.Send(annID, "mine")
	return w.call("editMessageText", with(say("y"), params{"message_id": m.MessageID}))
}

func (w *world) document(caption string) answer {
	w.t.Helper()
	m, err := w.ann.Post(simulator.Draft{Chat: annID, Document: "a.txt", Content: []byte("x")})
	if err != nil {
		w.t.Fatal(err)
	}
	return w.call("sendDocument", params{"chat_id": annID, "document": m.Document.FileID, "caption": caption})
}

func editDocument(w *world) answer {
	var m simulator.Message
	if err := json.Unmarshal(w.document("").Result, &m); err != nil {
		w.t.Fatal(err)
	}
	return w.call("editMessageText", with(say("y"), params{"message_id": m.MessageID}))
}

func longCaption(w *world) answer { return w.document(strings.Repeat("x", 1025)) }

func manyButtons(w *world) answer {
	row := []params{}
	for range 101 {
		row = append(row, params{"text": "a", "callback_data": "b"})
	}
	rows := [][]params{}
	for i := 0; i < len(row); i++ {
		rows = append(rows, row[i:i+1])
	}
	return w.call("sendMessage", with(say("x"), markup(params{"inline_keyboard": rows})))
}

func deleteTwice(w *world) answer {
	m := w.send(annID, "x")
	p := params{"chat_id": annID, "message_id": m.MessageID}
	must[bool](w, "deleteMessage", p)
	return w.call("deleteMessage", p)
}

func deleteOld(w *world) answer {
	m := w.send(annID, "x")
	w.clock.Advance(48 * time.Hour)
	return w.call("deleteMessage", params{"chat_id": annID, "message_id": m.MessageID})
}

func replyToDeleted(w *world) answer {
	m := w.send(annID, "x")
	w.Delete(m)
	return w.call("sendMessage", with(say("y"), params{"reply_parameters": params{"message_id": m.MessageID}}))
}

func answerLate(w *world) answer {
	id := w.ann.Tap(w.send(annID, "x", keyboard("a")), "a")
	w.clock.Advance(simulator.DefaultAnswerWithin + time.Second)
	return w.call("answerCallbackQuery", params{"callback_query_id": id})
}

func closedTopic(w *world) answer {
	thread := w.forum.AddTopic("Deploys")
	w.forum.SetTopicClosed(thread, true)
	return w.call("sendMessage", inThread(thread))
}

func settingWebhook(p params) func(*world) answer {
	return func(w *world) answer { return w.call("setWebhook", p) }
}

func bigFile(w *world) answer {
	m, err := w.ann.Post(simulator.Draft{Chat: annID, Document: "big", Content: make([]byte, 20<<20+1)})
	if err != nil {
		w.t.Fatal(err)
	}
	return w.call("getFile", params{"file_id": m.Document.FileID})
}

func afterLogOut(w *world) answer {
	must[bool](w, "logOut", nil)
	return w.call("getMe", nil)
}

// visiting asks for a path that is no call of the bot.
func visiting(path string) func(*world) answer {
	return func(w *world) answer {
		w.t.Helper()
		response, err := w.Client().Get("http://simulator" + path)
		if err != nil {
			w.t.Fatal(err)
		}
		defer response.Body.Close()
		a := answer{Status: response.StatusCode}
		if err := json.NewDecoder(response.Body).Decode(&a); err != nil {
			w.t.Fatal(err)
		}
		return a
	}
}

// whilePolling returns what a held poll is told when something else happens.
func whilePolling(happens func(*world)) func(*world) answer {
	return func(w *world) answer {
		done := make(chan answer, 1)
		go func() {
			a, err := w.try(w.t.Context(), "getUpdates", params{"offset": 2, "timeout": 50})
			if err != nil {
				w.t.Error(err)
			}
			done <- a
		}()
		if err := w.Wait(w.t.Context(), w.Polling); err != nil {
			w.t.Fatal(err)
		}
		happens(w)
		return <-done
	}
}

func pollWithWebhook(w *world) answer {
	must[bool](w, "setWebhook", params{"url": "https://example.com/"})
	return w.call("getUpdates", nil)
}

func tooMany(w *world) answer {
	w.send(annID, "x")
	a := w.call("sendMessage", say("y"))
	if got := a.Header.Get("Retry-After"); got != "14" {
		w.t.Errorf("Retry-After is %q", got)
	}
	return a
}

func faulty(f simulator.Fault) func(*world) answer {
	return func(w *world) answer {
		w.Fault(f)
		return w.call("sendMessage", say("x"))
	}
}
