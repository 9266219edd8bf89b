package entities_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"countersign/simulator/entities"
)

func TestFix(t *testing.T) {
	tests := []struct {
		name, text string
		list       []entity
		wantText   string
		want       []entity
	}{
		{"control characters", "a\tb\x07c\r\nd", nil, "a b c\nd", nil},
		{"directional marks", "a\u202eb\u2028c\u200fd", nil, "abc\u200fd", nil},
		{"combining lines", "a\u0333b", nil, "ab", nil},
		{"white space around", " \n a \n ", nil, "a", nil},
		{"nothing but white space", " \n ", nil, "", nil},
		{
			"entities move along", " \r😀x\r ",
			[]entity{{Type: "bold", Offset: 2, Length: 3}, {Type: "italic", Offset: 4, Length: 3}},
			"😀x",
			[]entity{{Type: "bold", Offset: 0, Length: 3}, {Type: "italic", Offset: 2, Length: 1}},
		},
		{
			"white space in code stays at the beginning", "  x",
			[]entity{{Type: "pre", Offset: 0, Length: 3}},
			"  x",
			[]entity{{Type: "pre", Offset: 0, Length: 3}},
		},
		{"bold white space", "a   b", []entity{{Type: "bold", Offset: 1, Length: 3}}, "a   b", nil},
		{
			"neighbours are joined", "ab",
			[]entity{{Type: "bold", Offset: 0, Length: 1}, {Type: "bold", Offset: 1, Length: 1}},
			"ab",
			[]entity{{Type: "bold", Offset: 0, Length: 2}},
		},
		{
			"no style in code", "abc",
			[]entity{{Type: "bold", Offset: 0, Length: 3}, {Type: "code", Offset: 1, Length: 1}},
			"abc",
			[]entity{{Type: "bold", Offset: 0, Length: 1}, {Type: "code", Offset: 1, Length: 1}, {Type: "bold", Offset: 2, Length: 1}},
		},
		{
			"no code in a link", "abc",
			[]entity{{Type: "text_link", Offset: 0, Length: 3, URL: "http://a.bc/"}, {Type: "code", Offset: 1, Length: 1}},
			"abc",
			[]entity{{Type: "text_link", Offset: 0, Length: 3, URL: "http://a.bc/"}},
		},
		{
			"no quote in a quote", "abc",
			[]entity{{Type: "blockquote", Offset: 0, Length: 3}, {Type: "blockquote", Offset: 1, Length: 1}},
			"abc",
			[]entity{{Type: "blockquote", Offset: 0, Length: 3}},
		},
		{
			"code in a quote", "abc",
			[]entity{{Type: "code", Offset: 1, Length: 1}, {Type: "expandable_blockquote", Offset: 0, Length: 3}},
			"abc",
			[]entity{{Type: "expandable_blockquote", Offset: 0, Length: 3}, {Type: "code", Offset: 1, Length: 1}},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text, list := entities.Fix(tt.text, tt.list)
			if text != tt.wantText {
				t.Errorf("text = %q, want %q", text, tt.wantText)
			}
			if diff := cmp.Diff(tt.want, list); diff != "" {
				t.Errorf("entities (-want +got)\n%s", diff)
			}
		})
	}
}

func TestAutolink(t *testing.T) {
	tests := []struct {
		text string
		want []string // type and covered text
	}{
		{"plain words, 3 of them.", nil},
		{"see https://example.com/a?b=c.", []string{"url https://example.com/a?b=c"}},
		{"see example.com, or not", []string{"url example.com"}},
		{"report.md and main.go", []string{"url report.md", "url main.go"}},
		{"version 1.2.3", nil},
		{"192.168.0.1:8080/x", []string{"url 192.168.0.1:8080/x"}},
		{"tg://resolve?domain=x", []string{"url tg://resolve?domain=x"}},
		{"write to ann@example.com", []string{"email ann@example.com"}},
		{"@ann and ann@ben", []string{"mention @ann"}},
		{"(@ann_b)", []string{"mention @ann_b"}},
		{"#tag #1 #1a x#y", []string{"hashtag #tag", "hashtag #1a"}},
		{"$USD $usd a$USD", []string{"cashtag $USD"}},
		{"/start /start@some_bot a/b /a/b </x>", []string{"bot_command /start", "bot_command /start@some_bot"}},
		{"+1 202 555 0143", []string{"phone_number +1 202 555 0143"}},
		{"4111 1111 1111 1111", []string{"bank_card 4111 1111 1111 1111"}},
		{"4111 1111 1111 1112", nil},
		{"x\u2060@\u2060ann /\u2060start", nil},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			var got []string
			for _, e := range entities.Autolink(tt.text, nil) {
				got = append(got, e.Type+" "+entities.Slice(tt.text, e))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestAutolinkStaysOutOfCodeAndLinks(t *testing.T) {
	const text = "@ann @ben @cat"
	list := []entity{
		{Type: "code", Offset: 0, Length: 4},
		{Type: "text_link", Offset: 5, Length: 4, URL: "http://a.bc/"},
		{Type: "bold", Offset: 10, Length: 4},
	}
	want := append(list[:2:2], entity{Type: "mention", Offset: 10, Length: 4}, list[2])
	if diff := cmp.Diff(want, entities.Autolink(text, list)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestSliceAndBounds(t *testing.T) {
	const text = "a😀b"
	tests := []struct {
		offset, length int
		want           string
		inBounds       bool
	}{
		{0, 1, "a", true},
		{1, 2, "😀", true},
		{3, 1, "b", true},
		{0, 4, text, true},
		{1, 1, "😀", false},
		{0, 5, text, false},
		{-1, 1, "", false},
		{1, 0, "", false},
	}
	for _, tt := range tests {
		e := entity{Offset: tt.offset, Length: tt.length}
		if got := entities.Slice(text, e); got != tt.want {
			t.Errorf("Slice(%d, %d) = %q, want %q", tt.offset, tt.length, got, tt.want)
		}
		if got := entities.InBounds(text, e); got != tt.inBounds {
			t.Errorf("InBounds(%d, %d) = %v", tt.offset, tt.length, got)
		}
	}
}
