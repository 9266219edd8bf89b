package schemas_test

import (
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"countersign/approval"
	"countersign/schemas"
)

// decode is what intake does with the data of an event in.
func decode(t schemas.Type, data []byte) (err error) {
	switch t {
	case schemas.Requested:
		_, err = approval.Decode(data)
	case schemas.Withdrawn:
		_, err = approval.DecodeWithdrawal(data)
	case schemas.Claimed:
		_, err = approval.DecodeClaim(data)
	case schemas.Reported:
		_, err = approval.DecodeReport(data)
	}
	return err
}

func eventsIn() []schemas.Type {
	return []schemas.Type{schemas.Requested, schemas.Withdrawn, schemas.Claimed, schemas.Reported}
}

// beyond are the rules of the decoders that no schema can say: that data is
// I-JSON and not too large, how a whole number is written, and that a date exists.
func beyond(v *approval.Invalid, data []byte) bool {
	switch {
	case v.Code == approval.CodeTooLarge, v.Field == "data",
		v.Rule == "given twice", v.Rule == "holds a lone surrogate", v.Rule == "is not UTF-8",
		v.Rule == "must be within ±(2^53-1)", v.Rule == "must be finite as a double",
		strings.HasPrefix(v.Rule, "nested deeper than"):
		return true
	case v.Field == "context":
		return v.Rule == "over 16 KiB"
	case v.Field == "expires_in":
		return v.Rule == "too far ahead"
	case v.Field == "expires_at", v.Field == "undo_until":
		return v.Rule == "must be RFC 3339 with an offset" || v.Rule == "must be within the years 1970 to 9999"
	case v.Field == "card.undo_window_days", strings.HasSuffix(v.Field, "].line"):
		// 3.0 and 3e0 are integers to a schema.
		return v.Rule == "must be an integer" && strings.ContainsAny(string(data), ".eE")
	}
	return false
}

// agree holds that the decoder and the schema say the same of data. What the
// decoder takes the schema takes; what the schema takes the decoder takes too, or
// refuses for a rule beyond schemas.
func agree(t *testing.T, set *schemas.Set, kind schemas.Type, data []byte) {
	t.Helper()
	decoded := decode(kind, data)
	checked := set.Check(kind, data)
	var rule *approval.Invalid
	switch {
	case decoded == nil && checked != nil:
		t.Errorf("%s: the schema alone refuses it: %v\n%q", kind, checked, data)
	case decoded != nil && !errors.As(decoded, &rule):
		t.Errorf("%s: %T", kind, decoded)
	case decoded != nil && checked == nil && !beyond(rule, data):
		t.Errorf("%s: the decoder alone refuses it: %v\n%q", kind, decoded, data)
	}
}

func compiled(t testing.TB) *schemas.Set {
	t.Helper()
	set := schemas.New()
	if err := set.Compile(); err != nil {
		t.Fatal(err)
	}
	return set
}

// edges are values that stand at the edge of a rule, or beside it.
func edges() []string {
	text := func(n int) string { return `"` + strings.Repeat("é", n) + `"` }
	list := func(n int, item string) string {
		return "[" + strings.TrimSuffix(strings.Repeat(item+",", n), ",") + "]"
	}
	all := []string{
		"null", "true", "false", "0", "-1", "1", "4.9", "4.999999999999999999999", "5", "5e0", "3.0", "3650", "3651", "1e300", "1e-400",
		"9007199254740991", "9007199254740992", `""`, `" "`, `"\u00a0\u3000\u2028"`, `"\u200b"`, `"\u180e"`, `"\u001c"`, `"halt"`, `"tool_call"`, `"write"`,
		`"destructive"`, `"pinned"`, `"Pinned"`, `"executed"`, `"failed"`, `"partial"`, `"undone"`, `"approved"`, `"a1"`, `"a1\n"`,
		`"a b"`, `"2027-01-01T00:00:00Z"`, `"2027-01-01t00:00:00.5+01:00"`, `"2027-02-30T00:00:00Z"`, `"2027-01-01T24:00:00Z"`,
		`"1969-12-31T23:59:59Z"`, `"2027-01-01T00:00:00"`, `"2027-01-01T00:00:00Z\n"`, `"2027-01-01T00:00:00,5Z"`, `"２027-01-01T00:00:00Z"`,
		`"2027-01-01T00:00:00+24:00"`, `"2027-01-01T00:00:60Z"`, `{}`, `{"a":1}`, `{"title":"T"}`, `{"title":null}`, `{"tool":"t","arguments":{}}`, `[]`, `[null]`,
		`[""]`, `[{}]`, `[1]`, `["a","b"]`, `[{"tool":"t","arguments":{}}]`, `[{"tool":"t","arguments":{},"call_id":null}]`,
		`[{"tool":"t","arguments":{},"call_id":1}]`, `[{"tool":"","arguments":{}}]`, `[{"tool":"t","arguments":null}]`,
		`[{"line":1,"ok":true}]`, `[{"line":1.0,"ok":true}]`, `[{"line":0,"ok":true}]`, `[{"line":1,"ok":null}]`,
		`[{"line":1,"ok":true,"detail":` + text(1001) + `}]`, `[{"line":1,"ok":true,"detail":` + text(1000) + `}]`,
		list(50, `{"tool":"t","arguments":{}}`), list(51, `{"tool":"t","arguments":{}}`), list(5000, `"a"`), list(5001, `"a"`),
		list(5000, `{"line":1,"ok":true}`), list(5001, `{"line":1,"ok":true}`), `[` + text(1000) + `]`, `[` + text(1001) + `]`,
		`"` + strings.Repeat("a", 20_000) + `"`,
	}
	for _, n := range []int{60, 61, 128, 129, 200, 201, 1000, 1001, 2000, 2001} {
		all = append(all, text(n), `"`+strings.Repeat("a", n)+`"`)
	}
	return all
}

// TestAgree puts every edge in the place of every field, beside good ones and
// beside none.
func TestAgree(t *testing.T) {
	set := compiled(t)
	bases := map[schemas.Type][]string{
		schemas.Requested: {
			`"approval_id":"a1","tool":"t","arguments":{},"card":{"title":"T"}`,
			`"approval_id":"a1","calls":[{"tool":"t","arguments":{}}],"card":{"title":"T"}`,
			`"approval_id":"a1","kind":"halt","card":{"title":"T"}`,
		},
		schemas.Withdrawn: {`"approval_id":"a1"`},
		schemas.Claimed:   {`"approval_id":"a1","pin":"p","by":"me"`},
		schemas.Reported:  {`"approval_id":"a1","outcome":"executed"`},
	}
	places := map[schemas.Type][]string{
		schemas.Requested: {
			"approval_id", "kind", "runtime", "run_id", "session", "tool", "arguments", "calls", "effect", "approval", "context",
			"card", "expires_in", "expires_at", "risk", "x", "card.title", "card.action", "card.lines", "card.undo_tool",
			"card.undo_window_days", "card.request", "card.summary", "card.x",
		},
		schemas.Withdrawn: {"approval_id", "reason", "x"},
		schemas.Claimed:   {"approval_id", "pin", "by", "x"},
		schemas.Reported:  {"approval_id", "outcome", "message", "results", "undo_until", "x"},
	}
	for _, kind := range eventsIn() {
		for _, base := range bases[kind] {
			for _, place := range places[kind] {
				agree(t, set, kind, without(t, base, place))
				for _, edge := range edges() {
					agree(t, set, kind, with(t, base, place, edge))
				}
			}
		}
	}
	for _, pair := range []string{
		`"expires_in":60,"expires_at":"2027-01-01T00:00:00Z"`, `"expires_in":null,"expires_at":null`,
		`"calls":[],"tool":null`, `"calls":null`, `"kind":null`, `"kind":"halt","tool":null,"arguments":null,"calls":null`,
	} {
		agree(t, set, schemas.Requested, []byte(`{"approval_id":"a1","tool":"t","arguments":{},"card":{"title":"T"},`+pair+`}`))
		agree(t, set, schemas.Requested, []byte(`{"approval_id":"a1","card":{"title":"T"},`+pair+`}`))
	}
}

// with sets a field of an object.
func with(t *testing.T, base, place, value string) []byte {
	t.Helper()
	outer := opened(t, "{"+base+"}")
	if inner, found := strings.CutPrefix(place, "card."); found {
		card := opened(t, string(outer["card"]))
		card[inner] = json.RawMessage(value)
		outer["card"] = closed(t, card)
	} else {
		outer[place] = json.RawMessage(value)
	}
	return closed(t, outer)
}

func without(t *testing.T, base, place string) []byte {
	t.Helper()
	outer := opened(t, "{"+base+"}")
	if inner, found := strings.CutPrefix(place, "card."); found {
		card := opened(t, string(outer["card"]))
		delete(card, inner)
		outer["card"] = closed(t, card)
	}
	delete(outer, place)
	return closed(t, outer)
}

func opened(t *testing.T, text string) (fields map[string]json.RawMessage) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &fields); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return fields
}

// closed writes the fields one by one: the encoder would change what is in them.
func closed(t *testing.T, fields map[string]json.RawMessage) []byte {
	t.Helper()
	names := make([]string, 0, len(fields))
	for name := range fields {
		names = append(names, name)
	}
	slices.Sort(names)
	parts := make([]string, 0, len(fields))
	for _, name := range names {
		parts = append(parts, `"`+name+`":`+string(fields[name]))
	}
	return []byte("{" + strings.Join(parts, ",") + "}")
}

// Every request in the clients' table of cases is one more input.
func TestAgreeOnConformance(t *testing.T) {
	set := compiled(t)
	text, err := os.ReadFile("../clients/conformance.json")
	if err != nil {
		t.Fatal(err)
	}
	var table struct {
		Requests []struct {
			Data  json.RawMessage `json:"data"`
			Error string          `json:"error"`
		} `json:"requests"`
	}
	if err := json.Unmarshal(text, &table); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, r := range table.Requests {
		var data string
		if json.Unmarshal(r.Data, &data) != nil {
			continue // a text in parts, which is beyond schemas by its size or its bytes
		}
		n++
		agree(t, set, schemas.Requested, []byte(data))
	}
	if n < 50 {
		t.Errorf("only %d requests in the table", n)
	}
}

// FuzzAgree looks for data of which the two say different things.
func FuzzAgree(f *testing.F) {
	set := compiled(f)
	for i := range eventsIn() {
		for _, data := range []string{
			`{"approval_id":"a1","tool":"t","arguments":{"a":[1,{}]},"card":{"title":"T","lines":["a"],"undo_window_days":3},"expires_in":60.5}`,
			`{"approval_id":"a1","calls":[{"tool":"t","arguments":{},"call_id":"c"}],"effect":"write","approval":"pinned","card":{"title":"T"}}`,
			`{"approval_id":"a1","kind":"halt","card":{"title":"T","summary":"s"},"expires_at":"2027-01-01T00:00:00Z","risk":{"facts":1}}`,
			`{"approval_id":"a1","outcome":"partial","results":[{"line":1,"ok":false,"detail":"d"}],"undo_until":"2027-01-01T00:00:00Z"}`,
			`{"approval_id":"a1","pin":"p","by":"me","reason":"r"}`, `[]`, `null`, `{"approval_id":"a1","x":1e999}`,
		} {
			f.Add(uint8(i), []byte(data))
		}
	}
	f.Fuzz(func(t *testing.T, kind uint8, data []byte) {
		agree(t, set, eventsIn()[int(kind)%len(eventsIn())], data)
	})
}
