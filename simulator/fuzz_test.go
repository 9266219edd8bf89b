package simulator_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"countersign/simulator"
)

// Whatever a call holds, it is carried out or refused: no panic, no error of ours, and
// nothing that the Bot API does not describe comes back.
func FuzzCall(f *testing.F) {
	for _, seed := range []struct{ method, body string }{
		{"sendMessage", `{"chat_id":1001,"text":"<b>x</b>","parse_mode":"HTML"}`},
		{"sendMessage", `{"chat_id":-1001000000002,"text":"x","message_thread_id":1}`},
		{"sendMessage", `{"chat_id":1001,"text":"@ann /x #y","entities":[{"type":"code","offset":0,"length":4}]}`},
		{"sendMessage", `{"chat_id":1001,"text":"x","reply_markup":{"inline_keyboard":[[{"text":"a","callback_data":"b"}]]}}`},
		{"sendMessage", `{"chat_id":1001,"text":"x","reply_parameters":{"message_id":2,"quote":"card"}}`},
		{"editMessageText", `{"chat_id":1001,"message_id":2,"text":"y"}`},
		{"editMessageReplyMarkup", `{"chat_id":1001,"message_id":2,"reply_markup":{"inline_keyboard":[]}}`},
		{"editMessageCaption", `{"chat_id":1001,"message_id":2,"caption":"y"}`},
		{"deleteMessage", `{"chat_id":1001,"message_id":2}`},
		{"answerCallbackQuery", `{"callback_query_id":"1","text":"x"}`},
		{"setMyCommands", `{"commands":[{"command":"a","description":"b"}],"scope":{"type":"chat","chat_id":1001}}`},
		{"sendDocument", `{"chat_id":1001,"document":"file-1"}`},
		{"pinChatMessage", `{"chat_id":1001,"message_id":2}`},
		{"getChatMember", `{"chat_id":-1001000000001,"user_id":1001}`},
		{"createForumTopic", `{"chat_id":-1001000000002,"name":"x"}`},
		{"getMe", `{}`},
	} {
		f.Add(seed.method, seed.body)
	}
	f.Fuzz(func(t *testing.T, method, body string) {
		switch strings.ToLower(method) {
		case "getupdates", "setwebhook", "logout":
			return // they wait, or end the conversation
		}
		w := newWorld(t)
		w.send(annID, "card", keyboard("a"))
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://simulator", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		request.URL.Path = "/bot" + w.Token() + "/" + method
		request.Header.Set("Content-Type", "application/json")
		response, err := w.Client().Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		var a answer
		if err := json.NewDecoder(response.Body).Decode(&a); err != nil {
			t.Fatal(err)
		}
		if a.OK {
			w.checkResult(method, a.Result)
		}
		if a.ErrorCode == 500 {
			t.Errorf("%s", a.Description)
		}
		if got := w.Calls(); a.ErrorCode == 400 && got[len(got)-1].Class == simulator.OK {
			t.Errorf("a refused call is logged as if it were ok: %v", got[len(got)-1])
		}
	})
}
