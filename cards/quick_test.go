package cards_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"countersign/approval"
	"countersign/cards"
)

// TestQuickCharacters: of every character there is, the tables say what Unicode's do.
func TestQuickCharacters(t *testing.T) {
	everyday := 0
	for c := rune(0); c <= unicode.MaxRune; c++ {
		if c == 0x40000 {
			c = 0xe0000 // nothing is assigned in between
		}
		if c == 0xe1000 {
			c = 0xfff00 // and here all is private use, one like the other
		}
		if c == 0x100100 {
			c = 0x10ff00
		}
		if got, want := cards.Hidden(c), cards.SlowHidden(c); got != want {
			t.Errorf("%U is hidden: %t, want %t", c, got, want)
		}
		if got, want := cards.Combining(c), unicode.In(c, unicode.M); got != want {
			t.Errorf("%U combines: %t, want %t", c, got, want)
		}
		if got, want := cards.StandsFor(c), cards.SlowStandsFor(c); got != want {
			t.Errorf("%U stands for another: %t, want %t", c, got, want)
		}
		if cards.Everyday(c) {
			everyday++
			if cards.SlowHidden(c) || unicode.In(c, unicode.M) {
				t.Errorf("%U is no everyday character", c)
			}
		}
	}
	if everyday < 30_000 {
		t.Errorf("%d characters are everyday", everyday)
	}
	for c := rune(0); c < 0x80; c++ {
		if got, want := cards.IsOdd(c), unicode.In(c, unicode.S); got != want {
			t.Errorf("%q is odd: %t, want %t", c, got, want)
		}
		if unicode.IsLetter(c) && (!cards.IsLatin(c) || cards.ScriptOf(c) != unicode.Latin) {
			t.Errorf("%q is no Latin letter", c)
		}
	}
}

// shards are what secrets, links and words of ours are made of, and what is nearly that.
var shards = []string{
	"Re", "ject", "c", "l", "r", "n", "v", "v", "Can", "cel", "ab", "Ye", "s", "да", "取消", "x", "4", "1", "|", "(", "-", " ", " ", "A", "é", "𝐘𝐞𝐬", "ß", "…", "·",
	"ghp_", "gho", "sk-", "sk_live_", "xoxb-", "xapp-", "glpat-", "github_pat_", "npm_", "hf_", "SG.", "ya29.", "eyJ", "AKIA", "ASIA", "AIza", "AGE-SECRET-KEY-1",
	strings.Repeat("Ab3", 12), strings.Repeat("A7", 10), "abcdefgh.", "abcdefgh.abcdefgh", "123456", "1234567", "Basic ", "Bearer ", "bearer\t", "authorization", "Cookie", "set-cookie",
	"password", "PASSWD", "pwd", "passphrase", "secret", "to\u212aen", "api_key", "access-\u212aey", "cre\u0064entials", "pa\u017fsword", "\u017fecret", "key", ":", "=", ": ", "\t=", `"`, "'", "[", "]", "[masked]",
	"://", "https://", "u:", "p@", "@", "#", "/", "$", ".", "..", "+", "-----BEGIN ", "RSA PRIVATE KEY-----", "-----END PRIVATE KEY-----", "\n", "\\", "12 34", "5.", "\xff", "\xe2\x80", "\u2028", "\u0600",
}

// anyShards is text put together from shards and hostile words.
var anyShards = rapid.Custom(func(t *rapid.T) string {
	word := rapid.OneOf(rapid.SampledFrom(shards), rapid.SampledFrom(shards), rapid.SampledFrom(hostile), rapid.StringN(0, 8, -1))
	return strings.Join(rapid.SliceOfN(word, 0, 10).Draw(t, "shards"), "")
})

// edges are texts at the edge of a shortcut.
var edges = []string{
	"", " ", strings.Repeat(" ", 8), strings.Repeat(" ", 9), "a" + strings.Repeat(" ", 9) + "b", "é" + strings.Repeat(" ", 9), "123456", "1234567", "12 34-56", "12 34-56/7", "1é234567",
	"5.", "5. x", "a. b", "a.b", "# x", "#x", "$ 5", "$5", "$x", "a@", "a@b", "a/ b", "a/b", "/", "x\xff#y", "\xff",
	"vvhole list", "vvithdravv n of it", "w it hd ra w n", "sho vv", "clo not", "c lo not", "uncl 0", "con firrn", "confirm", "approve!", "yes", "yesterday", "Yesterday", "no", "Note", "nо", "н о",
	"a approve", "8 yes", "Re ject", "exact call", "exactcal", "exact  call it", "取消订单", "取 消", "да!", "да ть", "дать", "genehmi gt", "👎 all", "  👎",
}

// TestQuickTexts: the shortcuts for everyday text give what is given without them.
func TestQuickTexts(t *testing.T) {
	words := []string{"да", "取消", "👎", "genehmigt"}
	for _, s := range slices.Concat(edges, shards, hostile) {
		if err := quickly(s, words); err != nil {
			t.Errorf("%q: %v", s, err)
		}
	}
	quick := 0
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(anyShards, anyText(200)).Draw(t, "text")
		others := rapid.SliceOfN(rapid.OneOf(anyShards, rapid.SampledFrom(words)), 0, 3).Draw(t, "words")
		if err := quickly(s, others); err != nil {
			t.Fatal(err)
		}
		if cards.Unmarked(s) && cards.Linkless(s) && cards.Suspect(s) == 0 {
			quick++
		}
	})
	if quick == 0 {
		t.Error("no text takes every shortcut")
	}
}

// quickly says where a shortcut shows in s.
func quickly(s string, others []string) error {
	visible, marks := cards.SlowPieces(s)
	if got := cards.Neutral(s); got != visible {
		return fmt.Errorf("neutral is %q, want %q", got, visible)
	}
	if cards.Unmarked(s) && marks {
		return errors.New("there is something to mark")
	}
	if got, want := cards.Unlinked(s), cards.SlowUnlinked(s); got != want {
		return fmt.Errorf("unlinked is %q, want %q", got, want)
	}
	if got, want := cards.Units(s), utf16Len(s); got != want {
		return fmt.Errorf("%d units, want %d", got, want)
	}
	if got, want := cards.BeginsWith(s, others), cards.SlowBeginsWith(s, others); got != want {
		return fmt.Errorf("it begins with a word of ours or of %q: %t, want %t", others, got, want)
	}
	text, n := cards.MaskSecrets(s)
	if want, masks := cards.SlowMaskSecrets(s); text != want || n != masks {
		return fmt.Errorf("masked %d times as %q, want %d times as %q", n, text, masks, want)
	}
	if got, want := cards.NamesSecret(s), cards.SlowNamesSecret(s); got != want {
		return fmt.Errorf("it names a secret: %t, want %t", got, want)
	}
	return nil
}

// TestEverySecretIsSuspected: whatever a secret is called by, follows or begins with, it
// is masked as where every pattern is tried.
func TestEverySecretIsSuspected(t *testing.T) {
	long, upper := strings.Repeat("aB3", 16), strings.Repeat("Q7", 8)
	var all []string
	for _, name := range []string{
		"password", "PassWd", "pwd", "passphrase", "secret", "token", "API_KEY", "apikey", "access-key", "private_key", "secretkey", "\u017fecret", "pa\u017f\u017fword",
		"to\u212aen", "api_\u212aey", "authorization", "Authorization", "cookie", "Set-Coo\u212aie",
	} {
		if !cards.NamesSecret(name) && cards.SlowNamesSecret(name) {
			t.Errorf("%q names no secret", name)
		}
		for _, quote := range []string{"", `"`, "'"} {
			for _, gap := range []string{"", " ", "\t\n", "\r\f"} {
				for _, sign := range []string{":", "=", ": Bearer ", ":basic "} {
					all = append(all, name+quote+gap+sign+gap+quote+"hunter22 and more")
				}
			}
		}
	}
	for _, begins := range []string{
		"sk-", "sk_live_", "sk_test_", "rk_live_", "rk_test_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "xoxb-", "xoxp-", "xoxz-", "xapp-1-",
		"AIza", "ya29.", "npm_", "hf_", "SG." + long + ".", "eyJ" + long + "." + long + ".", "bearer ", "BEARER\t", "Bearer \n",
	} {
		all = append(all, begins+long)
	}
	for _, begins := range []string{"AKIA", "ASIA", "AGE-SECRET-KEY-1" + upper} {
		all = append(all, begins+upper)
	}
	all = append(all,
		"123456:"+long, "123456789012:"+long[:30], "https://u:p@h", "a+b.c-d://:x@", "postgres://me:"+long+"@db/x",
		"-----BEGIN PRIVATE KEY-----\nMII", "-----BEGIN EC PRIVATE KEY-----\nMII\n-----END EC PRIVATE KEY-----",
	)
	masked := 0
	for _, secret := range all {
		for _, s := range []string{secret, "(" + secret + ")", "ж " + secret + " ж", secret[1:], secret[:len(secret)-1], secret + ";" + all[0]} {
			text, n := cards.MaskSecrets(s)
			if want, masks := cards.SlowMaskSecrets(s); text != want || n != masks {
				t.Errorf("%q is masked %d times as %q, want %d times as %q", s, n, text, masks, want)
			}
			masked += n
		}
	}
	if masked < 3*len(all) {
		t.Errorf("of %d secrets only %d are masked", len(all), masked)
	}
}

// TestQuickMeasure: the exact call takes the room that was measured, whatever is in it.
func TestQuickMeasure(t *testing.T) {
	leaves := []string{
		"0", "-0", "1", "-17", "1.5", "1.50", "0.25", "-0.000001", "0.0000001", "0.000001234567", "1e5", "1E400", "123456789012345", "1234567890123456", "8.0000000000000002", "01", "-", "1.", ".5",
		"9007199254740993", "true", "false", "null", "nul", "truex", `"\u200b"`, `"\ud83d\ude00"`, `"\ud83d"`, `"\/\n\"\\"`, `"\x"`, "\"\x7f\"", "\"\xff\"", `"�"`, "{}", "[]", "{ }", "", "{}\x00",
	}
	for _, s := range slices.Concat(edges, shards, hostile) {
		leaves = append(leaves, quoted(s))
	}
	for _, s := range leaves {
		for _, args := range []string{s, "[" + s + "]", `{"a":` + s + "}", `{"token":[` + s + `, {"x":` + s + "}]}", "{" + s + ":1}", "{" + s + ":1," + s + ":2}"} {
			for _, redact := range []bool{false, true} {
				calls := []approval.Call{{Tool: "trash", Arguments: []byte(args)}, {Tool: s, Arguments: []byte(`{"a":1}`)}}
				if got, want := cards.ExactUnits(calls, redact), cards.SlowExactUnits(calls, redact); got != want {
					t.Errorf("it takes %d units, measured as %d:\n%s", want, got, calls)
				}
			}
		}
	}
	leaf := rapid.OneOf(rapid.Map(anyShards, quoted), rapid.SampledFrom(leaves))
	name := rapid.OneOf(rapid.Map(anyShards, quoted), rapid.SampledFrom([]string{`"a"`, `"b"`, `"\u0061"`, `"token"`, `"password"`, `"note"`, `"x"`, "a", ""}))
	var value func(depth int) *rapid.Generator[string]
	value = func(depth int) *rapid.Generator[string] {
		if depth == 0 {
			return leaf
		}
		return rapid.Custom(func(t *rapid.T) string {
			gap := rapid.SampledFrom([]string{"", "", " ", "\n\t"}).Draw(t, "gap")
			switch rapid.IntRange(0, 4).Draw(t, "kind") {
			case 0:
				return gap + leaf.Draw(t, "leaf") + gap
			case 1:
				return "[" + strings.Join(rapid.SliceOfN(value(depth-1), 0, 4).Draw(t, "list"), ","+gap) + gap + "]"
			}
			var members []string
			for range rapid.IntRange(0, 4).Draw(t, "members") {
				members = append(members, gap+name.Draw(t, "name")+gap+":"+value(depth-1).Draw(t, "value"))
			}
			return gap + "{" + strings.Join(members, ",") + gap + "}"
		})
	}
	measured, rendered := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		redact := rapid.Bool().Draw(t, "redact")
		calls := make([]approval.Call, rapid.IntRange(1, 3).Draw(t, "calls"))
		for i := range calls {
			calls[i] = approval.Call{Tool: rapid.OneOf(rapid.Just("trash"), anyShards).Draw(t, "tool"), Arguments: []byte(value(3).Draw(t, "arguments"))}
			if cards.Measured(calls[i], redact) {
				measured++
			} else {
				rendered++
			}
		}
		if got, want := cards.ExactUnits(calls, redact), cards.SlowExactUnits(calls, redact); got != want {
			t.Fatalf("it takes %d units, measured as %d:\n%s", want, got, calls)
		}
	})
	if measured == 0 || rendered == 0 {
		t.Errorf("%d were measured, %d rendered", measured, rendered)
	}
}

func quoted(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// TestQuickDigest: a message is digested as the JSON that it always was.
func TestQuickDigest(t *testing.T) {
	for _, s := range slices.Concat(edges, shards, hostile) {
		m := cards.Message{HTML: s, Keyboard: [][]cards.Button{{{Text: s, Data: s, Style: s}}, {}}}
		if got, want := m.Sent(), m.SlowSent(); got != want {
			t.Errorf("digested is %s, want %s", got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(anyShards, anyText(100))
		button := rapid.Custom(func(t *rapid.T) cards.Button {
			return cards.Button{Text: text.Draw(t, "text"), Data: text.Draw(t, "data"), Style: text.Draw(t, "style")}
		})
		m := cards.Message{HTML: text.Draw(t, "html")}
		if rapid.Bool().Draw(t, "keyboard") {
			m.Keyboard = rapid.SliceOfN(rapid.SliceOfN(button, 0, 3), 0, 3).Draw(t, "buttons")
		}
		if got, want := m.Sent(), m.SlowSent(); got != want {
			t.Fatalf("digested is %s, want %s", got, want)
		}
	})
}
