package main

import (
	"sync"
	"time"

	"countersign/chaos/verdict"
)

// A ledger is what people and runtimes did. It is safe for concurrent use.
type ledger struct {
	mu        sync.Mutex // guards what follows
	asked     map[string]*verdict.Asked
	order     []string
	taps      []verdict.Tap
	words     []verdict.Word
	operator  []verdict.Order
	claims    []verdict.Claim
	reports   []verdict.Report
	told      []verdict.Told
	deletions []verdict.Place
	strikes   []verdict.Strike
	kinds     map[string]int // strikes by kind
}

func newLedger() *ledger {
	return &ledger{asked: map[string]*verdict.Asked{}, kinds: map[string]int{}}
}

// ask opens the account of an approval.
func (l *ledger) ask(a verdict.Asked) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked[a.ID] = &a
	l.order = append(l.order, a.ID)
}

// change changes the account of an approval.
func (l *ledger) change(id string, f func(*verdict.Asked)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f(l.asked[id])
}

func keep[T any](l *ledger, list *[]T, item T) {
	l.mu.Lock()
	defer l.mu.Unlock()
	*list = append(*list, item)
}

func (l *ledger) tap(t verdict.Tap)       { keep(l, &l.taps, t) }
func (l *ledger) word(w verdict.Word)     { keep(l, &l.words, w) }
func (l *ledger) ordered(o verdict.Order) { keep(l, &l.operator, o) }
func (l *ledger) claim(c verdict.Claim)   { keep(l, &l.claims, c) }
func (l *ledger) report(r verdict.Report) { keep(l, &l.reports, r) }
func (l *ledger) tell(t verdict.Told)     { keep(l, &l.told, t) }
func (l *ledger) delete(p verdict.Place)  { keep(l, &l.deletions, p) }

// strike takes note of something done to a bot, or to all; it returns how to say
// that it is over.
func (l *ledger) strike(kind string, bot int) (end func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.kinds[kind]++
	at := len(l.strikes)
	now := time.Now()
	l.strikes = append(l.strikes, verdict.Strike{Kind: kind, Bot: bot, From: now, Until: now.Add(time.Hour)})
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.strikes[at].Until = time.Now()
	}
}

// counted counts something that needs no place among the strikes.
func (l *ledger) counted(kind string, n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.kinds[kind] += n
}
