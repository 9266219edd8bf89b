package page_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// These are parts of TestChat.

func commandHints(t *testing.T, browser context.Context) {
	s := newStage(t)
	b := openTab(t, browser, s.handler, desk, "#chat/1001")
	b.do(`document.getElementById('draft').focus()`)
	b.keys("/")
	b.until(hintsShown + ` === '/pending /show /approve /reject /help /start'`) // the bot has set none
	b.keys(kb.Escape)
	b.until(hintsShown + ` === '' && ` + composing)
	b.keys(kb.Backspace)
	s.bot("setMyCommands", map[string]any{"commands": []map[string]any{
		{"command": "pending", "description": "What is open"},
		{"command": "approve", "description": "By reference: /approve K7QF2"},
	}})
	b.until(`(document.getElementById('hints').hidden && document.getElementById('commands').click(), ` + hintsShown + ` === '/pending /approve' || (document.getElementById('commands').click(), false))`)
	b.keys(kb.Escape)
	b.keys("/a")
	b.until(hintsShown + ` === '/approve' && document.getElementById('draft').getAttribute('aria-activedescendant') === 'hint-0'`)
	b.key("Enter") // waits for the reference
	b.until(draftText + ` === '/approve ' && ` + hintsShown + ` === ''`)
	b.keys("K7QF2")
	b.key("Enter")
	s.last(annID, "/approve K7QF2")
	b.keys("/")
	b.until(hintsShown + ` !== ''`)
	b.keys(kb.ArrowDown)
	b.keys(kb.ArrowDown)
	b.key("Enter") // back at the first, which is whole
	s.last(annID, "/pending")
	b.until(draftText + ` === ''`)
}

func drafts(t *testing.T, browser context.Context) {
	s := newStage(t)
	s.ask(annID, "Trash 3 emails?", "Reject")
	b := openTab(t, browser, s.handler, desk, "#chat/1001")
	open := func(chat int64) {
		t.Helper()
		b.do(fmt.Sprintf(`document.querySelector('.chat[data-id="%d"]').click()`, chat))
		b.until(fmt.Sprintf(`!!document.querySelector('.chat[data-id="%d"][aria-current]')`, chat))
	}
	b.do(`document.getElementById('draft').focus()`)
	b.keys(kb.ArrowUp, kb.ModifierCtrl)
	b.until(replying)
	b.keys("reject wrong")
	open(teamID)
	b.until(draftText + ` === '' && !(` + replying + `) && document.querySelector('.chat[data-id="1001"]').textContent.includes('Draft: reject wrong')`)
	b.do(`document.querySelector('.person[data-id="1002"]').click()`)
	b.until(`document.querySelector('.person[data-id="1002"]').ariaChecked === 'true' && ` + draftText + ` === ''`)
	if got := b.text(`document.getElementById('chats').textContent`); strings.Contains(got, "reject wrong") {
		t.Errorf("Ben is shown Ann's draft: %s", got)
	}
	b.do(`document.querySelector('.person[data-id="1001"]').click()`)
	b.until(`document.querySelector('.person[data-id="1001"]').ariaChecked === 'true'`)
	open(annID)
	b.until(draftText + ` === 'reject wrong' && ` + replying)
	if err := chromedp.Do(b.ctx, chromedp.Reload()); err != nil {
		t.Fatal(err)
	}
	b.until(`document.querySelectorAll('.chat').length > 0 && ` + draftText + ` === 'reject wrong' && ` + replying)
	b.do(`document.getElementById('draft').focus()`)
	b.key("Enter")
	if m := s.last(annID, "reject wrong"); m.ReplyToMessage == nil {
		t.Error("what was replied to is lost")
	}
	open(teamID)
	b.until(`!document.getElementById('chats').textContent.includes('Draft')`)
}

// failedDraft sends what cannot be sent: the text is not lost.
func failedDraft(t *testing.T, browser context.Context) {
	s := newStage(t)
	b := openTab(t, browser, s.handler, desk, "#chat/1001")
	s.ann.Block()
	b.do(noteToasts + `; document.getElementById('draft').focus()`)
	b.keys("approve")
	b.key("Enter")
	b.until(`window.noted?.includes('blocked') && ` + draftText + ` === 'approve'`)
}
