package page_test

import (
	"net/http"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"

	"countersign/simulator/page"
)

// hostile is a text that would do something if it were read as markup.
const hostile = `<img src=x onerror="document.title='evil'"><script>document.title='evil'</script> & <b>bold</b>`

// TestTextIsOnlyText sends text that looks like markup, and text with entities, and looks
// at what the page makes of them. Without a browser it looks at what the page is given.
func TestTextIsOnlyText(t *testing.T) {
	s := newStage(t)
	s.bot("sendMessage", map[string]any{"chat_id": annID, "text": hostile})
	s.bot("sendMessage", map[string]any{
		"chat_id": annID, "parse_mode": "HTML",
		"text": "😀 <b>bold <i>both</i></b>\n<blockquote expandable>one\ntwo</blockquote>\n<pre>&lt;u&gt;</pre>\nend <tg-spoiler>secret</tg-spoiler> <a href=\"https://example.com/\">link</a>",
	})
	path := findBrowser(t)
	if path == "" {
		snap := read[page.Snapshot](t, s.do(http.MethodGet, "/api/snapshot", "").Body.Bytes())
		messages := snap.Chats[0].Messages
		if got := messages[1].Text; got != hostile {
			t.Errorf("text %q", got)
		}
		var kinds []string
		for _, e := range messages[2].Entities {
			kinds = append(kinds, e.Type)
		}
		want := []string{"bold", "italic", "expandable_blockquote", "pre", "spoiler", "text_link"}
		if diff := cmp.Diff(want, kinds); diff != "" {
			t.Errorf("entities (-want +got)\n%s", diff)
		}
		return
	}

	tab := openTab(t, openBrowser(t, path), s.handler, desk, "")
	type seen struct {
		Title, Plain                            string
		Elements                                int // made of the hostile text
		Bold, Italic, Quote, Pre, Spoiler, Href string
	}
	got, err := chromedp.Run(tab.ctx, chromedp.Poll[seen](`(() => {
		const texts = document.querySelectorAll('.message:not(.own) .text');
		if (texts.length < 2) return null;
		const [plain, rich] = texts;
		const text = (selector) => rich.querySelector(selector).textContent;
		return {
			Title: document.title, Plain: plain.textContent, Elements: plain.querySelectorAll('*').length,
			Bold: text('strong'), Italic: text('strong em'), Quote: text('blockquote.expandable'), Pre: text('pre code'),
			Spoiler: text('.spoiler:not(.shown)'), Href: rich.querySelector('a').href,
		};
	})()`))
	if err != nil {
		t.Fatal(err)
	}
	want := seen{
		Title: "Ann · Countersign demo", Plain: hostile,
		Bold: "bold both", Italic: "both", Quote: "one\ntwo", Pre: "<u>", Spoiler: "secret", Href: "https://example.com/",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the page shows (-want +got)\n%s", diff)
	}
}
