package sweeper

import (
	"sync"
	"time"

	"countersign/store"
)

// tellEvery is how often an approval that cannot be read is told of.
const tellEvery = time.Hour

// unread remembers which approvals could not be read, and when that was told.
type unread struct {
	mu   sync.Mutex // guards told
	told map[string]time.Time
}

// tell returns the error, or nil where it was told within the hour.
func (u *unread) tell(bad *store.UnreadableError) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if last, ok := u.told[bad.ID]; ok && bad.Now.Sub(last) < tellEvery {
		return nil
	}
	if u.told == nil {
		u.told = map[string]time.Time{}
	}
	u.told[bad.ID] = bad.Now
	return bad
}

func (u *unread) forget(id string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.told, id)
}
