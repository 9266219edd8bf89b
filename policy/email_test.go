package policy_test

import (
	"encoding/json"
	"net/mail"
	"slices"
	"strings"
	"testing"
	"unicode"

	"countersign/approval"
	"countersign/policy"
)

const (
	ownAddress  = "owner@example.test"
	bossAddress = "boss@example.test"
	farAddress  = "ówner@example.test"
)

// sending is a send_email call with what its tool would declare of itself.
func sending(arguments string) *approval.Request {
	return &approval.Request{
		Kind: approval.ToolCall, Effect: approval.Write,
		Calls: []approval.Call{{Tool: "send_email", Arguments: json.RawMessage(arguments)}},
		Risk: approval.Risk{
			Facts:   json.RawMessage(`{"comms_send":true,"model_controlled_destination":true}`),
			Refiner: "send_email_recipient@v2",
		},
	}
}

func mailRules(allowed ...string) *policy.Rules {
	return &policy.Rules{OperatorEmail: ownAddress, EmailAllowedRecipients: allowed}
}

// Whatever passes reaches nobody else, by whichever reading of its fields: that of
// the rules, or that of a mail program that understands names, groups and quotes.
func FuzzRecipients(f *testing.F) {
	for _, v := range append(vectors(f, "vectors.json"), vectors(f, "more.json")...) {
		for _, q := range v.request().Calls {
			f.Add(string(q.Arguments))
		}
	}
	f.Add(`{"to":"owner@example.test","to":"a@example.net"}`)
	f.Add(`{"to":"owner@example.test\ud800"}`)
	f.Add("{\"to\":\"owner@example.test\xff\"}")
	permitted := []string{ownAddress, bossAddress, farAddress}
	f.Fuzz(func(t *testing.T, arguments string) {
		d := policy.Decide(sending(arguments), mailRules("self", bossAddress, farAddress))
		if !d.Pass {
			return
		}
		var fields map[string]any
		if err := json.Unmarshal([]byte(arguments), &fields); err != nil {
			t.Fatalf("%q passes, and is no object: %v", arguments, err)
		}
		reached := 0
		for name, value := range fields {
			if !slices.Contains([]string{"to", "cc", "bcc"}, strings.ToLower(name)) {
				if strings.Contains(strings.ToLower(name), "recipient") || name == "arguments" {
					t.Errorf("%q passes with the key %q", arguments, name)
				}
				continue
			}
			texts, ok := value.([]any)
			if !ok {
				texts = []any{value}
			}
			for _, text := range texts {
				s, ok := text.(string)
				if !ok {
					t.Fatalf("%q passes with %v in %s", arguments, text, name)
				}
				reached += only(t, permitted, s)
			}
		}
		if reached == 0 {
			t.Errorf("%q passes and reaches nobody", arguments)
		}
	})
}

// only checks that a text names nobody but whom it may, and counts them.
func only(t *testing.T, permitted []string, text string) (n int) {
	t.Helper()
	if strings.ContainsFunc(text, unicode.IsControl) {
		t.Errorf("a control character passes: %q", text)
	}
	for _, token := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(",; ", r) }) {
		// Compared letter by letter: a composed ó may have come as two.
		if !slices.ContainsFunc(permitted, func(p string) bool { return strings.EqualFold(composed(token), p) }) || strings.ContainsRune(token, '\u212a') {
			t.Errorf("%q passes within %q", token, text)
		}
		n++
	}
	if list, err := mail.ParseAddressList(strings.ReplaceAll(text, ";", ",")); err == nil {
		for _, a := range list {
			if !slices.ContainsFunc(permitted, func(p string) bool { return strings.EqualFold(composed(a.Address), p) }) {
				t.Errorf("a mail program reads %q in %q", a.Address, text)
			}
		}
	}
	return n
}

func composed(s string) string {
	return strings.NewReplacer("o\u0301", "ó", "O\u0301", "Ó").Replace(s)
}

// A token with a letter beyond ASCII equals no ASCII address, whatever normalising
// makes of it: every letter of an address is tried, alone and with every mark.
func TestLookalikesProveNothing(t *testing.T) {
	const self = "abcdefghijklmnopqrstuvwxyz@example.test"
	rules := &policy.Rules{OperatorEmail: self}
	passes := func(to string) bool {
		arguments, err := json.Marshal(map[string]string{"to": to})
		if err != nil {
			t.Fatal(err)
		}
		return policy.Decide(sending(string(arguments)), rules).Pass
	}
	if !passes(self) || !passes(strings.ToUpper(self)) {
		t.Fatal("the own address asks")
	}
	for _, own := range []string{self, strings.ToUpper(self)} {
		for i := range own {
			for mark := rune(0x300); mark < 0x370; mark++ {
				if to := own[:i+1] + string(mark) + own[i+1:]; passes(to) {
					t.Errorf("%+q passes for %s", to, self)
				}
			}
		}
	}
	for r := rune(0x80); r <= unicode.MaxRune; r++ {
		low := unicode.ToLower(r)
		if i := strings.IndexRune(self, low); i >= 0 && low != r {
			if to := self[:i] + string(r) + self[i+1:]; passes(to) {
				t.Errorf("%+q passes for %s", to, self)
			}
		}
	}
}

// An object that names a key twice is read by nobody.
func TestTwiceNamedProvesNothing(t *testing.T) {
	for _, arguments := range []string{
		`{"to":"a@example.net","to":"owner@example.test"}`,
		`{"to":"owner@example.test","\u0074o":"a@example.net"}`,
		`{"to":"owner@example.test"} {"to":"a@example.net"}`,
		`{"to":"owner@example.test"`,
		`["owner@example.test"]`,
		`null`,
		``,
		"{\"to\":\"owner@example.test\",\"subject\":\"\xff\"}",
	} {
		if d := policy.Decide(sending(arguments), mailRules()); d.Pass || d.Reason != policy.RefinerUnparseable {
			t.Errorf("%q: pass %v for %s", arguments, d.Pass, d.Reason)
		}
	}
}

func TestPlainAddress(t *testing.T) {
	for text, want := range map[string]bool{
		"me@self.com": true, " me@self.com ": true, "ówner@example.test": true, "a+b@c": true, "*@example.test": true,
		"": false, "   ": false, "me": false, "@x": false, "me@": false, "a@b@c": false, "a b@c": false,
		"a\u00a0b@c": false, "a\u0000@b": false, "<a@b>": false, "a,b@c": false, "a;b@c": false, "a:b@c": false,
		"\"a\"@b": false, "a(b)@c": false, "a@[1.2.3.4]": false, "a@b\xff": false, "\u212a@b": false, "I\u0307@b": false,
	} {
		if got := policy.PlainAddress(text); got != want {
			t.Errorf("PlainAddress(%q) is %v", text, got)
		}
	}
}
