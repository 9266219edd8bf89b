package page_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"testing"
	"time"

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
	browser := findBrowser()
	if browser == "" {
		if os.Getenv("COUNTERSIGN_REQUIRE_CHROMIUM") == "1" {
			t.Fatal("there is no Chromium on the PATH")
		}
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

	tab := openTab(t, browser, s.handler)
	ctx, cancel := context.WithTimeout(tab, 30*time.Second)
	defer cancel()
	type seen struct {
		Title, Plain                            string
		Elements                                int // made of the hostile text
		Bold, Italic, Quote, Pre, Spoiler, Href string
	}
	got, err := chromedp.Run(ctx, chromedp.Poll[seen](`(() => {
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

// findBrowser returns the path of a Chromium, or nothing.
func findBrowser() string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// openTab shows a page in a browser. Whatever the page complains about fails the test.
func openTab(t *testing.T, browser string, h http.Handler) context.Context {
	t.Helper()
	server := httptest.NewServer(h)
	ctx, stop := chromedp.NewExecAllocator(context.Background(),
		chromedp.ExecPath(browser), chromedp.UserDataDir(t.TempDir()),
		chromedp.NoFirstRun, chromedp.NoDefaultBrowserCheck, chromedp.Headless, chromedp.DisableGPU, chromedp.NoSandbox,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true),
		chromedp.Flag("disable-dev-shm-usage", true))
	tab, closeTab := chromedp.NewContext(ctx)
	complained := make(chan struct{})
	t.Cleanup(func() {
		if err := chromedp.Cancel(tab); err != nil {
			t.Errorf("close the browser: %v", err)
		}
		closeTab()
		stop()
		<-complained
		server.CloseClientConnections() // the stream would hold up Close
		server.Close()
	})
	messages := chromedp.Console(tab)
	go func() {
		defer close(complained)
		for m, err := range messages {
			if err != nil {
				return // the browser is closed
			}
			if m.IsException() || m.Type == "error" {
				t.Errorf("the page complains: %s", m)
			}
		}
	}()
	if err := chromedp.Do(tab, chromedp.EmulateViewport(1360, 860), chromedp.Navigate(server.URL)); err != nil {
		t.Fatalf("open the page: %v", err)
	}
	return tab
}
