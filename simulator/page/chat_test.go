package page_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/google/go-cmp/cmp"

	"countersign/simulator"
)

// Scripts that say what the page shows.
const (
	replying   = `!document.getElementById('replying').hidden`
	composing  = `document.activeElement.id === 'draft'`
	draftText  = `document.getElementById('draft').value`
	hintsShown = `[...document.querySelectorAll('#hints:not([hidden]) .command-hint b')].map((b) => b.textContent).join(' ')`
	// Toasts go by themselves, so that they are noted down.
	noteToasts = `new MutationObserver(() => { window.noted = document.getElementById('toasts').textContent || window.noted; }).observe(document.getElementById('toasts'), {childList: true})`
	atEnd      = `(({scrollHeight, scrollTop, clientHeight}) => scrollHeight - scrollTop - clientHeight < 2)(document.getElementById('scroll'))`
	newest     = `[...document.querySelectorAll('.message')].at(-1)`
)

// TestChat uses the chat as people do, in a browser.
func TestChat(t *testing.T) {
	path := findBrowser(t)
	if path == "" {
		return // what the page is given is tested without one
	}
	browser := openBrowser(t, path)
	for name, test := range map[string]func(*testing.T, context.Context){
		"reply by key": replyByKey, "reply by swipe": replyBySwipe, "menu": messageMenu,
		"command hints": commandHints, "drafts": drafts, "a draft that fails": failedDraft,
		"quotes": quotes, "opened parts": openedParts, "unread": unread, "place kept": placeKept,
		"document": document, "two windows": twoWindows, "second tap": secondTap,
	} {
		t.Run(name, func(t *testing.T) { test(t, browser) })
	}
}

// last waits for a message of Ann's and returns it.
func (s *stage) last(chat int64, text string) simulator.Message {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	var found simulator.Message
	if err := s.sim.Wait(ctx, func() bool {
		list := s.sim.Messages(chat)
		found = list[len(list)-1]
		return found.Text == text
	}); err != nil {
		s.t.Fatalf("%v; the last message is %q, want %q", err, found.Text, text)
	}
	return found
}

func replyByKey(t *testing.T, browser context.Context) {
	s := newStage(t)
	s.ask(annID, "Trash 3 emails?", "Reject")
	b := openTab(t, browser, s.handler, desk, "#chat/1001")
	b.do(`document.getElementById('draft').focus()`)
	b.keys(kb.ArrowUp)
	b.until(`document.activeElement === ` + newest)
	b.key("r")
	b.until(replying + ` && ` + composing + ` && document.getElementById('replying-text').textContent === 'Trash 3 emails?'`)
	b.keys(kb.Escape)
	b.until(`!(` + replying + `)`)
	b.keys(kb.ArrowUp, kb.ModifierCtrl) // the same from within the box
	b.until(replying)
	b.keys("approve")
	b.key("Enter")
	m := s.last(annID, "approve")
	if m.ReplyToMessage == nil || m.ReplyToMessage.Text != "Trash 3 emails?" {
		t.Errorf("it replies to %+v", m.ReplyToMessage)
	}
	b.until(`!(` + replying + `) && ` + draftText + ` === ''`)
}

func replyBySwipe(t *testing.T, browser context.Context) {
	s := newStage(t)
	s.ask(annID, "Trash 3 emails?", "Reject")
	b := openTab(t, browser, s.handler, phone, "#chat/1001")
	b.until(newest + `?.textContent.includes('Trash')`)
	bubble := `.message:not(.own) .bubble`
	b.swipe(bubble, 30)
	b.until(`document.getAnimations().length === 0`)
	if got := b.text(`String(` + replying + `)`); got != "false" {
		t.Error("a short swipe replies")
	}
	b.swipe(bubble, 90)
	b.until(replying)
}

func messageMenu(t *testing.T, browser context.Context) {
	s := newStage(t)
	s.ask(annID, "Trash 3 emails?", "Reject")
	b := openTab(t, browser, s.handler, desk, "#chat/1001")
	b.until(newest + `?.textContent.includes('Trash')`)
	b.do(newest + `.focus(); ` + newest + `.dispatchEvent(new MouseEvent('contextmenu', {bubbles: true, cancelable: true}))`)
	b.until(`document.activeElement.textContent.startsWith('Reply')`)
	b.keys(kb.ArrowDown)
	b.until(`document.activeElement.textContent === 'Copy text'`)
	b.keys(kb.Escape)
	b.until(`!document.getElementById('menu').matches(':popover-open') && document.activeElement === ` + newest)
	b.do(newest + `.dispatchEvent(new MouseEvent('contextmenu', {bubbles: true, cancelable: true}))`)
	b.until(`document.activeElement.textContent.startsWith('Reply')`)
	b.keys("\r") // a button wants the character as well
	b.until(replying + ` && ` + composing)
}

func quotes(t *testing.T, browser context.Context) {
	s := newStage(t)
	s.ask(annID, "the first", "Reject")
	first := s.sim.BotMessages(annID)[0]
	for i := range 30 {
		s.bot("sendMessage", map[string]any{"chat_id": annID, "text": fmt.Sprintf("message %d\nwith\nlines", i)})
	}
	s.bot("sendMessage", map[string]any{"chat_id": annID, "text": "a reply", "reply_parameters": map[string]any{"message_id": first.MessageID}})
	b := openTab(t, browser, s.handler, phone, "#chat/1001")
	b.until(`document.querySelector('.quote')?.textContent.includes('the first')`)
	b.do(`document.querySelector('.quote').click()`)
	b.until(fmt.Sprintf(`(() => {
		const m = document.querySelector('.message[data-id="%d"]');
		const r = m.getBoundingClientRect();
		return m.classList.contains('lit') && document.activeElement === m && r.top > 0 && r.bottom < innerHeight;
	})()`, first.MessageID))
	s.sim.Delete(first)
	b.until(`!document.querySelector('.message.lit')`)
	b.do(noteToasts + `; document.querySelector('.quote').click()`)
	b.until(`window.noted?.includes('no longer here')`)
}

// openedParts opens a spoiler and a long quote, which stay open when the message changes.
func openedParts(t *testing.T, browser context.Context) {
	s := newStage(t)
	text := "<tg-spoiler>secret</tg-spoiler>\n<blockquote expandable>" + strings.Repeat("line\n", 12) + "end</blockquote>\n<blockquote expandable>short</blockquote>"
	s.bot("sendMessage", map[string]any{"chat_id": annID, "parse_mode": "HTML", "text": text})
	card := s.sim.BotMessages(annID)[0]
	b := openTab(t, browser, s.handler, desk, "#chat/1001")
	b.until(`document.querySelectorAll('.expand').length === 2`)
	b.until(`document.querySelectorAll('.expand')[0].checkVisibility() && !document.querySelectorAll('.expand')[1].checkVisibility()`)
	b.do(`document.querySelector('.spoiler').focus()`)
	b.key("Enter")
	b.until(`document.querySelector('.spoiler.shown > span')?.checkVisibility({opacityProperty: true})`)
	before := b.text(`String(document.querySelector('.expandable').offsetHeight)`)
	b.do(`document.querySelector('.expand').click()`)
	b.until(`document.querySelector('.expandable').offsetHeight > 2 * ` + before)
	s.bot("editMessageText", map[string]any{"chat_id": annID, "message_id": card.MessageID, "parse_mode": "HTML", "text": text + "\nchanged"})
	b.until(newest + `.textContent.includes('changed') && !!document.querySelector('.spoiler.shown') && !!document.querySelector('.expandable.expanded')`)
	b.until(`document.querySelector('.edited')?.checkVisibility()`)
}

func unread(t *testing.T, browser context.Context) {
	s := newStage(t)
	b := openTab(t, browser, s.handler, phone, "")
	badge := `(document.querySelector('.chat[data-id="-1001000000001"] .badge')?.textContent ?? '')`
	for i := range 3 {
		s.ask(teamID, fmt.Sprintf("Pay invoice %d?", i), "Pay")
		b.until(fmt.Sprintf(`%s === '%d' && document.title.startsWith('(%d)')`, badge, i+1, i+1))
	}
	b.do(`document.querySelector('.chat[data-id="-1001000000001"]').click()`)
	b.until(badge + ` === ''`)
	for range 20 {
		s.bot("sendMessage", map[string]any{"chat_id": teamID, "text": "more\nof\nit"})
	}
	b.until(`document.querySelectorAll('.message').length === 23 && document.getElementById('to-end').hidden && ` + badge + ` === ''`)
	b.until(atEnd) // it has come to rest
	b.until(`(document.getElementById('scroll').scrollTop = 0, !document.getElementById('to-end').hidden)`)
	s.ask(teamID, "One more", "Pay")
	b.until(`document.getElementById('to-end-count').textContent === '1'`)
	b.do(`document.getElementById('to-end').click()`)
	b.until(`document.getElementById('to-end').hidden && document.getElementById('to-end-count').textContent === '' && ` + badge + ` === ''`)
	b.do(`document.getElementById('back').click()`)
	s.ask(teamID, "And another", "Pay")
	b.until(badge + ` === '1'`)
	b.do(`document.querySelector('.chat[data-id="-1001000000001"]').click()`)
	b.until(`document.querySelector('.unread-line')?.nextElementSibling.textContent.includes('And another')`)
}

// placeKept leaves a chat in the middle and comes back.
func placeKept(t *testing.T, browser context.Context) {
	s := newStage(t)
	for i := range 40 {
		s.bot("sendMessage", map[string]any{"chat_id": annID, "text": fmt.Sprintf("message %d\nwith\nlines", i)})
	}
	b := openTab(t, browser, s.handler, desk, "#chat/1001")
	b.until(`(document.getElementById('to-end').click(), document.getElementById('to-end').hidden)`)
	b.until(atEnd)
	atTop := `[...document.querySelectorAll('.message')].find((m) => m.getBoundingClientRect().bottom > document.getElementById('scroll').getBoundingClientRect().top)?.dataset.id`
	b.until(`document.querySelectorAll('.message').length === 41 && (document.getElementById('scroll').scrollTop = 900, !document.getElementById('to-end').hidden)`)
	before := b.text(atTop)
	b.do(`document.querySelector('.chat[data-id="-1001000000001"]').click()`)
	b.until(`document.querySelectorAll('.message').length === 0`)
	b.do(`document.querySelector('.chat[data-id="1001"]').click()`)
	b.until(`document.querySelectorAll('.message').length === 41`)
	if diff := cmp.Diff(before, b.text(atTop)); diff != "" {
		t.Errorf("the message at the top (-before +after)\n%s", diff)
	}
}

func document(t *testing.T, browser context.Context) {
	s := newStage(t)
	s.upload("list.txt", "1. <b>one</b>\n2. two\n")
	b := openTab(t, browser, s.handler, phone, "#chat/1001")
	b.until(`(document.querySelector('.document-open')?.focus(), document.activeElement.matches('.document-open'))`)
	b.keys("\r")
	b.until(`document.getElementById('reader').open && document.getElementById('reader-text').textContent === '1. <b>one</b>\n2. two\n'`)
	if got, want := b.text(`document.getElementById('reader-name').textContent + ' ' + document.getElementById('reader-size').textContent`), "list.txt 21 B · 2 lines"; got != want {
		t.Errorf("the head is %q, want %q", got, want)
	}
	if got := b.text(`document.getElementById('reader-save').getAttribute('href')`); !strings.Contains(got, "download=1") {
		t.Errorf("saved from %q", got)
	}
	b.keys(kb.Escape)
	b.until(`!document.getElementById('reader').open && document.activeElement.matches('.document-open')`)
}

// twoWindows lets Ann tap where Ben looks on.
func twoWindows(t *testing.T, browser context.Context) {
	s := newStage(t)
	s.sim.Room(teamID).SetStatus(benID, simulator.Member)
	s.ask(teamID, "Pay invoice 7?", "Pay 4,800 €", "Reject")
	ann := openTab(t, browser, s.handler, desk, "?as=1001#chat/-1001000000001")
	ben := openTab(t, browser, s.handler, phone, "?as=1002#chat/-1001000000001")
	ben.until(newest + `?.textContent.includes('invoice 7')`)
	ann.until(newest + `?.textContent.includes('invoice 7')`)
	// It goes by itself, so that what was seen is noted down.
	ben.do(`new MutationObserver(() => {
		const note = document.querySelector('.tapped');
		if (note) window.noted = note.textContent + ' ' + (document.querySelector('.key.flash')?.textContent ?? '');
	}).observe(document.getElementById('log'), {subtree: true, childList: true, attributes: true})`)
	ann.do(`document.querySelector('.key').click()`)
	ben.until(`window.noted === 'Ann tapped “Pay 4,800 €” Pay 4,800 €'`)
	ann.until(`!!document.querySelector('.key.busy')`)
	if got := ann.text(`String(document.querySelectorAll('.tapped').length)`); got != "0" {
		t.Error("Ann is told of her own tap")
	}
}

// secondTap holds the buttons of a card where they are while it changes, however much
// there is above them, so that a second tap never finds what a person has yet to see.
func secondTap(t *testing.T, browser context.Context) {
	for name, before := range map[string]int{"alone": 0, "at the end": 20} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			for i := range before {
				s.bot("sendMessage", map[string]any{"chat_id": annID, "text": fmt.Sprintf("message %d\nwith\nlines", i)})
			}
			keys := func(texts ...string) map[string]any {
				rows := [][]map[string]any{}
				for _, text := range texts {
					rows = append(rows, []map[string]any{{"text": text, "callback_data": text}})
				}
				return map[string]any{"inline_keyboard": rows}
			}
			s.bot("sendMessage", map[string]any{"chat_id": annID, "text": "Pay?", "reply_markup": keys("Pay", "Reject", "Exact call")})
			card := s.last(annID, "Pay?")
			b := openTab(t, browser, s.handler, phone, "#chat/1001")
			b.until(newest + `?.querySelectorAll('.key').length === 3 && (document.getElementById('to-end').click(), document.getElementById('to-end').hidden)`)
			b.until(atEnd)
			// Only the first button is in sight, yet that counts as being at the end.
			if before > 0 {
				b.do(`document.getElementById('scroll').scrollTop -= 90`)
			}
			b.do(`window.was = ` + newest + `.querySelector('.key').getBoundingClientRect().top`)
			s.bot("editMessageText", map[string]any{
				"chat_id": annID, "message_id": card.MessageID, "text": "Pay?\n\nReally pay?\nTap Yes.",
				"reply_markup": keys("Cancel", "Reject", "Exact call", "Yes"),
			})
			b.until(newest + `.querySelectorAll('.key').length === 4`)
			moved := b.text(`String(Math.round(` + newest + `.querySelector('.key').getBoundingClientRect().top - window.was))`)
			if moved != "0" && moved != "1" && moved != "-1" { // a scroll is in whole pixels
				t.Errorf("the first button moved by %s", moved)
			}
			b.until(atEnd) // after a moment, so that Yes is in sight
		})
	}
}
