package page_test

import (
	"context"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"countersign/simulator"
)

// TestNoticesStayWhereTheyBelong taps a button as Ann, and leaves while the answer is
// shown: neither the next person nor the next chat shows it. Without a browser it looks
// only for the places of notices.
func TestNoticesStayWhereTheyBelong(t *testing.T) {
	cases := []struct {
		name  string
		alert bool
		leave string // a script
		there string // true where it has led
	}{
		{
			"a line, to another person", false,
			`document.querySelector('.person[data-id="1002"]').click()`, `!!document.querySelector('.person[data-id="1002"][aria-checked=true]')`,
		},
		{
			"a line, to another chat", false,
			`document.querySelector('.chat[data-id="-1001000000001"]').click()`, `!!document.querySelector('.chat[data-id="-1001000000001"][aria-current]')`,
		},
		{
			"an alert, back", true,
			`history.back()`, `document.getElementById('app').dataset.view === 'list'`,
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := newStage(t)
			browser := findBrowser()
			if browser == "" {
				if os.Getenv("COUNTERSIGN_REQUIRE_CHROMIUM") == "1" {
					t.Fatal("there is no Chromium on the PATH")
				}
				body := s.do(http.MethodGet, "/", "").Body.String()
				if !strings.Contains(body, `id="toasts"`) || !strings.Contains(body, `id="alert"`) {
					t.Error("the page has no place for notices")
				}
				return
			}
			s.bot("sendMessage", map[string]any{
				"chat_id": annID, "text": "Trash 3 emails?",
				"reply_markup": map[string]any{"inline_keyboard": [][]any{{map[string]any{"text": "Reject", "callback_data": "r1"}}}},
			})
			next, _ := s.follow("/api/events?as=1001", "")
			next()
			tab := openTab(t, browser, s.handler)
			ctx, cancel := context.WithTimeout(tab, 30*time.Second)
			defer cancel()
			poll := func(script string) {
				t.Helper()
				if _, err := chromedp.Run(ctx, chromedp.Poll[bool](script)); err != nil {
					t.Fatalf("%s: %v", script, err)
				}
			}
			shown := `(document.querySelectorAll('.toast').length > 0 || document.getElementById('alert').open)`

			poll(`(() => {
				const key = document.querySelector('.key');
				if (!key) return false;
				location.hash = '#chat/1001';
				key.click();
				return true;
			})()`)
			callback := read[simulator.Change](t, next().Data).Callback
			s.bot("answerCallbackQuery", map[string]any{"callback_query_id": callback, "text": "Rejected.", "show_alert": c.alert})
			poll(shown)
			poll(`(() => { ` + c.leave + `; return true; })()`)
			// At that moment, since in time a line goes by itself.
			left, err := chromedp.Run(ctx, chromedp.Poll[string](c.there+` && (`+shown+` ? 'still shown' : 'gone')`))
			if err != nil || left != "gone" {
				t.Errorf("the notice is %q, %v", left, err)
			}
		})
	}
}
