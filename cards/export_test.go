package cards

import "countersign/approval"

// Len counts the layouts that are remembered.
func (l *Layouts) Len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.young) + len(l.old)
}

// Has reports whether the layout of row is remembered.
func (l *Layouts) Has(row *approval.Row, s Settings) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := newFace(row, s).layoutKey()
	return l.young[key] != nil || l.old[key] != nil
}
