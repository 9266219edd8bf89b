package page_test

import (
	"net/http"
	"strings"
	"testing"

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
	path := findBrowser(t)
	if path == "" {
		body := newStage(t).do(http.MethodGet, "/", "").Body.String()
		if !strings.Contains(body, `id="toasts"`) || !strings.Contains(body, `id="alert"`) {
			t.Error("the page has no place for notices")
		}
		return
	}
	browser := openBrowser(t, path)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := newStage(t)
			s.ask(annID, "Trash 3 emails?", "Reject")
			next, _ := s.follow("/api/events?as=1001", "")
			next()
			tab := openTab(t, browser, s.handler, desk, "")
			shown := `(document.querySelectorAll('.toast').length > 0 || document.getElementById('alert').open)`
			tab.until(`(() => {
				const key = document.querySelector('.key');
				if (!key) return false;
				location.hash = '#chat/1001';
				key.click();
				return true;
			})()`)
			callback := read[simulator.Change](t, next().Data).Callback
			s.bot("answerCallbackQuery", map[string]any{"callback_query_id": callback, "text": "Rejected.", "show_alert": c.alert})
			tab.until(shown)
			tab.do(c.leave)
			// At that moment, since in time a line goes by itself.
			left, err := chromedp.Run(tab.ctx, chromedp.Poll[string](c.there+` && (`+shown+` ? 'still shown' : 'gone')`))
			if err != nil || left != "gone" {
				t.Errorf("the notice is %q, %v", left, err)
			}
		})
	}
}
