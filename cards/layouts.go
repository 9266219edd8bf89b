package cards

import (
	"crypto/sha256"
	"encoding/binary"
	"sync"
)

// maxLayouts bounds how many layouts are remembered: with the longest lists, a few
// megabytes.
const maxLayouts = 512

// fewLines are remembered beside longer lists, so that many short ones push no long one
// out.
const fewLines = 100

// quickly is how many bytes of lines and calls are laid out in about the time that it
// takes to look a layout up: fewer are not remembered.
const quickly = 4 << 10

// Layouts remembers how long lists were laid out, so that a card of 5,000 lines is
// not measured anew for every edit. It forgets what was not asked for lately. The
// nil *Layouts remembers nothing. Safe for concurrent use.
type Layouts struct {
	mu    sync.Mutex // guards what follows
	young map[layoutKey]*layout
	old   map[layoutKey]*layout
	few   *Layouts // of short lists
}

// A layoutKey is a digest of everything that a layout depends on.
type layoutKey [sha256.Size]byte

// of is the layout of f.
func (l *Layouts) of(f *face) *layout {
	if l == nil {
		return f.lay()
	}
	if len(f.lines())+len(f.calls()) < fewLines {
		if f.size() < quickly {
			return f.lay()
		}
		l = l.ofFew()
	}
	key := f.layoutKey()
	if laid := l.get(key); laid != nil {
		return laid
	}
	laid := f.lay() // two may lay out the same at once; both come to the same
	l.put(key, laid)
	return laid
}

func (l *Layouts) ofFew() *Layouts {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.few == nil {
		l.few = new(Layouts)
	}
	return l.few
}

func (l *Layouts) get(key layoutKey) *layout {
	l.mu.Lock()
	defer l.mu.Unlock()
	if laid := l.young[key]; laid != nil {
		return laid
	}
	laid := l.old[key]
	if laid != nil {
		l.keep(key, laid)
	}
	return laid
}

func (l *Layouts) put(key layoutKey, laid *layout) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.keep(key, laid)
}

// keep makes a layout one of the young ones; when they are many they grow old, and
// the old ones are forgotten. The caller holds mu.
func (l *Layouts) keep(key layoutKey, laid *layout) {
	if l.young == nil || len(l.young) >= maxLayouts/2 {
		l.old, l.young = l.young, map[layoutKey]*layout{}
	}
	l.young[key] = laid
}

// size is how many bytes lines and calls have.
func (f *face) size() int {
	size := 0
	for _, line := range f.lines() {
		size += len(line)
	}
	for _, c := range f.calls() {
		size += len(c.Tool) + len(c.Arguments)
	}
	return size
}

// layoutKey digests lines, calls, and how they are shown. Each part goes in behind
// its length, so that no two requests give the same bytes.
func (f *face) layoutKey() layoutKey {
	redact := 0
	if f.s.Redact {
		redact = 1
	}
	size := 64 + f.size() + len(f.lines())*binary.MaxVarintLen16 + len(f.calls())*2*binary.MaxVarintLen32
	b := binary.AppendUvarint(make([]byte, 0, size), uint64(redact))
	b = binary.AppendUvarint(b, uint64(f.room()))
	part := func(s string) { b = append(binary.AppendUvarint(b, uint64(len(s))), s...) }
	b = binary.AppendUvarint(b, uint64(len(f.lines())))
	for _, line := range f.lines() {
		part(line)
	}
	for _, c := range f.calls() {
		part(c.Tool)
		part(string(c.Arguments))
	}
	return sha256.Sum256(b)
}
