package cards

import (
	"slices"
	"strconv"
	"time"

	"countersign/approval"
)

// Room in lists: what is beyond is counted, and follows on a tap.
const (
	roomInList   = 3600 // UTF-16 units
	maxInList    = 20   // entries
	refsInRow    = 4    // buttons
	maxListEntry = 4 * maxListedTitle
)

// The lists that [LetterMore] goes on with.
const (
	ListOpen   = "open"
	ListLapsed = "lapsed"
)

// A Listed is an approval named in a list.
type Listed struct {
	Row  *approval.Row
	Link string // address of its card at https://t.me/, "" where Telegram has none
}

// A Listing is a stretch of a longer list. Whoever makes it leaves out what may
// not be named where it is sent.
type Listing struct {
	Items []Listed // from From on, as many as are at hand
	From  int      // 0-based
	Of    int      // how many there are in all
}

// A list is being written.
type list struct {
	*text
	s    Settings
	now  time.Time
	refs []Button // to bring cards down with
	more []Button // to go on with
}

// Pending lists what is open, and below it what lapsed unanswered within a day.
func Pending(open, lapsed Listing, now time.Time, s Settings) Message {
	l := &list{text: &text{}, s: s, now: now}
	if open.Of == 0 {
		l.line(wordNoneOpen)
	} else {
		l.line(wordOpen)
		l.entries(ListOpen, open, roomInList/2)
	}
	if lapsed.Of > 0 {
		l.gap()
		l.line(wordRecent)
		l.entries(ListLapsed, lapsed, roomInList)
	}
	return l.end()
}

// More goes on with a list.
func More(which string, some Listing, now time.Time, s Settings) Message {
	l := &list{text: &text{}, s: s, now: now}
	switch {
	case len(some.Items) == 0:
		l.line(wordNoMore)
	case which == ListOpen:
		l.line(wordGoOn, number(some.From+1))
	default:
		l.line(wordGoOnPast, number(some.From+1))
	}
	l.entries(which, some, roomInList)
	return l.end()
}

// Which lists what is open where a word named none of several.
func Which(open Listing, now time.Time, s Settings) Message {
	l := &list{text: &text{}, s: s, now: now}
	example := "K7QF2"
	if len(open.Items) > 0 {
		example = open.Items[0].Row.Ref
	}
	l.line(wordWhich, code(show("/approve "+example)))
	l.entries(ListOpen, open, roomInList)
	return l.end()
}

// entries names approvals while there is room, which ends at that many units, and
// counts the rest.
func (l *list) entries(which string, some Listing, room int) {
	for i, e := range some.Items {
		if i == maxInList || units(l.plain.String()) > room-maxListEntry {
			some.Items = some.Items[:i]
			break
		}
		l.line(wordEntry, ref(e.Row), bold(listed(e.Row, l.s)))
		if e.Row.State == approval.Open {
			l.put(wordTimeLeft, own(words(lasting(e.Row.ExpiresAt.Sub(l.now)))))
			l.refs = append(l.refs, Button{Text: buttonRef + Neutral(e.Row.Ref), Data: Press{LetterShow, e.Row.Ref, 0, 0}.Data()})
		}
		if e.Link != "" {
			l.put(wordEntryCard, link(e.Link, wordCard))
		}
	}
	next := some.From + len(some.Items)
	if next >= some.Of {
		return
	}
	l.line(wordRest, number(some.Of-next))
	label := buttonOpen
	if which == ListLapsed {
		label = buttonLapsed
	}
	if len(some.Items) > 0 && next <= maxArg {
		l.more = append(l.more, Button{Text: label, Data: Press{LetterMore, which, 0, next}.Data()})
	}
}

// end draws the buttons.
func (l *list) end() Message {
	var rows [][]Button
	if len(l.refs) > 0 {
		l.gap()
		l.line(wordBringDown)
		rows = slices.Collect(slices.Chunk(l.refs, refsInRow))
	}
	for _, b := range l.more {
		rows = append(rows, []Button{b})
	}
	return l.message(rows)
}

// Help says how to answer.
func Help(s Settings) Message {
	t := &text{}
	approve, reject := show(s.approveWord()), show(s.rejectWord())
	t.line(wordHelp)
	t.line(wordHelpWords, code(approve), code(reject), code(reject), code(show(string(wordWord))))
	t.line(wordHelpRefs, code("/approve K7QF2"), code("/reject K7QF2"), code("/show K7QF2"))
	t.line(wordHelpList, own("/pending"))
	return t.message(nil)
}

// NotAWord answers words to a card that decide nothing.
func NotAWord(s Settings) Message {
	t := &text{}
	t.line(wordNotWord, code(show(s.approveWord())), code(show(s.rejectWord())))
	t.put(" ")
	t.put(wordHelpList, own("/pending"))
	return t.message(nil)
}

// Start tells a person who they are here: role is owner or reader, or "" for a
// stranger.
func Start(id int64, name, role string, s Settings) Message {
	t := &text{}
	number := code(shown(strconv.FormatInt(id, 10)))
	if role == "" {
		t.line(wordStartNone, number)
		return t.message(nil)
	}
	t.line(wordStart, plain(short(name, maxName)), plain(show(role)), number)
	t.line(wordStartHelp, own("/help"))
	return t.message(nil)
}

// A MenuEntry is a command as Telegram's menu shows it.
type MenuEntry struct{ Command, About string }

// Menu lists the commands in order.
func Menu() []MenuEntry {
	return []MenuEntry{
		{"pending", string(menuPending)},
		{"show", string(menuShow)},
		{"approve", string(menuApprove)},
		{"reject", string(menuReject)},
		{"help", string(menuHelp)},
	}
}
