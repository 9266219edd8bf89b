package page_test

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"github.com/chromedp/chromedp"

	"countersign/simulator"
	"countersign/simulator/page"
)

// requireAxe names the variable that makes a missing axe-core a failure.
const requireAxe = "COUNTERSIGN_REQUIRE_AXE"

// A finding is what axe-core says of a part of the page.
type finding struct {
	Impact, ID, Help string
	Nodes            []string // their markup
}

// findings is what axe-core finds serious or critical, as JSON.
const findings = `(async () => {
	const {violations} = await axe.run(document, {resultTypes: ['violations']});
	return JSON.stringify(violations.filter((v) => ['serious', 'critical'].includes(v.impact))
		.map((v) => ({impact: v.impact, id: v.id, help: v.help, nodes: v.nodes.map((n) => n.html.slice(0, 200) + ' ' + n.failureSummary)})));
})()`

// TestAxe lets axe-core look at every part of the page, as wide as a phone and as a desk,
// light and dark. It runs where the browser and axe/node_modules are installed.
func TestAxe(t *testing.T) {
	script, err := os.ReadFile("axe/node_modules/axe-core/axe.min.js")
	path := findBrowser(t)
	if err != nil || path == "" {
		if os.Getenv(requireAxe) != "" {
			t.Fatalf("%s is set, but axe-core cannot run (browser %q, %v): run npm ci in simulator/page/axe", requireAxe, path, err)
		}
		return
	}
	s := newStage(t)
	s.runtimes.note(page.StepPublished)
	s.runtimes.note(page.StepAnswered)
	s.ask(annID, "Trash 3 emails?", "Trash", "Reject", "Exact call")
	s.bot("sendMessage", map[string]any{
		"chat_id": annID, "parse_mode": "HTML", "reply_parameters": map[string]any{"message_id": s.sim.BotMessages(annID)[0].MessageID},
		"text": "<b>bold</b> <i>italic</i> <code>code</code> <tg-spoiler>secret</tg-spoiler> <a href=\"https://example.com/\">link</a> /help #tag" +
			"\n<pre>pre</pre>\n<blockquote expandable>one\ntwo\nthree\nfour\nfive\nsix</blockquote>\n<tg-time unix=\"1772370000\" format=\"r\">soon</tg-time>",
		"reply_markup": map[string]any{"inline_keyboard": [][]any{
			{map[string]any{"text": "Cancel", "callback_data": "c"}},
			{map[string]any{"text": "Yes", "callback_data": "y", "style": "danger"}},
			{map[string]any{"text": "Undo", "callback_data": "u", "style": "success"}, map[string]any{"text": "Act", "callback_data": "a", "style": "primary"}},
		}},
	})
	s.upload("list.txt", "one\ntwo\n")
	s.ask(teamID, "Pay invoice 7?", "Pay")
	forum := s.sim.AddForum(-1001000000002, "Operations", s.ann)
	halts := forum.AddTopic("Halts")
	s.bot("sendMessage", map[string]any{"chat_id": forum.ID, "message_thread_id": halts, "text": "Halted"})
	browser := openBrowser(t, path)
	chat := func(id int64) string { return fmt.Sprintf(`document.querySelector('.chat[data-id="%d"]').click()`, id) }
	parts := []struct{ name, script, there string }{
		{"list", `location.hash = ''`, `document.querySelectorAll('.chat').length === 3`},
		{"card and step", chat(annID), `document.querySelectorAll('.key').length > 6`},
		{"reply", newest + `.focus(); ` + newest + `.querySelector('.reply').click()`, replying},
		{"commands", `document.getElementById('commands').click()`, hintsShown + ` !== ''`},
		{"menu", `document.getElementById('commands').click(); ` + newest + `.dispatchEvent(new MouseEvent('contextmenu', {bubbles: true, cancelable: true}))`, `document.getElementById('menu').matches(':popover-open')`},
		{"file", `document.getElementById('menu').hidePopover(); document.querySelector('.document-open').click()`, `document.getElementById('reader').open`},
		{"group", `document.getElementById('reader').close(); ` + chat(teamID), `document.getElementById('log').textContent.includes('invoice 7')`},
		{"alert", `document.querySelector('.key').click()`, `document.getElementById('alert').open`},
		{"topics", `document.getElementById('alert').close(); ` + chat(forum.ID), `document.querySelectorAll('.topic').length === 2`},
		{"runtimes", `document.getElementById('show-runtimes').click()`, `document.getElementById('runtimes').checkVisibility()`},
	}
	for _, size := range []size{phone, desk} {
		for _, theme := range []string{"light", "dark"} {
			t.Run(size.name+" "+theme, func(t *testing.T) {
				b := openTab(t, browser, s.handler, size, "")
				if _, err := chromedp.Run(b.ctx, chromedp.Evaluate[chromedp.Void](string(script)+";0")); err != nil {
					t.Fatal(err)
				}
				b.do(`document.documentElement.dataset.theme = '` + theme + `'`)
				for _, p := range parts {
					b.do(p.script)
					if p.name == "alert" {
						s.answerLast("Only for Olga")
					}
					b.until(p.there + ` && document.getAnimations().length === 0`)
					got, err := chromedp.Run(b.ctx, chromedp.Evaluate[string](findings, chromedp.EvalAwaitPromise))
					if err != nil {
						t.Fatalf("%s: %v", p.name, err)
					}
					var list []finding
					if err := json.Unmarshal([]byte(got), &list); err != nil {
						t.Fatal(err)
					}
					for _, f := range list {
						t.Errorf("%s: %s %s: %s\n%q", p.name, f.Impact, f.ID, f.Help, f.Nodes)
					}
				}
			})
		}
	}
}

// answerLast answers the newest tap with an alert, as the bot, once there is one that has
// no answer yet.
func (s *stage) answerLast(text string) {
	s.t.Helper()
	var tap simulator.Change
	if err := s.sim.Wait(s.t.Context(), func() bool {
		changes, _ := s.sim.Changes(0)
		open := map[string]simulator.Change{}
		for _, c := range changes {
			switch c.Kind {
			case simulator.CallbackTapped:
				open[c.Callback] = c
			case simulator.CallbackAnswered:
				delete(open, c.Callback)
			}
		}
		for _, c := range open {
			tap = c
		}
		return len(open) > 0
	}); err != nil {
		s.t.Fatal(err)
	}
	s.bot("answerCallbackQuery", map[string]any{"callback_query_id": tap.Callback, "text": text, "show_alert": true})
}
