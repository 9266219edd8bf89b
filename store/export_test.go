package store

import (
	"context"
	"io/fs"
	"time"

	"github.com/redis/go-redis/v9"

	"countersign/approval"
)

// NewFrom is [New] with other scripts.
func NewFrom(rdb redis.UniversalClient, o Options, scripts fs.FS) (*Store, error) {
	return newStore(rdb, o, scripts)
}

// ScriptFiles are the scripts as they are.
func ScriptFiles() fs.FS { return scriptFiles }

// The bot's own keys, and the limits that the tests reach for.
func (k Keys) Memory(id string) string            { return k.memory(id) }
func (k Keys) CardsOf(id string) string           { return k.cards(id) }
func (k Keys) CardKey(cid string) string          { return k.card(cid) }
func (k Keys) Message(chat int64, msg int) string { return k.message(chat, msg) }
func (k Keys) Ref(ref string) string              { return k.ref(ref) }
func (k Keys) WithdrawnKey(id string) string      { return k.withdrawn(id) }
func (k Keys) DirtyKey() string                   { return k.dirty() }
func (k Keys) Wake() string                       { return k.wake() }
func (k Keys) Reminders() string                  { return k.reminders() }
func (k Keys) LapsedKey() string                  { return k.lapsed() }
func (k Keys) AuditKey() string                   { return k.audit() }
func (k Keys) LeaseKey() string                   { return k.lease() }
func (k Keys) NoticeKey(nid string) string        { return k.notice(nid) }
func (k Keys) Alarms() string                     { return k.alarms() }
func (k Keys) Alarmed(id string) string           { return k.alarmed(id) }
func (k Keys) OffsetKey() string                  { return k.offset() }
func (k Keys) Updates() string                    { return k.updates() }
func (k Keys) Aside() string                      { return k.aside() }
func (k Keys) Settings() string                   { return k.settings() }

// DeadFields is what is kept of an entry that could not be taken.
func DeadFields(fields map[string]any) string { return deadFields(fields) }

// The keys of what is open in a chat, and of what a notice speaks for.
func (k Keys) OpenIn(chat int64) string   { return k.open(chat) }
func (k Keys) ClosedIn(chat int64) string { return k.closed(chat) }
func (k Keys) Told(nid string) string     { return k.told(nid) }

// The keys of what failed in a chat, and of the chats that moved.
func (k Keys) FailedIn(chat int64) string { return k.failed(chat) }
func (k Keys) Moved() string              { return k.moved() }

// Needs are the commands that [Store.Rights] asks about.
func (s *Store) Needs(streams []string) []string {
	var commands []string
	for _, r := range s.needs(streams) {
		commands = append(commands, r[0])
	}
	return commands
}

// EntryID is the id of a stream entry.
func EntryID(at time.Time, seq uint64) string {
	return entryID{ms: uint64(at.UnixMilli()), seq: seq}.String()
}

// Queued is how many scripts wait for one that is under way.
func (s *Store) Queued() int {
	s.exchange.mu.Lock()
	defer s.exchange.mu.Unlock()
	return len(s.exchange.waiting)
}

// ChainScript runs the script that chains.
func (s *Store) ChainScript(ctx context.Context, args ...any) (string, error) {
	v, err := s.run(ctx, "chain", []string{s.keys.audit(), s.keys.Chain(), s.keys.ChainHead(), s.keys.signing()}, args...)
	return asString(v), err
}

// ForgetRow forgets on the strength of one reading.
func (s *Store) ForgetRow(ctx context.Context, r *Reading) (Status, error) {
	return s.forgetRow(ctx, r, approval.By{Surface: approval.CLI, ID: "root"})
}

// Behind is a script behind what it uses of the shared lines.
func Behind(lib, script string) string { return readLibrary(lib).behind(script) }

// Reply is what Redis replies of an approval, and Parse reads it.
func (s *Store) Reply(ctx context.Context, id string) (any, error) {
	return s.run(ctx, "read", []string{s.keys.dirty()}, s.keys.Prefix(), "id", id)
}

// Parse reads a reply.
func (s *Store) Parse(reply any) (*Reading, error) { return s.parseReading(reply) }
