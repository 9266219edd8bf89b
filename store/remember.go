package store

import (
	"context"
	"encoding/json"
	"fmt"

	"countersign/approval"
)

// A Memory is what the owners know of, as it changes.
type Memory struct {
	Name string // of the setting ([Store.Setting])
	Read string // its value as it was read, "" if there was none
	Now  string // its new value

	Audit   *approval.Loosened // what is new in it; nil: nothing. Remember sets its time
	Notices []Notice           // of what is new, each with an ID of its own
}

// Remember keeps what owners know of, together with the audit line and the notices of
// what is new in it: all or nothing. It reports false, and changes nothing, where the
// setting is not as it was read.
func (s *Store) Remember(ctx context.Context, m Memory) (bool, error) {
	line := ""
	if m.Audit != nil {
		now, err := s.Now(ctx)
		if err != nil {
			return false, err
		}
		audit := *m.Audit
		audit.At = now
		data, err := audit.Encode()
		if err != nil {
			return false, fmt.Errorf("store: remember: %w", err)
		}
		line = string(data)
	}
	k := s.keys
	keys := []string{k.settings(), k.audit(), k.dirty(), k.wake()}
	args := []any{m.Name, m.Read, m.Now, line, s.retention.Milliseconds()}
	for _, n := range m.Notices {
		data, err := json.Marshal(n)
		if err != nil {
			return false, fmt.Errorf("store: remember: %w", err)
		}
		keys = append(keys, k.notice(n.ID))
		args = append(args, n.ID, n.Chat, data)
	}
	v, err := s.run(ctx, "remember", keys, args...)
	return asString(v) == "ok", err
}
