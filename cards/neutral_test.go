package cards_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"countersign/cards"
)

func TestNeutral(t *testing.T) {
	for _, c := range []struct{ rule, in, want string }{
		{"plain text stays", `Trash 3 emails, "now" & <b>`, `Trash 3 emails, "now" & <b>`},
		{"a backslash stays", `C:\new`, `C:\new`},
		{"line breaks and tabs have names", "a\nb\rc\td", `a\nb\rc\td`},
		{"controls are marked", "\x00\x1b[31m\x7f\u0085", `\u0000\u001b[31m\u007f\u0085`},
		{"bidi controls are marked", "\u202egnp.exe\u2069\u200f", `\u202egnp.exe\u2069\u200f`},
		{"zero-width characters are marked", "/srv/\u200bimportant\ufeff\u2060", `/srv/\u200bimportant\ufeff\u2060`},
		{"a run stands once, with its count", "a" + strings.Repeat("\u200b", 12) + "b", `a\u200b×12b`},
		{"two in turn are no run", "\u200b\u200c\u200b\u200c", `\u200b\u200c\u200b\u200c`},
		{"a digit after a run cannot join its count", "a\n\n\n5", `a\n×2\n5`},
		{"a digit after two leaves no count", "\n\n5 EUR", `\n\n5 EUR`},
		{"spaces that are not U+0020 are marked", "3\u00a0km\u3000x\u2003y", `3\u00a0km\u3000x\u2003y`},
		{"eight spaces stay", "a        b", "a        b"},
		{"nine are counted", "a         b", `a\u0020×9b`},
		{"nine before a digit too", "a         0", `a\u0020×8 0`},
		{"line and paragraph separators are marked", "a\u2028b\u2029c", `a\u2028b\u2029c`},
		{"what is drawn as nothing is marked", "\u3164\u115f\u2800\u00ad\u034f\U000e0041", `\u3164\u115f\u2800\u00ad\u034f\u{e0041}`},
		{"private, unassigned and non-characters are marked", "\ue000\u0378\uffff\U0010fffe", `\ue000\u0378\uffff\u{10fffe}`},
		{"bytes that are no UTF-8 are marked", "a\xff\xfeb", `a\ufffeb`},
		{"the replacement character stays", "a\ufffdb", "a\ufffdb"},
		{"what Telegram drops is marked", "A\u030a x\u0333 y\u033f", `A\u030a x\u0333 y\u033f`},
		{"accents stay", "e\u0301 Việt ñ", "e\u0301 Việt ñ"},
		{"four marks stay, more are marked", "a" + strings.Repeat("\u0301", 7), "a" + strings.Repeat("\u0301", 4) + `\u0301×3`},
		{"a mark on nothing is marked", "\u0301a \u0302", `\u0301a \u0302`},
		{"a family is one emoji", "👨\u200d👩\u200d👧\u200d👦", "👨\u200d👩\u200d👧\u200d👦"},
		{"tones, selectors and flags stay", "👍🏽 ❤\ufe0f 🏳\ufe0f\u200d🌈 👩🏽\u200d🚀 🇩🇪", "👍🏽 ❤\ufe0f 🏳\ufe0f\u200d🌈 👩🏽\u200d🚀 🇩🇪"},
		{"keycaps stay", "1\ufe0f\u20e3 #\ufe0f\u20e3", "1\ufe0f\u20e3 #\ufe0f\u20e3"},
		{"a joiner between letters is marked", "pay\u200dpal a\u200cb", `pay\u200dpal a\u200cb`},
		{"a joiner at the end of an emoji is marked", "👨\u200d", `👨\u200d`},
		{"a selector on a letter is marked", "a\ufe0f\ufe01", `a\ufe0f\ufe01`},
		{"a second selector is marked", "❤\ufe0f\ufe0f", "❤\ufe0f" + `\ufe0f`},
		{"Persian keeps its joiner", "می\u200cخواهم", "می\u200cخواهم"},
		{"one joiner is enough", "می\u200c\u200cخواهم", `می\u200c×2خواهم`},
		{"Hindi keeps its joiner", "क\u094d\u200dष", "क\u094d\u200dष"},
		{"other alphabets stay", "حذف שלום नमस्ते สวัสดี 東京 Москва", "حذف שלום नमस्ते สวัสดี 東京 Москва"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			if got := cards.Neutral(c.in); got != c.want {
				t.Errorf("Neutral(%q)\n got %+q\nwant %+q", c.in, got, c.want)
			}
		})
	}
}

// checkNeutral says what must not be in neutral text, by other means than the
// package's own.
func checkNeutral(t interface {
	Helper()
	Fatalf(string, ...any)
}, in string,
) {
	t.Helper()
	out := cards.Neutral(in)
	if !utf8.ValidString(out) {
		t.Fatalf("%q is not UTF-8", out)
	}
	marks := 0
	for _, c := range out {
		switch {
		case c == '\u200c' || c == '\u200d': // where they may stand is tested above
		case unicode.Is(unicode.C, c), unicode.Is(unicode.Z, c) && c != ' ', !unicode.IsGraphic(c):
			t.Fatalf("%+q shows %U", out, c)
		case unicode.Is(unicode.M, c):
			if marks++; marks > 8 { // four, and a selector or two within an emoji
				t.Fatalf("%+q piles up marks", out)
			}
			continue
		}
		if c != '\u200d' && c != '\u200c' {
			marks = 0
		}
	}
	if strings.Contains(out, strings.Repeat(" ", 9)) {
		t.Fatalf("%q has a run of spaces", out)
	}
	if again := cards.Neutral(out); again != out {
		t.Fatalf("Neutral changes its own result from %+q to %+q", out, again)
	}
}

func TestNeutralHidesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { checkNeutral(t, anyText(400).Draw(t, "text")) })
}

func FuzzNeutral(f *testing.F) {
	for _, s := range hostile {
		f.Add(s)
		f.Add("a" + s + s + "1")
	}
	f.Fuzz(func(t *testing.T, s string) { checkNeutral(t, s) })
}
