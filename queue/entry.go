package queue

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// An entry is one stream entry as Redis gave it. It is read raw because the
// client library keeps fields in a map, and a field given twice must be seen.
type entry struct {
	id     string
	fields []string // name, value, name, value…; nil where the payload was trimmed away
}

// lost reports whether the entry was trimmed before it was acknowledged.
func (e entry) lost() bool { return e.fields == nil }

// time is when Redis took the entry.
func (e entry) time() time.Time {
	ms, _ := e.position()
	return time.UnixMilli(ms).UTC()
}

// position is the entry's id as two numbers. Redis allows the whole range of
// uint64, and so may whoever writes to the stream; what is beyond int64 stays
// the farthest future.
func (e entry) position() (ms, seq int64) {
	a, b, _ := strings.Cut(e.id, "-")
	return clamped(a), clamped(b)
}

// farthest is the last millisecond that both a time and a script's number keep
// exactly.
const farthest = 1<<53 - 1

func clamped(s string) int64 {
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return 0
	}
	return int64(min(n, farthest))
}

// asMap returns the fields for a dead letter. A name given again gets a number.
func (e entry) asMap() map[string]any {
	m := make(map[string]any, len(e.fields)/2)
	for i := 0; i+1 < len(e.fields); i += 2 {
		name := e.fields[i]
		for n := 2; ; n++ {
			if _, taken := m[name]; !taken {
				break
			}
			name = e.fields[i] + " (" + strconv.Itoa(n) + ")"
		}
		m[name] = e.fields[i+1]
	}
	return m
}

// attribute returns a field that must be there exactly once.
func (e entry) attribute(name string) (value string, rule string) {
	found := 0
	for i := 0; i+1 < len(e.fields); i += 2 {
		if e.fields[i] == name {
			value = e.fields[i+1]
			found++
		}
	}
	switch found {
	case 0:
		return "", "required"
	case 1:
		return value, ""
	}
	return "", "given " + strconv.Itoa(found) + " times"
}

var errReply = errors.New("unexpected reply")

// parseEntries reads [[id, [name, value…] or nil]…].
func parseEntries(v any) ([]entry, error) {
	list, ok := v.([]any)
	if !ok && v != nil {
		return nil, fmt.Errorf("%w: entries are %T", errReply, v)
	}
	entries := make([]entry, 0, len(list))
	for _, item := range list {
		pair, ok := item.([]any)
		if !ok || len(pair) != 2 {
			continue // a deleted entry, as servers before 7.0 gave it
		}
		id, ok := pair[0].(string)
		if !ok {
			return nil, fmt.Errorf("%w: an entry's id is %T", errReply, pair[0])
		}
		e := entry{id: id}
		if values, ok := pair[1].([]any); ok {
			e.fields = make([]string, 0, len(values))
			for _, value := range values {
				text, _ := value.(string)
				e.fields = append(e.fields, text)
			}
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// parseRead reads the reply about one stream: [[key, entries]] in RESP2,
// {key: entries} in RESP3.
func parseRead(v any) ([]entry, error) {
	switch v := v.(type) {
	case []any:
		if len(v) == 0 {
			return nil, nil
		}
		if pair, ok := v[0].([]any); ok && len(pair) == 2 {
			return parseEntries(pair[1])
		}
	case map[any]any:
		for _, entries := range v {
			return parseEntries(entries)
		}
		return nil, nil
	}
	return nil, fmt.Errorf("%w: a read is %T", errReply, v)
}

// parseAutoClaim reads [cursor, entries, [deleted id…]].
func parseAutoClaim(v any) (cursor string, entries []entry, deleted []string, err error) {
	list, ok := v.([]any)
	if !ok || len(list) < 2 {
		return "", nil, nil, fmt.Errorf("%w: a takeover is %T", errReply, v)
	}
	cursor, _ = list[0].(string)
	if entries, err = parseEntries(list[1]); err != nil {
		return "", nil, nil, err
	}
	if len(list) > 2 {
		ids, _ := list[2].([]any)
		for _, id := range ids {
			text, _ := id.(string)
			deleted = append(deleted, text)
		}
	}
	return cursor, entries, deleted, nil
}
