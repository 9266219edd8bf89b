package simulator_test

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

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
	description string
	class       simulator.Class
	provoke     func(*world) answer
	reason      string
}

func given(description string, class simulator.Class, provoke func(*world) answer) errorCase {
	return errorCase{description: description, class: class, provoke: provoke}
}

func never(description, reason string) errorCase {
	return errorCase{description: description, reason: reason}
}

func errorCases() []errorCase {
	const (
		refused = simulator.Refused
		state   = simulator.State
		mtproto = "comes from deeper in Telegram; use a Fault"
	)
	return []errorCase{
		never("Bad Request: can't parse entities: Can't find end of the entity starting at byte offset 12", "belongs to Markdown, which is not simulated"),
		never("Bad Request: can't parse entities: Character '-' is reserved and must be escaped with the preceding '\\'", "belongs to MarkdownV2, which is not simulated"),
		given("Bad Request: can't parse entities: Unsupported start tag \"foo\" at byte offset 0", refused,
			sending(html("<foo>x</foo>"))),
		given("Bad Request: message text is empty", refused, sending(say(" \n "))),
		given("Bad Request: text is too long", refused, sending(say(strings.Repeat("x", 32_769)))),
		given("Bad Request: message is too long", refused, sending(say(strings.Repeat("😀", 4097)))),
		given("Bad Request: MESSAGE_TOO_LONG", refused, editLong),
		given("Bad Request: message caption is too long", refused, longCaption),
		never("Bad Request: entities too long", "the limit of the server is not known; use a Fault"),
		given("Bad Request: BUTTON_DATA_INVALID", refused,
			sending(with(say("x"), oneButton(params{"text": "a", "callback_data": strings.Repeat("é", 33)})))),
		given("Bad Request: BUTTON_URL_INVALID", refused, sending(with(say("x"), oneButton(params{"text": "a", "url": "nowhere"})))),
		given("Bad Request: BUTTON_TYPE_INVALID", refused,
			sending(merge(say("x"), params{"chat_id": opsID}, oneButton(params{"text": "a", "web_app": params{"url": "https://a.bc"}})))),
		given("Bad Request: BUTTON_COPY_TEXT_INVALID", refused,
			sending(with(say("x"), oneButton(params{"text": "a", "copy_text": params{"text": ""}})))),
		given("Bad Request: can't parse InlineKeyboardButton: Text buttons are not allowed in the inline keyboard", refused,
			sending(with(say("x"), oneButton(params{"text": "a", "callback_data": ""})))),
		given("Bad Request: reply markup is too long", refused, manyButtons),
		given("Bad Request: object expected as reply markup", refused, sending(with(say("x"), markup(nil)))),
		given("Bad Request: can't parse reply keyboard markup JSON object", refused, sending(with(say("x"), markup("{")))),
		given("Bad Request: inline keyboard expected", refused, editWith(markup(params{"force_reply": true}))),
		given("Bad Request: message to edit not found", state, editDeleted),
		given("Bad Request: message can't be edited", refused, editForeign),
		given("Bad Request: there is no text in the message to edit", refused, editDocument),
		never("Bad Request: MESSAGE_ID_INVALID", mtproto),
		given("Bad Request: message to delete not found", state, deleteTwice),
		given("Bad Request: message can't be deleted", refused, deleteOld),
		given("Bad Request: message to be replied not found", state, replyToDeleted),
		given("Bad Request: query is too old and response timeout expired or query ID is invalid", state, answerLate),
		given("Bad Request: chat not found", state, writing(999, func(*world) {})),
		given("Bad Request: chat_id is empty", refused, sending(params{"text": "x"})),
		never("Bad Request: PEER_ID_INVALID", mtproto),
		given("Bad Request: group chat was upgraded to a supergroup chat", state,
			writing(groupID, func(w *world) { w.AddGroup(groupID, "Old").Upgrade(-1001234567890) })),
		given("Bad Request: message thread not found", refused, sending(inThread(1))),
		given("Bad Request: TOPIC_CLOSED", state, closedTopic),
		given("Bad Request: not enough rights to send text messages to the chat", state,
			writing(opsID, func(w *world) { w.ops.SetStatus(w.Bot().ID, simulator.Restricted) })),
		never("Bad Request: CHAT_WRITE_FORBIDDEN", mtproto),
		given("Bad Request: need administrator rights in the channel chat", state,
			writing(channelID, func(w *world) { w.AddRoom(simulator.Chat{ID: channelID, Type: simulator.Channel, Title: "News"}) })),
		never("Bad Request: have no write access to the chat", mtproto),
		never("Bad Request: group is deactivated", mtproto),
		given("Bad Request: invalid webhook URL specified", refused, settingWebhook(params{"url": "://"})),
		given("Bad Request: bad webhook: Webhook can be set up only on ports 80, 88, 443 or 8443", refused,
			settingWebhook(params{"url": "https://example.com:99/"})),
		given("Bad Request: secret token contains unallowed characters", refused,
			settingWebhook(params{"url": "https://example.com/", "secret_token": "ä"})),
		given("Bad Request: file is too big", refused, bigFile),
		given("Logged out", state, afterLogOut),
		given("Unauthorized", refused, visiting("/bot1:wrong/getMe")),
		never("Unauthorized: invalid token specified", "the cloud answers 404 to a malformed token, and so does the simulator"),
		given("Not Found", refused, visiting("/bot1/getMe")),
		given("Not Found: method not found", refused, func(w *world) answer { return w.call("sendNothing", nil) }),
		given("Forbidden: bot was blocked by the user", state, writing(annID, func(w *world) { w.ann.Block() })),
		never("Bad Request: USER_IS_BLOCKED", "belongs to sendMediaGroup, which is not simulated"),
		given("Forbidden: user is deactivated", state, writing(annID, func(w *world) { w.ann.Deactivate() })),
		given("Forbidden: bot can't initiate conversation with a user", state, writing(benID, func(*world) {})),
		given("Forbidden: the bot can't send messages to the bot", state,
			writing(5, func(w *world) { w.AddAccount(simulator.User{ID: 5, IsBot: true, FirstName: "Other"}) })),
		given("Forbidden: bot was kicked from the group chat", state,
			writing(groupID, func(w *world) { w.AddGroup(groupID, "Old").KickBot() })),
		given("Forbidden: bot was kicked from the supergroup chat", state, writing(opsID, func(w *world) { w.ops.KickBot() })),
		given("Forbidden: bot was kicked from the channel chat", state,
			writing(channelID, func(w *world) { w.AddChannel(channelID, "News").KickBot() })),
		given("Forbidden: bot is not a member of the group chat", state,
			writing(groupID, func(w *world) { w.AddGroup(groupID, "Old").SetStatus(w.Bot().ID, simulator.Left) })),
		given("Forbidden: bot is not a member of the supergroup chat", state,
			writing(opsID, func(w *world) { w.ops.SetStatus(w.Bot().ID, simulator.Left) })),
		given("Forbidden: bot is not a member of the channel chat", state,
			writing(channelID, func(w *world) { w.AddChannel(channelID, "News").SetStatus(w.Bot().ID, simulator.Left) })),
		given("Forbidden: the group chat was deleted", state, writing(opsID, func(w *world) { w.ops.Delete() })),
		given("Conflict: terminated by other getUpdates request; make sure that only one bot instance is running", state,
			whilePolling(func(w *world) { w.call("getUpdates", params{"offset": 3, "timeout": 1}) })),
		given("Conflict: terminated by setWebhook request", state,
			whilePolling(func(w *world) { w.call("setWebhook", params{"url": "https://example.com/"}) })),
		given("Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first", state,
			pollWithWebhook),
		never("Misdirected Request: unallowed token specified", "belongs to a self-hosted server that filters tokens"),
		given("Too Many Requests: retry after 14", simulator.Limited, tooMany),
		given("Internal Server Error: restart", simulator.Faulted, faulty(simulator.Fault{})),
		given("Internal Server Error: sent message was immediately deleted and can't be returned", simulator.Faulted,
			faulty(simulator.Fault{Description: "Internal Server Error: sent message was immediately deleted and can't be returned", Applied: true})),
		given("Bad Request: message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message", state,
			editWith(nil)),
	}
}

// Every known answer of the real server is given for the call that deserves it, word for
// word, or has a reason why it never is.
func TestKnownErrors(t *testing.T) {
	cases := map[string]errorCase{}
	for _, c := range errorCases() {
		cases[c.description] = c
	}
	if listed := len(knownErrors(t)); len(cases) != listed {
		t.Errorf("%d cases for %d known errors", len(cases), listed)
	}
	for _, known := range knownErrors(t) {
		t.Run(known.Description, func(t *testing.T) {
			c, ok := cases[known.Description]
			switch {
			case !ok:
				t.Fatal("there is neither a case nor a reason why not")
			case c.provoke == nil:
				if c.reason == "" {
					t.Error("there is no reason why not")
				}
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
