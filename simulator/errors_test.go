package simulator_test

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"countersign/simulator"
)

// A knownError is an entry of data/telegram-errors.json.
type knownError struct {
	Code        int                   `json:"error_code"`
	Description string                `json:"description"`
	Parameters  *simulator.Parameters `json:"parameters"`
}

func knownErrors(t *testing.T) []knownError {
	t.Helper()
	data, err := os.ReadFile("data/telegram-errors.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Errors []knownError `json:"errors"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	return file.Errors
}

// An errorCase makes the server give one known answer, or says why it never does.
type errorCase struct {
	provoke func(*world) answer
	class   simulator.Class
	never   string
}

func say(text string) params     { return params{"chat_id": annID, "text": text} }
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

func errorCases() map[string]errorCase {
	const (
		refused = simulator.Refused
		state   = simulator.State
		mtproto = "comes from deeper in Telegram; use a Fault"
	)
	return map[string]errorCase{
		"Bad Request: can't parse entities: Can't find end of the entity starting at byte offset 12":               {never: "belongs to Markdown, which is not simulated"},
		"Bad Request: can't parse entities: Character '-' is reserved and must be escaped with the preceding '\\'": {never: "belongs to MarkdownV2, which is not simulated"},
		"Bad Request: can't parse entities: Unsupported start tag \"foo\" at byte offset 0":                        {provoke: sending(html("<foo>x</foo>")), class: refused},
		"Bad Request: message text is empty":       {provoke: sending(say(" \n ")), class: refused},
		"Bad Request: text is too long":            {provoke: sending(say(strings.Repeat("x", 32_769))), class: refused},
		"Bad Request: message is too long":         {provoke: sending(say(strings.Repeat("😀", 4097))), class: refused},
		"Bad Request: MESSAGE_TOO_LONG":            {provoke: editLong, class: refused},
		"Bad Request: message caption is too long": {provoke: longCaption, class: refused},
		"Bad Request: entities too long":           {never: "the limit of the server is not known; use a Fault"},
		"Bad Request: BUTTON_DATA_INVALID":         {provoke: sending(with(say("x"), oneButton(params{"text": "a", "callback_data": strings.Repeat("é", 33)}))), class: refused},
		"Bad Request: BUTTON_URL_INVALID":          {provoke: sending(with(say("x"), oneButton(params{"text": "a", "url": "nowhere"}))), class: refused},
		"Bad Request: BUTTON_TYPE_INVALID":         {provoke: sending(merge(say("x"), params{"chat_id": opsID}, oneButton(params{"text": "a", "web_app": params{"url": "https://a.bc"}}))), class: refused},
		"Bad Request: BUTTON_COPY_TEXT_INVALID":    {provoke: sending(with(say("x"), oneButton(params{"text": "a", "copy_text": params{"text": ""}}))), class: refused},
		"Bad Request: can't parse InlineKeyboardButton: Text buttons are not allowed in the inline keyboard": {provoke: sending(with(say("x"), oneButton(params{"text": "a", "callback_data": ""}))), class: refused},
		"Bad Request: reply markup is too long":                                                             {provoke: manyButtons, class: refused},
		"Bad Request: object expected as reply markup":                                                      {provoke: sending(with(say("x"), markup(nil))), class: refused},
		"Bad Request: can't parse reply keyboard markup JSON object":                                        {provoke: sending(with(say("x"), markup("{"))), class: refused},
		"Bad Request: inline keyboard expected":                                                             {provoke: editWith(markup(params{"force_reply": true})), class: refused},
		"Bad Request: message to edit not found":                                                            {provoke: editDeleted, class: state},
		"Bad Request: message can't be edited":                                                              {provoke: editForeign, class: refused},
		"Bad Request: there is no text in the message to edit":                                              {provoke: editDocument, class: refused},
		"Bad Request: MESSAGE_ID_INVALID":                                                                   {never: mtproto},
		"Bad Request: message to delete not found":                                                          {provoke: deleteTwice, class: state},
		"Bad Request: message can't be deleted":                                                             {provoke: deleteOld, class: refused},
		"Bad Request: message to be replied not found":                                                      {provoke: replyToDeleted, class: state},
		"Bad Request: query is too old and response timeout expired or query ID is invalid":                 {provoke: answerLate, class: state},
		"Bad Request: chat not found":                                                                       {provoke: writing(999, func(*world) {}), class: state},
		"Bad Request: chat_id is empty":                                                                     {provoke: sending(params{"text": "x"}), class: refused},
		"Bad Request: PEER_ID_INVALID":                                                                      {never: mtproto},
		"Bad Request: group chat was upgraded to a supergroup chat":                                         {provoke: writing(groupID, func(w *world) { w.AddGroup(groupID, "Old").Upgrade(-1001234567890) }), class: state},
		"Bad Request: message thread not found":                                                             {provoke: sending(inThread(1)), class: refused},
		"Bad Request: TOPIC_CLOSED":                                                                         {provoke: closedTopic, class: state},
		"Bad Request: not enough rights to send text messages to the chat":                                  {provoke: writing(opsID, func(w *world) { w.ops.SetStatus(w.Bot().ID, simulator.Restricted) }), class: state},
		"Bad Request: CHAT_WRITE_FORBIDDEN":                                                                 {never: mtproto},
		"Bad Request: need administrator rights in the channel chat":                                        {provoke: writing(channelID, func(w *world) { w.AddRoom(simulator.Chat{ID: channelID, Type: simulator.Channel, Title: "News"}) }), class: state},
		"Bad Request: have no write access to the chat":                                                     {never: mtproto},
		"Bad Request: group is deactivated":                                                                 {never: mtproto},
		"Bad Request: invalid webhook URL specified":                                                        {provoke: settingWebhook(params{"url": "://"}), class: refused},
		"Bad Request: bad webhook: Webhook can be set up only on ports 80, 88, 443 or 8443":                 {provoke: settingWebhook(params{"url": "https://example.com:99/"}), class: refused},
		"Bad Request: secret token contains unallowed characters":                                           {provoke: settingWebhook(params{"url": "https://example.com/", "secret_token": "ä"}), class: refused},
		"Bad Request: file is too big":                                                                      {provoke: bigFile, class: refused},
		"Logged out":                                                                                        {provoke: afterLogOut, class: state},
		"Unauthorized":                                                                                      {provoke: visiting("/bot1:wrong/getMe"), class: refused},
		"Unauthorized: invalid token specified":                                                             {never: "the cloud answers 404 to a malformed token, and so does the simulator"},
		"Not Found":                                                                                         {provoke: visiting("/bot1/getMe"), class: refused},
		"Not Found: method not found":                                                                       {provoke: func(w *world) answer { return w.call("sendNothing", nil) }, class: refused},
		"Forbidden: bot was blocked by the user":                                                            {provoke: writing(annID, func(w *world) { w.ann.Block() }), class: state},
		"Bad Request: USER_IS_BLOCKED":                                                                      {never: "belongs to sendMediaGroup, which is not simulated"},
		"Forbidden: user is deactivated":                                                                    {provoke: writing(annID, func(w *world) { w.ann.Deactivate() }), class: state},
		"Forbidden: bot can't initiate conversation with a user":                                            {provoke: writing(benID, func(*world) {}), class: state},
		"Forbidden: the bot can't send messages to the bot":                                                 {provoke: writing(5, func(w *world) { w.AddAccount(simulator.User{ID: 5, IsBot: true, FirstName: "Other"}) }), class: state},
		"Forbidden: bot was kicked from the group chat":                                                     {provoke: writing(groupID, func(w *world) { w.AddGroup(groupID, "Old").KickBot() }), class: state},
		"Forbidden: bot was kicked from the supergroup chat":                                                {provoke: writing(opsID, func(w *world) { w.ops.KickBot() }), class: state},
		"Forbidden: bot was kicked from the channel chat":                                                   {provoke: writing(channelID, func(w *world) { w.AddChannel(channelID, "News").KickBot() }), class: state},
		"Forbidden: bot is not a member of the group chat":                                                  {provoke: writing(groupID, func(w *world) { w.AddGroup(groupID, "Old").SetStatus(w.Bot().ID, simulator.Left) }), class: state},
		"Forbidden: bot is not a member of the supergroup chat":                                             {provoke: writing(opsID, func(w *world) { w.ops.SetStatus(w.Bot().ID, simulator.Left) }), class: state},
		"Forbidden: bot is not a member of the channel chat":                                                {provoke: writing(channelID, func(w *world) { w.AddChannel(channelID, "News").SetStatus(w.Bot().ID, simulator.Left) }), class: state},
		"Forbidden: the group chat was deleted":                                                             {provoke: writing(opsID, func(w *world) { w.ops.Delete() }), class: state},
		"Conflict: terminated by other getUpdates request; make sure that only one bot instance is running": {provoke: whilePolling(func(w *world) { w.call("getUpdates", params{"offset": 3, "timeout": 1}) }), class: state},
		"Conflict: terminated by setWebhook request":                                                        {provoke: whilePolling(func(w *world) { w.call("setWebhook", params{"url": "https://example.com/"}) }), class: state},
		"Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first": {provoke: pollWithWebhook, class: state},
		"Misdirected Request: unallowed token specified":                                                               {never: "belongs to a self-hosted server that filters tokens"},
		"Too Many Requests: retry after 14":                                                                            {provoke: tooMany, class: simulator.Limited},
		"Internal Server Error: restart":                                                                               {provoke: faulty(simulator.Fault{}), class: simulator.Faulted},
		"Internal Server Error: sent message was immediately deleted and can't be returned":                            {provoke: faulty(simulator.Fault{Description: "Internal Server Error: sent message was immediately deleted and can't be returned", Applied: true}), class: simulator.Faulted},
		"Bad Request: message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message": {provoke: editWith(nil), class: state},
	}
}

// Every known answer of the real server is given for the call that deserves it, word for
// word, or has a reason why it never is.
func TestKnownErrors(t *testing.T) {
	cases := errorCases()
	for _, known := range knownErrors(t) {
		t.Run(known.Description, func(t *testing.T) {
			c, ok := cases[known.Description]
			switch {
			case !ok:
				t.Fatal("there is neither a case nor a reason why not")
			case c.never != "":
				t.Log(c.never)
				return
			}
			w := newWorld(t, func(o *simulator.Options) {
				if c.class == simulator.Limited {
					o.Limits = &simulator.Limits{ChatPerSecond: 1.0 / 14}
				}
			})
			a := c.provoke(w)
			got := knownError{a.ErrorCode, a.Description, a.Parameters}
			if diff := cmp.Diff(known, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if a.Status != known.Code {
				t.Errorf("HTTP status %d, want %d", a.Status, known.Code)
			}
			w.checkClass(known.Description, c.class)
		})
	}
}

// checkClass requires that the call answered with the description is logged in the class.
func (w *world) checkClass(description string, class simulator.Class) {
	w.t.Helper()
	err := w.Wait(w.t.Context(), func() bool {
		for _, c := range w.Calls() {
			if c.Description == description {
				if c.Class != class {
					w.t.Errorf("class %q, want %q", c.Class, class)
				}
				return true
			}
		}
		return false
	})
	if err != nil {
		w.t.Error(err)
	}
	if got := len(w.Refusals()) > 0; got != (class == simulator.Refused) {
		w.t.Errorf("refusals: %v", w.Refusals())
	}
}

// Each text that the code looks up stands in the list.
func TestTextsComeFromTheList(t *testing.T) {
	known := map[string]bool{}
	for _, e := range knownErrors(t) {
		known[e.Description] = true
		if _, text, ok := strings.Cut(e.Description, ": "); ok {
			known[text] = true
		}
	}
	lookup := regexp.MustCompile(`(?:errs\.(?:wrong|state|known)|messageText\(c,|endPoll)\(?\s*"([^"]+)"[,)]`)
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, entry := range entries {
		if !strings.HasSuffix(entry.Name(), ".go") || strings.HasSuffix(entry.Name(), "_test.go") {
			continue
		}
		source, err := os.ReadFile(entry.Name())
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range lookup.FindAllStringSubmatch(string(source), -1) {
			found++
			if !known[match[1]] {
				t.Errorf("%s looks up %q", entry.Name(), match[1])
			}
		}
	}
	if found < 30 {
		t.Errorf("found %d lookups, want those of the whole package", found)
	}
}

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
