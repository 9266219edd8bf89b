package main

import (
	"sync"
	"time"

	"countersign/simulator/page"
)

// demoJournalLimit is how many entries are kept for those who come late.
const demoJournalLimit = 500

// A demoJournal keeps what the runtimes did, and wakes those who follow it. It is safe
// for concurrent use. Make it with newDemoJournal.
type demoJournal struct {
	now func() time.Time

	mu      sync.Mutex // guards everything below
	entries []page.Entry
	last    uint64        // sequence number of the newest entry
	news    chan struct{} // closed at the next entry
}

func newDemoJournal(now func() time.Time) *demoJournal {
	return &demoJournal{now: now, news: make(chan struct{})}
}

// add keeps an entry, whose number and time it sets.
func (j *demoJournal) add(e page.Entry) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.last++
	e.Seq, e.At = j.last, j.now()
	j.entries = append(j.entries, e)
	if extra := len(j.entries) - demoJournalLimit; extra > 0 {
		j.entries = append([]page.Entry(nil), j.entries[extra:]...)
	}
	close(j.news)
	j.news = make(chan struct{})
}

// Log returns the entries after a sequence number and a channel that is closed when
// there may be more.
func (j *demoJournal) Log(after uint64) ([]page.Entry, <-chan struct{}) {
	j.mu.Lock()
	defer j.mu.Unlock()
	missed := j.last - min(after, j.last)
	have := min(missed, uint64(len(j.entries)))
	return append([]page.Entry(nil), j.entries[uint64(len(j.entries))-have:]...), j.news
}
