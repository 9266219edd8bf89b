package entities_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"countersign/simulator/entities"
)

type entity = entities.Entity

func TestParseHTML(t *testing.T) {
	tests := []struct {
		name, source, text string
		want               []entity
	}{
		{"references", "&lt;b&gt; &amp; &quot;x&quot; &#65;&#x42; &amp;lt;", `<b> & "x" AB &lt;`, nil},
		{"reference without semicolon", "&lt b", "< b", nil},
		{"unknown reference", "&nbsp; & &#0; &#x110000;", "&nbsp; & &#0; &#x110000;", nil},
		{"styles", "<b>1</b><strong>2</strong><i>3</i><em>4</em><u>5</u><ins>6</ins><s>7</s><strike>8</strike><del>9</del>", "123456789", []entity{
			{Type: "bold", Offset: 0, Length: 1},
			{Type: "bold", Offset: 1, Length: 1},
			{Type: "italic", Offset: 2, Length: 1},
			{Type: "italic", Offset: 3, Length: 1},
			{Type: "underline", Offset: 4, Length: 1},
			{Type: "underline", Offset: 5, Length: 1},
			{Type: "strikethrough", Offset: 6, Length: 1},
			{Type: "strikethrough", Offset: 7, Length: 1},
			{Type: "strikethrough", Offset: 8, Length: 1},
		}},
		{"spoilers", `<tg-spoiler>a</tg-spoiler><span class="tg-spoiler">b</span>`, "ab", []entity{
			{Type: "spoiler", Offset: 0, Length: 1}, {Type: "spoiler", Offset: 1, Length: 1},
		}},
		{"offsets are UTF-16", "😀<b>é</b>", "😀é", []entity{{Type: "bold", Offset: 2, Length: 1}}},
		{"upper case and short end tag", "<B>x</>", "x", []entity{{Type: "bold", Offset: 0, Length: 1}}},
		{"nothing inside", "a<b></b>", "a", nil},
		{"nested", "<b>a<i>b</i></b>", "ab", []entity{{Type: "bold", Offset: 0, Length: 2}, {Type: "italic", Offset: 1, Length: 1}}},
		{"link", `<a href="https://Example.com">x</a>`, "x", []entity{{Type: "text_link", Offset: 0, Length: 1, URL: "https://example.com/"}}},
		{"link of its text", `<a>example.com/y</a>`, "example.com/y", []entity{{Type: "text_link", Offset: 0, Length: 13, URL: "http://example.com/y"}}},
		{"link with a reference", `<a href='http://a.bc/?x=1&amp;y=2'>x</a>`, "x", []entity{{Type: "text_link", Offset: 0, Length: 1, URL: "http://a.bc/?x=1&y=2"}}},
		{"no link", `<a href="javascript://alert">x</a>`, "x", nil},
		{"mention", `<a href="tg://user?id=7">Ann</a>`, "Ann", []entity{{Type: "text_mention", Offset: 0, Length: 3, User: &entities.Mention{ID: 7}}}},
		{"emoji", `<tg-emoji emoji-id="5368324170671202286">👍</tg-emoji>`, "👍", []entity{{Type: "custom_emoji", Offset: 0, Length: 2, CustomEmojiID: "5368324170671202286"}}},
		{"code", "<code>x</code>", "x", []entity{{Type: "code", Offset: 0, Length: 1}}},
		{"language without pre", `<code class="language-go">x</code>`, "x", []entity{{Type: "code", Offset: 0, Length: 1}}},
		{"pre", "<pre>x</pre>", "x", []entity{{Type: "pre", Offset: 0, Length: 1}}},
		{"pre with a language", `<pre><code class="language-go">x</code></pre>`, "x", []entity{{Type: "pre", Offset: 0, Length: 1, Language: "go"}}},
		{"pre in code with a language", `<code class="language-go"><pre>x</pre></code>`, "x", []entity{{Type: "pre", Offset: 0, Length: 1, Language: "go"}}},
		{"pre in code without one", `<code><pre>x</pre></code>`, "x", []entity{{Type: "pre", Offset: 0, Length: 1}, {Type: "code", Offset: 0, Length: 1}}},
		{"quotes", "<blockquote>x</blockquote><blockquote expandable>y</blockquote>", "xy", []entity{
			{Type: "blockquote", Offset: 0, Length: 1}, {Type: "expandable_blockquote", Offset: 1, Length: 1},
		}},
		{"time", `<tg-time unix="1647531900" format="wDT">then</tg-time>`, "then", []entity{
			{Type: "date_time", Offset: 0, Length: 4, UnixTime: 1647531900, DateTimeFormat: "wDT"},
		}},
		{"time without a format", `<tg-time unix=1647531900>then</tg-time>`, "then", []entity{{Type: "date_time", Offset: 0, Length: 4, UnixTime: 1647531900}}},
		{"time without a time", `<tg-time format="r">then</tg-time>`, "then", nil},
		{"unknown attribute", `<b id="1">x</b>`, "x", []entity{{Type: "bold", Offset: 0, Length: 1}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text, list, err := entities.ParseHTML(tt.source, entities.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if text != tt.text {
				t.Errorf("text = %q, want %q", text, tt.text)
			}
			if diff := cmp.Diff(tt.want, list); diff != "" {
				t.Errorf("entities (-want +got)\n%s", diff)
			}
		})
	}
}

func TestParseHTMLRefusals(t *testing.T) {
	tests := []struct{ source, want string }{
		{"<foo>x</foo>", `Unsupported start tag "foo" at byte offset 0`},
		{"é<FOO bar", `Unsupported start tag "foo" at byte offset 2`},
		{"a < b>", `Unsupported start tag "" at byte offset 2`},
		{"<b", "Unclosed start tag at byte offset 0"},
		{"<b>x", `Can't find end tag corresponding to start tag "b"`},
		{"<b><i>x</b>", `Unmatched end tag at byte offset 7, expected "</i>", found "</b>"`},
		{"x</b>", "Unexpected end tag at byte offset 1"},
		{"<b>x</b", "Unclosed end tag at byte offset 4"},
		{"<a =x>", `Empty attribute name in the tag "a" at byte offset 0`},
		{"<a href", `Unclosed start tag "a" at byte offset 0`},
		{"<a href=", `Unclosed start tag "a" at byte offset 0`},
		{`<a href="x`, "Unclosed start tag at byte offset 0"},
		{"<a href=a/b>x</a>", "Unexpected end of name token at byte offset 8"},
		{"<span>x</span>", `Tag "span" must have class "tg-spoiler" at byte offset 0`},
		{`<tg-emoji emoji-id="x">x</tg-emoji>`, "Invalid custom emoji identifier specified"},
		{`<tg-time unix="1" format="q">x</tg-time>`, "Invalid date-time format specified"},
		{"&#xd800;", "Text contains invalid Unicode characters after decoding HTML entities, check for unmatched surrogate code units"},
		{"\x00", "Text must not contain null bytes"},
	}
	for _, tt := range tests {
		t.Run(tt.source, func(t *testing.T) {
			_, _, err := entities.ParseHTML(tt.source, entities.Options{})
			var refusal *entities.ParseError
			if !errors.As(err, &refusal) || refusal.Text != tt.want {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}

func TestParseHTMLWithoutTime(t *testing.T) {
	_, _, err := entities.ParseHTML(`<tg-time unix="1">x</tg-time>`, entities.Options{NoTime: true})
	if err == nil || err.Error() != `Unsupported start tag "tg-time" at byte offset 0` {
		t.Errorf("got %v", err)
	}
}

var escaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// Text that is escaped comes back as it was, and nothing in it is formatted.
func TestEscapedTextRoundTrips(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.ReplaceAll(rapid.String().Draw(t, "text"), "\x00", "")
		got, list, err := entities.ParseHTML("<b>"+escaper.Replace(text)+"</b>", entities.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got != text {
			t.Errorf("got %q, want %q", got, text)
		}
		var want []entity
		if n := entities.UTF16Len(text); n > 0 {
			want = []entity{{Type: "bold", Length: n}}
		}
		if diff := cmp.Diff(want, list); diff != "" {
			t.Error(diff)
		}
	})
}

func FuzzParseHTML(f *testing.F) {
	for _, seed := range []string{
		"", "<", "</", "<b>x</b>", "<b><i>😀</b></i>", `<a href="x&quot;">y</a>`, "&#x1f600;&", `<pre><code class="language-go">x</code></pre>`,
		"<blockquote expandable> x </blockquote>", "@ann #tag /cmd https://example.com 4111 1111 1111 1111", "  <b> \r\n\t</b>\u202e",
		`<tg-time unix="1" format="r">x</tg-time>`, "<a>", "<a b", "\xff<b>\xff</b>",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, source string) {
		text, list, err := entities.ParseHTML(source, entities.Options{})
		if err != nil {
			return
		}
		inside(t, text, list)
		text, list = entities.Fix(text, list)
		inside(t, text, list)
		if text != strings.TrimRight(text, " \n") || strings.ContainsAny(text, "\r\t\u202e") {
			t.Errorf("Fix left %q", text)
		}
		again, _ := entities.Fix(text, list)
		if again != text {
			t.Errorf("Fix is not stable: %q, then %q", text, again)
		}
		inside(t, text, entities.Autolink(text, list))
	})
}

// inside requires that entities lie within the text.
func inside(t *testing.T, text string, list []entity) {
	t.Helper()
	for _, e := range list {
		if !entities.InBounds(text, e) {
			t.Errorf("%+v is not within %q", e, text)
		}
	}
}
