package delivery

import (
	"cmp"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"countersign/approval"
	"countersign/cards"
	"countersign/store"
)

var noon = time.Date(2026, time.November, 30, 12, 0, 0, 0, time.UTC)

const (
	ann, ben  = int64(1001), int64(1002)
	reader    = int64(1004)
	group     = int64(-1001)
	planMoved = time.Minute + time.Millisecond // a wait ends just past its time
	claimLate = 5*time.Minute + time.Millisecond
)

func present() Present {
	return Present{
		Cards:  cards.Settings{Confirm: approval.Confirm{Window: time.Minute}},
		Owner:  func(user int64) bool { return user == ann || user == ben },
		Reader: func(chat int64) bool { return chat == reader },
	}
}

// reading is an open approval with one card in Ann's chat, as message 10, that
// shows what it should.
func reading(changes ...func(r *store.Reading)) *store.Reading {
	r := &store.Reading{
		Now: noon, ID: "a1",
		Row: &approval.Row{
			ID: "a1", State: approval.Open, Ref: "K7QF2", Rev: 3, OpenedAt: noon.Add(-time.Hour), ExpiresAt: noon.Add(time.Hour),
			Owners: []int64{ann, ben}, Quorum: 1, Chats: []approval.Chat{{ID: ann}},
			Request: &approval.Request{
				ID: "a1", Kind: approval.ToolCall, Calls: []approval.Call{{Tool: "trash", Arguments: []byte("{}")}},
				Card: approval.Card{Title: "Trash", UndoTool: "untrash"},
			},
		},
		Cards: []store.Card{{ID: "c1", Chat: ann, Sent: true, Message: 10}},
	}
	for _, change := range changes {
		change(r)
	}
	return r
}

// drawn makes every message show what it should.
func drawn(r *store.Reading) {
	for i := range r.Cards {
		c := &r.Cards[i]
		hash := cards.Card(view(r, c, present()), present().Cards).Hash()
		c.Drawn = hash
		for m := range c.Copies {
			c.Copies[m] = hash
		}
	}
}

func answered(state approval.State, surface approval.Surface) func(*store.Reading) {
	return func(r *store.Reading) {
		r.Row.State, r.Row.AnswerAt = state, noon
		r.Row.Answer = &approval.Answer{ID: "a1", Decision: approval.Decision(state), By: approval.By{Surface: surface, ID: "1001"}, At: noon}
	}
}

func card(change func(c *store.Card)) func(*store.Reading) {
	return func(r *store.Reading) { change(&r.Cards[0]) }
}

func row(change func(r *approval.Row)) func(*store.Reading) {
	return func(r *store.Reading) { change(r.Row) }
}

func also(c store.Card) func(*store.Reading) {
	return func(r *store.Reading) { r.Cards = append(r.Cards, c) }
}

func noCards(r *store.Reading) { r.Cards = nil }

func executed(r *store.Reading) {
	answered(approval.Executed, approval.CLI)(r)
	r.Row.Answer.Decision = approval.DecisionApproved
	r.Row.UndoUntil = noon.Add(time.Minute)
}

func stepOpen(on string) func(*store.Reading) {
	return func(r *store.Reading) {
		r.Step = &approval.Step{By: ann, Name: "Ann", Rev: 3, OpenedAt: noon, Chat: ann, CardID: on}
	}
}

func newCard(chat int64) need {
	return need{chat: chat, class: NewCard, what: store.TheCard, place: store.Place{Chat: chat}}
}

func edits(class Class, messages ...int) (list []need) {
	for _, m := range messages {
		list = append(list, need{chat: ann, class: class, what: edit, card: "c1", message: m})
	}
	return list
}

func sends(class Class, what string) []need {
	return []need{{chat: ann, class: class, what: what, card: "c1"}}
}

type readingChange = func(*store.Reading)

func TestPlan(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		now  []readingChange // what stands, before it is drawn as it should be
		then []readingChange // what came since
		want []need
		next time.Duration
	}{
		"no row":                       {then: []readingChange{func(r *store.Reading) { r.Row = nil }}, next: -1},
		"refused, unread":              {then: []readingChange{row(func(r *approval.Row) { r.State, r.Request = approval.Refused, nil })}, next: -1},
		"open, as drawn":               {next: -1},
		"open, no card":                {then: []readingChange{noCards}, want: []need{newCard(ann)}, next: -1},
		"open, card without a message": {then: []readingChange{card(func(c *store.Card) { c.Sent, c.Message = false, 0 })}, want: sends(NewCard, store.TheCard), next: -1},
		"sent as an unknown message":   {then: []readingChange{card(func(c *store.Card) { c.Message = 0 })}, next: -1},
		"open, drawn otherwise":        {then: []readingChange{card(func(c *store.Card) { c.Page = 1; c.Drawn = "?" })}, want: edits(StepEdit, 10), next: -1},
		"a further chat":               {then: []readingChange{row(func(r *approval.Row) { r.Chats = append(r.Chats, approval.Chat{ID: group}) })}, want: []need{newCard(group)}, next: -1},
		"a quiet chat":                 {then: []readingChange{noCards, row(func(r *approval.Row) { r.Quiet = []int64{ann} })}, next: -1},
		"failed":                       {then: []readingChange{card(func(c *store.Card) { c.Failed, c.Drawn = "blocked", "?" })}, next: -1},
		"a step opens":                 {then: []readingChange{stepOpen("c1")}, want: edits(StepEdit, 10), next: planMoved},
		"a step stands":                {now: []readingChange{stepOpen("c1")}, next: planMoved},
		"a step's window is over":      {now: []readingChange{stepOpen("c1")}, then: []readingChange{func(r *store.Reading) { r.Now = noon.Add(planMoved) }}, want: edits(StepEdit, 10), next: -1},
		"approved in Telegram":         {then: []readingChange{answered(approval.Approved, approval.Telegram)}, want: edits(StepEdit, 10), next: claimLate},
		"approved at the command line": {then: []readingChange{answered(approval.Approved, approval.CLI)}, want: edits(OtherEdit, 10), next: claimLate},
		"not claimed for long":         {now: []readingChange{answered(approval.Approved, approval.CLI)}, then: []readingChange{func(r *store.Reading) { r.Now = noon.Add(claimLate) }}, want: edits(OtherEdit, 10), next: -1},
		"withdrawn before its card":    {then: []readingChange{noCards, answered(approval.Withdrawn, approval.Runtime)}, want: []need{newCard(ann)}, next: -1},
		"lapsed":                       {then: []readingChange{answered(approval.Lapsed, approval.Sweeper)}, want: edits(OtherEdit, 10), next: -1},
		"lapsed, card drawn":           {now: []readingChange{answered(approval.Lapsed, approval.Sweeper)}, want: sends(Notice, store.TheNotice), next: -1},
		"lapsed, notice sent":          {now: []readingChange{answered(approval.Lapsed, approval.Sweeper), card(func(c *store.Card) { c.Notice = 11 })}, next: -1},
		"lapsed, notice sent, id lost": {now: []readingChange{answered(approval.Lapsed, approval.Sweeper), card(func(c *store.Card) { c.Notice = -1 })}, next: -1},
		"lapsed, told, shown again": {now: []readingChange{
			answered(approval.Lapsed, approval.Sweeper), card(func(c *store.Card) { c.Notice, c.Retired = 11, true }),
			also(store.Card{ID: "c2", Chat: ann, Sent: true, Message: 20}),
		}, next: -1},
		"lapsed, shown again, not told": {now: []readingChange{
			answered(approval.Lapsed, approval.Sweeper), card(func(c *store.Card) { c.Retired = true }),
			also(store.Card{ID: "c2", Chat: ann, Sent: true, Message: 20}),
		}, want: []need{{class: Notice, chat: ann, card: "c2", what: store.TheNotice}}, next: -1},
		"lapsed, a shared notice tells": {now: []readingChange{answered(approval.Lapsed, approval.Sweeper), row(func(r *approval.Row) { r.Quiet = []int64{ann} })}, next: -1},
		"lapsed at once":                {now: []readingChange{answered(approval.Lapsed, approval.Sweeper), row(func(r *approval.Row) { r.OpenedAt = noon })}, next: -1},
		"reminded":                      {now: []readingChange{func(r *store.Reading) { r.Reminded = true }}, want: sends(Notice, store.TheReminder), next: -1},
		"reminded before": {now: []readingChange{
			func(r *store.Reading) { r.Reminded = true }, card(func(c *store.Card) { c.Reminder = 12 }),
		}, next: -1},
		"reminded before, shown again": {now: []readingChange{
			func(r *store.Reading) { r.Reminded = true },
			card(func(c *store.Card) { c.Reminder, c.Retired = 12, true }),
			also(store.Card{ID: "c2", Chat: ann, Sent: true, Message: 20}),
		}, next: -1},
		"reminded, a reader": {now: []readingChange{
			func(r *store.Reading) { r.Reminded = true }, card(func(c *store.Card) { c.Reader = true }),
			row(func(r *approval.Row) { r.Chats = nil }),
		}, next: -1},
		"reminded, answered": {now: []readingChange{
			func(r *store.Reading) { r.Reminded = true }, answered(approval.Rejected, approval.CLI),
		}, next: -1},
		"a reader's place": {
			then: []readingChange{row(func(r *approval.Row) { r.Chats = append(r.Chats, approval.Chat{ID: reader}) })},
			want: []need{{chat: reader, class: NewCard, what: store.TheCard, place: store.Place{Chat: reader, Reader: true}}}, next: -1,
		},
		"a reader's copy in an owner's place": {
			now: []readingChange{card(func(c *store.Card) { c.Reader = true })}, want: []need{newCard(ann)}, next: -1,
		},
		"retired": {
			now:  []readingChange{also(store.Card{ID: "c2", Chat: ann, Sent: true, Message: 20})},
			then: []readingChange{card(func(c *store.Card) { c.Retired = true })}, want: edits(StepEdit, 10), next: -1,
		},
		"shown again in another topic": {now: []readingChange{
			card(func(c *store.Card) { c.Retired = true }), also(store.Card{ID: "c2", Chat: ann, Thread: 7, Sent: true, Message: 20}),
		}, next: -1},
		"retired, its message lost": {now: []readingChange{
			card(func(c *store.Card) { c.Retired, c.Sent, c.Message = true, false, 0 }),
			also(store.Card{ID: "c2", Chat: ann, Sent: true, Message: 20}),
		}, next: -1},
		"a copy": {
			now:  []readingChange{card(func(c *store.Card) { c.Copies = map[int]string{15: ""} })},
			then: []readingChange{answered(approval.Rejected, approval.CLI)}, want: edits(OtherEdit, 10, 15), next: -1,
		},
		"a copy just adopted": {
			then: []readingChange{card(func(c *store.Card) { c.Copies = map[int]string{15: ""} })}, want: edits(StepEdit, 15), next: -1,
		},
		"undo is offered": {now: []readingChange{executed}, next: planMoved},
		"undo is over": {
			now: []readingChange{executed}, then: []readingChange{func(r *store.Reading) { r.Now = noon.Add(planMoved) }},
			want: edits(OtherEdit, 10), next: -1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := reading(c.now...)
			drawn(r)
			for _, change := range c.then {
				change(r)
			}
			got := planFor(r, present(), nil)
			slices.SortFunc(got.needs, func(a, b need) int { return cmp.Compare(a.message, b.message) })
			if diff := gocmp.Diff(c.want, got.needs, gocmp.AllowUnexported(need{})); diff != "" {
				t.Errorf("needs (-want +got):\n%s", diff)
			}
			if got.next != c.next {
				t.Errorf("looks again in %v, want %v", got.next, c.next)
			}
		})
	}
}

func TestUnreachable(t *testing.T) {
	t.Parallel()
	failed := func(c *store.Card) { c.Failed = "blocked" }
	for name, c := range map[string]struct {
		changes []readingChange
		want    string
	}{
		"no row":                      {[]readingChange{func(r *store.Reading) { r.Row = nil }}, ""},
		"its card stands":             {nil, ""},
		"no card yet":                 {[]readingChange{noCards}, ""},
		"its one card failed":         {[]readingChange{card(failed)}, "blocked"},
		"answered, then failed":       {[]readingChange{card(failed), answered(approval.Approved, approval.CLI)}, ""},
		"another place to be tried":   {[]readingChange{card(failed), row(func(r *approval.Row) { r.Chats = append(r.Chats, approval.Chat{ID: group}) })}, ""},
		"another card stands":         {[]readingChange{card(failed), also(store.Card{ID: "c2", Chat: group})}, ""},
		"a reader's copy stands":      {[]readingChange{card(failed), also(store.Card{ID: "c2", Chat: reader, Reader: true})}, "blocked"},
		"a retired one stands":        {[]readingChange{card(failed), also(store.Card{ID: "c2", Chat: ann, Retired: true})}, "blocked"},
		"only readers were asked":     {[]readingChange{card(func(c *store.Card) { c.Reader = true })}, ""},
		"only a reader's chat is out": {[]readingChange{card(func(c *store.Card) { c.Reader, c.Failed = true, "blocked" })}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := unreachable(reading(c.changes...)); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestShort(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		owners        []int64
		quorum, votes int
		want          int
	}{
		"enough":                     {[]int64{ann, ben}, 2, 0, 0},
		"enough, one voted":          {[]int64{ann, ben}, 2, 1, 0},
		"one owner left of two":      {[]int64{ann, 7}, 2, 0, 1},
		"that one has voted":         {[]int64{ann, 7}, 2, 1, -1},
		"nobody is an owner anymore": {[]int64{7, 8}, 1, 0, -1},
		"two left of three":          {[]int64{ann, ben, 7}, 3, 0, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := short(&approval.Row{Owners: c.owners, Quorum: c.quorum}, c.votes, present()); got != c.want {
				t.Errorf("got %d, want %d", got, c.want)
			}
		})
	}
}

func TestNoNewCardForWhoIsNoLongerListed(t *testing.T) {
	p := present()
	p.Listed = func(chat int64) bool { return chat == ann }
	r := reading(func(r *store.Reading) {
		r.Cards = nil
		r.Row.Chats = []approval.Chat{{ID: ann}, {ID: ben}, {ID: group}}
	})
	var chats []int64
	for _, n := range planFor(r, p, nil).needs {
		chats = append(chats, n.chat)
	}
	if want := []int64{ann, group}; !slices.Equal(chats, want) {
		t.Errorf("cards are sent to %v, want %v", chats, want)
	}
}
