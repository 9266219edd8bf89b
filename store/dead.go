package store

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"
)

// deadFieldsLimit bounds what is kept of an entry that could not be taken.
const deadFieldsLimit = 16 << 10

// Dead sets an inbound entry aside with the reason, and acknowledges it.
func (s *Store) Dead(ctx context.Context, stream, group, entry, reason string, fields map[string]any) error {
	_, err := s.run(ctx, "dead", []string{s.keys.Dead(), stream}, group, entry, reason, deadFields(fields))
	return err
}

// deadFields writes an entry's fields as JSON within the limit: long values are
// cut with …, what is not UTF-8 becomes {"base64": …}.
func deadFields(fields map[string]any) string {
	names := make([]string, 0, len(fields))
	for n := range fields {
		names = append(names, n)
	}
	slices.Sort(names)
	for limit := deadFieldsLimit; ; limit /= 2 {
		kept := make(map[string]any, len(fields))
		for _, n := range names {
			v, _ := fields[n].(string)
			kept[deadText(n, limit)] = deadValue(v, limit)
		}
		data, err := json.Marshal(kept)
		if err == nil && len(data) <= deadFieldsLimit {
			return string(data)
		}
		if limit <= 8 {
			return `{"…":"too many fields to keep"}`
		}
	}
}

func deadValue(v string, limit int) any {
	if !utf8.ValidString(v) {
		cut := v[:min(len(v), limit/2)]
		return map[string]string{"base64": base64.StdEncoding.EncodeToString([]byte(cut))}
	}
	return deadText(v, limit)
}

// deadText cuts at a whole character. A field's name may be no UTF-8.
func deadText(v string, limit int) string {
	if len(v) <= limit {
		return strings.ToValidUTF8(v, "\uFFFD")
	}
	cut := strings.ToValidUTF8(v[:limit], "\uFFFD")
	cut = cut[:min(len(cut), limit)]
	for !utf8.ValidString(cut) {
		cut = cut[:len(cut)-1]
	}
	return cut + "…"
}
