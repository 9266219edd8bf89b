package cards

import (
	"strconv"
	"time"

	"countersign/approval"
)

// Room in lists: what is beyond is counted.
const (
	roomInList     = 3600 // UTF-16 units
	entitiesInList = 90
)

// A Listed is an approval named in a list.
type Listed struct {
	Row  *approval.Row
	Link string // address of its card at https://t.me/, "" where Telegram has none
}

// Pending lists what is open, and below it what lapsed unanswered within a day.
// The caller leaves out what may not be named where it is sent.
func Pending(open, lapsed []Listed, now time.Time, s Settings) Message {
	t := &text{settings: s}
	if len(open) == 0 {
		t.line(wordNoneOpen)
	} else {
		t.line(wordOpen)
		t.list(open, now)
	}
	if len(lapsed) > 0 {
		t.gap()
		t.line(wordRecent)
		t.list(lapsed, now)
	}
	return t.message(nil)
}

// Which lists what is open where a word named none of several.
func Which(open []Listed, now time.Time, s Settings) Message {
	t := &text{settings: s}
	example := "K7QF2"
	if len(open) > 0 {
		example = open[0].Row.Ref
	}
	t.line(wordWhich, code(show("/approve "+example)))
	t.list(open, now)
	return t.message(nil)
}

// list names approvals while there is room, and counts the rest.
func (t *text) list(entries []Listed, now time.Time) {
	for i, e := range entries {
		if t.entities > entitiesInList || units(t.plain.String()) > roomInList-2*maxListedTitle {
			t.line(wordRest, number(len(entries)-i))
			return
		}
		t.line(wordEntry, ref(e.Row), bold(listed(e.Row, t.settings)))
		if e.Row.State == approval.Open {
			t.put(wordTimeLeft, own(words(lasting(e.Row.ExpiresAt.Sub(now)))))
		}
		if e.Link != "" {
			t.put(wordEntryCard, link(e.Link, wordCard))
		}
	}
}

// Help says how to answer.
func Help(s Settings) Message {
	t := &text{settings: s}
	approve, reject := show(s.approveWord()), show(s.rejectWord())
	t.line(wordHelp)
	t.line(wordHelpWords, code(approve), code(reject), code(reject), code(show(string(wordWord))))
	t.line(wordHelpRefs, code("/approve K7QF2"), code("/reject K7QF2"), code("/show K7QF2"))
	t.line(wordHelpList, own("/pending"))
	return t.message(nil)
}

// NotAWord answers words to a card that decide nothing.
func NotAWord(s Settings) Message {
	t := &text{settings: s}
	t.line(wordNotWord, code(show(s.approveWord())), code(show(s.rejectWord())))
	t.put(" ")
	t.put(wordHelpList, own("/pending"))
	return t.message(nil)
}

// Start tells a person who they are here: role is owner or reader, or "" for a
// stranger.
func Start(id int64, name, role string, s Settings) Message {
	t := &text{settings: s}
	number := code(shown(strconv.FormatInt(id, 10)))
	if role == "" {
		t.line(wordStartNone, number)
		return t.message(nil)
	}
	t.line(wordStart, func(t *text) {
		t.put("{} ({})", plain(short(name, maxName)), plain(show(role)))
	}, number)
	t.line(wordStartHelp, own("/help"))
	return t.message(nil)
}
