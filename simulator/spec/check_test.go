package spec_test

import (
	"encoding/json"
	"errors"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"countersign/simulator/spec"
)

func load(t *testing.T) *spec.API {
	t.Helper()
	data, err := os.ReadFile("../data/bot-api.json")
	if err != nil {
		t.Fatal(err)
	}
	api, err := spec.Load(data)
	if err != nil {
		t.Fatal(err)
	}
	return api
}

func TestCheckCall(t *testing.T) {
	raw := func(s string) spec.Value { return spec.Value{JSON: json.RawMessage(s)} }
	text := func(s string) spec.Value { return spec.Value{Text: s} }
	type params = map[string]spec.Value
	tests := []struct {
		name   string
		method string
		params params
		want   string
	}{
		{"plain JSON", "sendMessage", params{"chat_id": raw(`1`), "text": raw(`"x"`)}, ""},
		{"method in other case", "SENDmessage", params{"chat_id": raw(`1`), "text": raw(`"x"`)}, ""},
		{"plain form", "sendMessage", params{"chat_id": text("1"), "text": text("x"), "protect_content": text("True")}, ""},
		{"chat by name", "sendMessage", params{"chat_id": text("@room"), "text": text("x")}, ""},
		{"unknown parameter", "sendMessage", params{"chat_id": raw(`1`), "text": raw(`"x"`), "chatid": raw(`1`)}, "chatid: unknown parameter of sendMessage"},
		{"missing", "sendMessage", params{"chat_id": raw(`1`)}, "text: required parameter of sendMessage is missing"},
		{"number for text", "sendMessage", params{"chat_id": raw(`1`), "text": raw(`5`)}, "text: String is expected"},
		{"fraction", "getUpdates", params{"limit": raw(`1.5`)}, "limit: Integer is expected"},
		{"word for a number", "getUpdates", params{"limit": text("many")}, "limit: Integer is expected"},
		{"word for a boolean", "sendMessage", params{"chat_id": raw(`1`), "text": raw(`"x"`), "protect_content": text("maybe")}, "protect_content: a boolean is expected"},
		{"null", "sendMessage", params{"chat_id": raw(`1`), "text": raw(`"x"`), "parse_mode": raw(`null`)}, "parse_mode: String is expected"},
		{"array of strings", "getUpdates", params{"allowed_updates": text(`["message"]`)}, ""},
		{"array of others", "getUpdates", params{"allowed_updates": raw(`[1]`)}, "allowed_updates[0]: String is expected"},
		{
			"keyboard", "sendMessage",
			params{"chat_id": raw(`1`), "text": raw(`"x"`), "reply_markup": raw(`{"inline_keyboard":[[{"text":"a","callback_data":"b"}]]}`)},
			"",
		},
		{
			"keyboard as text", "sendMessage",
			params{"chat_id": raw(`1`), "text": raw(`"x"`), "reply_markup": text(`{"inline_keyboard":[[{"text":"a","callback_data":"b"}]]}`)},
			"",
		},
		{
			"unknown field of a button", "sendMessage",
			params{"chat_id": raw(`1`), "text": raw(`"x"`), "reply_markup": raw(`{"inline_keyboard":[[{"text":"a","data":"b"}]]}`)},
			"reply_markup.inline_keyboard[0][0].data: unknown field of InlineKeyboardButton",
		},
		{
			"button without text", "sendMessage",
			params{"chat_id": raw(`1`), "text": raw(`"x"`), "reply_markup": raw(`{"inline_keyboard":[[{"callback_data":"b"}]]}`)},
			"reply_markup.inline_keyboard[0][0].text: required field of InlineKeyboardButton is missing",
		},
		{"union", "setMyCommands", params{"commands": raw(`[]`), "scope": raw(`{"type":"chat","chat_id":7}`)}, ""},
		{"upload", "sendDocument", params{"chat_id": text("1"), "document": {File: true}}, ""},
		{"upload named by attach", "sendDocument", params{"chat_id": text("1"), "document": text("attach://f"), "f": {File: true}}, ""},
		{"upload in a text parameter", "sendMessage", params{"chat_id": text("1"), "text": {File: true}}, "text: a file was sent where String is expected"},
		{"text for a certificate", "setWebhook", params{"url": text("x"), "certificate": text("x")}, "certificate: an uploaded file is expected"},
	}
	api := load(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, ok := api.Method(tt.method)
			if !ok {
				t.Fatalf("no method %s", tt.method)
			}
			err := api.CheckCall(m, tt.params)
			var got string
			if err != nil {
				var e *spec.Error
				if !errors.As(err, &e) {
					t.Fatalf("got %T, want *spec.Error", err)
				}
				got = err.Error()
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestCheckResult(t *testing.T) {
	tests := []struct{ method, result, want string }{
		{"getMe", `{"id":1,"is_bot":true,"first_name":"x"}`, ""},
		{"getMe", `{"id":1,"is_bot":true}`, "result.first_name: required field of User is missing"},
		{"getMe", `{`, "result: not valid JSON"},
		{"getUpdates", `[{"update_id":1},{"update_id":"2"}]`, "result[1].update_id: Integer is expected"},
		{"editMessageText", `true`, ""},
	}
	api := load(t)
	for _, tt := range tests {
		m, ok := api.Method(tt.method)
		if !ok {
			t.Fatalf("no method %s", tt.method)
		}
		var got string
		if err := api.CheckResult(m, json.RawMessage(tt.result)); err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%s %s: got %q, want %q", tt.method, tt.result, got, tt.want)
		}
	}
}

func TestLoadRefusesOtherFiles(t *testing.T) {
	for _, data := range []string{"", "[]", "{}", `{"methods":{},"types":{}}`} {
		if _, err := spec.Load([]byte(data)); err == nil {
			t.Errorf("Load(%q) succeeded", data)
		}
	}
}

// A failure is always an Error, and what is not JSON is never accepted.
func FuzzCheckObject(f *testing.F) {
	f.Add("Update", `{"update_id":1,"message":{"message_id":1,"date":1,"chat":{"id":1,"type":"private"}}}`)
	f.Add("Update", `{"update_id":1}`)
	f.Add("InlineKeyboardMarkup", `{"inline_keyboard":[[]]}`)
	f.Add("MaybeInaccessibleMessage", `{"chat":{"id":1,"type":"private"},"message_id":2,"date":0}`)
	f.Add("Nothing", `{}`)
	data, err := os.ReadFile("../data/bot-api.json")
	if err != nil {
		f.Fatal(err)
	}
	api, err := spec.Load(data)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, typ, raw string) {
		err := api.CheckObject(typ, json.RawMessage(raw))
		var e *spec.Error
		if err != nil && !errors.As(err, &e) {
			t.Errorf("got %T, want *spec.Error", err)
		}
		if err == nil && !json.Valid([]byte(raw)) {
			t.Errorf("CheckObject accepted what is not JSON: %q", raw)
		}
	})
}
