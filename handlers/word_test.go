package handlers_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"countersign/handlers"
)

var approving, rejecting = []string{"approve"}, []string{"reject", "deny"}

func TestWhatAMessageSays(t *testing.T) {
	t.Parallel()
	type said = handlers.Understood
	nothing := said{Says: "nothing"}
	for text, want := range map[string]said{
		"approve": {Says: "approve"}, "Approve": {Says: "approve"}, "APPROVE!": {Says: "approve"},
		"approve.": {Says: "approve"}, "  approve\n": {Says: "approve"},
		"yes": {Says: "yes"}, "Yes.": {Says: "yes"}, "YES!": {Says: "yes"},
		"reject": {Says: "reject"}, "Reject.": {Says: "reject"}, "deny": {Says: "reject"}, "DENY!": {Says: "reject"},
		"reject wrong ones":           {Says: "reject", Reason: "wrong ones"},
		"deny no, don't approve this": {Says: "reject", Reason: "no, don't approve this"},
		"Reject\nnot *these* <b>.":    {Says: "reject", Reason: "not *these* <b>."},

		"no, don't approve": nothing, "disallow": nothing, "disapprove": nothing, "not approved": nothing,
		"I can't approve this": nothing, "approve?": nothing, "who can approve": nothing, "unapprove": nothing,
		"approve it please": nothing, "approved": nothing, "approved the other one": nothing, "approve!!": nothing,
		"approve .": nothing, "approve.!": nothing, "approve…": nothing, "\"approve\"": nothing, "approve approve": nothing,
		"approve K7QF2": nothing, "approve reject": nothing, "approve yes": nothing, "yes approve": nothing,
		"ok": nothing, "not ok": nothing, "not okay": nothing, "👍": nothing, "y": nothing, "yes please": nothing,
		"yes?": nothing, "no problem": nothing, "no, stop": nothing, "why?": nothing, "yes abcdf": nothing,
		"rejected": nothing, "rejecting": nothing, "reject?": nothing, "reject: wrong": nothing, "don't reject": nothing,
		"": nothing, " ": nothing, ".": nothing, "!": nothing, "#K7QF2": nothing,

		"аpprove":                        nothing, // a Cyrillic а
		"approvе":                        nothing, // a Cyrillic е
		"уes":                            nothing, // a Cyrillic у
		"ｙｅｓ":                            nothing,
		"ye\u017f":                       nothing, // ſ is an s by folding alone
		"\u202eevorppa":                  nothing, // shown as approve
		"\u200fapprove":                  nothing,
		"approve\u200b":                  nothing,
		"app\u00adrove":                  nothing,
		"approve\ufe0f":                  nothing,
		strings.Repeat("a ", 5000):       nothing,
		strings.Repeat("approve ", 1250): nothing,

		"/approve K7QF2":                         {Says: "approve", Command: "approve", Ref: "K7QF2"},
		"/approve #k7qf2":                        {Says: "approve", Command: "approve", Ref: "K7QF2"},
		"/Approve  k7qf2 ":                       {Says: "approve", Command: "approve", Ref: "K7QF2"},
		"/approve@thisbot K7QF2":                 {Says: "approve", Command: "approve", Bot: "thisbot", Ref: "K7QF2"},
		"/approve@other K7QF2":                   {Says: "approve", Command: "approve", Bot: "other", Ref: "K7QF2"},
		"/approve":                               {Says: "approve", Command: "approve"},
		"/approve K7QF2 but not the second":      {Says: "nothing", Command: "approve", Ref: "K7QF2"},
		"/approve K7QF2 K7QF3":                   {Says: "nothing", Command: "approve", Ref: "K7QF2"},
		"/approve K7QF":                          {Says: "nothing", Command: "approve"},
		"/approve К7QF2":                         {Says: "nothing", Command: "approve"}, // a Cyrillic К
		"/approve K7QF2\u200b":                   {Says: "nothing", Command: "approve"},
		"/approve it please":                     {Says: "nothing", Command: "approve"},
		"/approve " + strings.Repeat("K", 10000): {Says: "nothing", Command: "approve"},
		"/reject K7QF2":                          {Says: "reject", Command: "reject", Ref: "K7QF2"},
		"/reject K7QF2 wrong ones":               {Says: "reject", Command: "reject", Ref: "K7QF2", Reason: "wrong ones"},
		"/reject":                                {Says: "reject", Command: "reject"},
		"/reject all of them":                    {Says: "nothing", Command: "reject"},
		"/show K7QF2":                            {Says: "nothing", Command: "show", Ref: "K7QF2"},
		"/pending":                               {Says: "nothing", Command: "pending"},
		"/yes":                                   {Says: "nothing", Command: "yes"},
		"/":                                      nothing,
		"/approveK7QF2":                          {Says: "nothing", Command: "approvek7qf2"},
		"approve /approve K7QF2":                 nothing,
	} {
		if diff := cmp.Diff(want, handlers.Understand(text, approving, rejecting)); diff != "" {
			t.Errorf("%.60q (-want +got):\n%s", text, diff)
		}
	}
}

func TestWordsOfTheConfiguration(t *testing.T) {
	t.Parallel()
	approving, rejecting := []string{"go", "да"}, []string{"нет"}
	for text, want := range map[string]string{
		"go": "approve", "GO!": "approve", "Да.": "approve", "НЕТ": "reject", "нет, вторую": "nothing", "нет вторую": "reject",
		"approve": "nothing", "reject": "nothing", "yes": "yes",
	} {
		if got := handlers.Understand(text, approving, rejecting).Says; got != want {
			t.Errorf("%q says %s, want %s", text, got, want)
		}
	}
}

// FuzzUnderstand holds that nothing approves or confirms but the whole word, or
// the command with a reference and nothing besides.
func FuzzUnderstand(f *testing.F) {
	for _, seed := range []string{
		"approve", "APPROVE!", "yes.", "reject wrong ones", "no, don't approve", "approve?", "approve!!", "аpprove",
		"/approve K7QF2", "/approve@bot #k7qf2", "/approve K7QF2 but not the second", "/reject", "approve\u200b", "\xff", "/", "",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		u := handlers.Understand(text, approving, rejecting)
		if want := whole(text, "approve") || commanded(text, "/approve"); (u.Says == "approve") != want {
			t.Errorf("%q says %s", text, u.Says)
		}
		if (u.Says == "yes") != whole(text, "yes") {
			t.Errorf("%q says %s", text, u.Says)
		}
		if u.Says != "reject" && u.Reason != "" {
			t.Errorf("%q has a reason and says %s", text, u.Says)
		}
		if !strings.Contains(text, u.Reason) {
			t.Errorf("%q has the reason %q", text, u.Reason)
		}
	})
}

// whole reports whether a text is a word of plain letters and nothing else, but
// for spaces around it and one final mark. It looks at letters one by one.
func whole(text, word string) bool {
	letters := strings.FieldsFunc(text, unicode.IsSpace)
	if len(letters) != 1 {
		return false
	}
	got := letters[0]
	if len(got) == len(word)+1 && strings.ContainsAny(got[len(word):], ".!") {
		got = got[:len(word)]
	}
	if len(got) != len(word) {
		return false
	}
	for i := range len(word) {
		if got[i] != word[i] && got[i] != word[i]-'a'+'A' {
			return false
		}
	}
	return true
}

// commanded reports whether a text is a command alone or with a reference.
func commanded(text, command string) bool {
	parts := strings.FieldsFunc(text, unicode.IsSpace)
	if len(parts) == 0 || len(parts) > 2 {
		return false
	}
	name, _, _ := strings.Cut(parts[0], "@")
	if !whole(name, command) || strings.ContainsAny(name, ".!") {
		return false
	}
	if len(parts) == 1 {
		return true
	}
	ref := strings.TrimPrefix(parts[1], "#")
	for _, c := range []byte(ref) {
		if !('0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z') {
			return false
		}
	}
	return len(ref) == 5 && utf8.ValidString(ref)
}
