package approval_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"countersign/approval"
)

// The examples of RFC 8785, its table of numbers, and what other encoders get
// wrong.
func TestCanonical(t *testing.T) {
	tests := []struct{ in, want string }{
		{
			`{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],
			  "string":"\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/","literals":[null,true,false]}`,
			`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],` +
				`"string":"€$\u000f\nA'B\"\\\\\"/"}`,
		},
		{ // keys in order of their UTF-16 units: a surrogate pair before U+FB33
			`{"\u20ac":1,"\r":2,"\ufb33":3,"1":4,"\ud83d\ude00":5,"\u0080":6,"\u00f6":7}`,
			"{\"\\r\":2,\"1\":4,\"\u0080\":6,\"\u00f6\":7,\"\u20ac\":1,\"\U0001f600\":5,\"\ufb33\":3}",
		},
		{`"<&>\u2028\u2029\u007f"`, "\"<&>\u2028\u2029\x7f\""},
		{`"\b\t\n\f\r\u001f\u0000"`, `"\b\t\n\f\r\u001f\u0000"`},
		{`[-0,0,-0.0,0e5]`, `[0,0,0,0]`},
		{`[5e-324,-5e-324,1.7976931348623157e308]`, `[5e-324,-5e-324,1.7976931348623157e+308]`},
		{`[9007199254740991,-9007199254740991]`, `[9007199254740991,-9007199254740991]`},
		{`[1e20,1e21,999999999999999900000.0,1e-6,1e-7]`, `[100000000000000000000,1e+21,999999999999999900000,0.000001,1e-7]`},
		{`[295147905179352830000.0,9.999999999999997e22,1e23]`, `[295147905179352830000,9.999999999999997e+22,1e+23]`},
		{`[333333333.33333325,0.1,1e-400]`, `[333333333.33333325,0.1,0]`},
		{" { } ", `{}`},
	}
	for _, tt := range tests {
		got, err := approval.Canonical([]byte(tt.in))
		if err != nil || string(got) != tt.want {
			t.Errorf("%s:\n got %s, %v\nwant %s", tt.in, got, err, tt.want)
		}
	}
	for _, bad := range []string{``, `{`, `{} {}`, `{"a":1,"a":2}`, `"\ud800"`, "\"\xff\"", `1e999`, `01`, `[1,]`} {
		if got, err := approval.Canonical([]byte(bad)); err == nil {
			t.Errorf("%q: %s, want an error", bad, got)
		}
	}
}

// A double is written so that it is read back as itself.
func TestCanonicalNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := math.Float64frombits(rapid.Uint64().Draw(t, "bits"))
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return
		}
		out, err := approval.Canonical(fmt.Appendf(nil, "%.17e", f))
		if err != nil {
			t.Fatal(err)
		}
		var back float64
		if err := json.Unmarshal(out, &back); err != nil || back != f {
			t.Fatalf("%v became %s", f, out)
		}
	})
}

func TestTerms(t *testing.T) {
	base := valid(nil)
	want := terms(t, base)
	// Computed once with an independent implementation.
	if known := "sha256:2d2e1178d20a22c8763d0924e0722d811017148748495a2cbd55891730dc4181"; want != known {
		t.Errorf("terms of %s: %s, want %s", base, want, known)
	}
	same := map[string][]byte{
		"expires_in":  valid(draft{"expires_in": "60"}),
		"expires_at":  valid(draft{"expires_at": `"2027-01-01T00:00:00Z"`}),
		"escaped key": bytes.Replace(base, []byte(`"tool"`), []byte(`"\u0074ool"`), 1),
		"escaped":     bytes.Replace(base, []byte(`"m1"`), []byte(`"\u006d1"`), 1),
		"space":       []byte(" " + strings.ReplaceAll(string(base), ":", " :\n\t") + "\r\n"),
	}
	for name, data := range same {
		if got := terms(t, data); got != want {
			t.Errorf("%s changes the terms", name)
		}
	}
	other := map[string][]byte{
		"unknown field":     valid(draft{"x": "null"}),
		"inner expires_in":  valid(draft{"arguments": `{"ids":["m1"],"expires_in":60}`}),
		"number for string": valid(draft{"arguments": `{"ids":[1]}`}),
		"normalisation":     valid(draft{"card": `{"title":"Trash 1 e\u0301mail"}`}),
		"context":           valid(draft{"context": "{}"}),
		"id":                valid(draft{"approval_id": `"a2"`}),
	}
	for name, data := range other {
		if got := terms(t, data); got == want {
			t.Errorf("%s does not change the terms", name)
		}
	}
	if got := terms(t, []byte(`{"expires_in":5}`)); got != approval.RawDigest([]byte("{}")) {
		t.Errorf("nothing but expires_in: %s", got)
	}
}

func TestTermsRefuses(t *testing.T) {
	for data, want := range map[string]string{
		`{`:                        "invalid: data: is not JSON at byte 1",
		`[]`:                       "invalid: data: must be a JSON object",
		`{"a":{"b":1,"b":1}}`:      "invalid: a.b: given twice",
		`{"a":1e999}`:              "invalid: a: must be finite as a double",
		`{"a":` + nested(32) + `}`: "invalid: a" + strings.Repeat("[0]", 31) + ": nested deeper than 32",
		`{"a":"` + strings.Repeat("x", 256<<10) + `"}`: "too_large: data: over 256 KiB",
	} {
		if got, err := approval.Terms([]byte(data)); err == nil || err.Error() != want {
			t.Errorf("%.60s: %s, %v, want %s", data, got, err, want)
		}
		if got := approval.TermsOrRaw([]byte(data)); got != approval.RawDigest([]byte(data)) {
			t.Errorf("%.60s: %s is not the digest of the bytes", data, got)
		}
	}
	if got := approval.TermsOrRaw(valid(nil)); got != terms(t, valid(nil)) {
		t.Errorf("TermsOrRaw of good data is %s", got)
	}
}

func TestPinOf(t *testing.T) {
	tests := []struct {
		calls []approval.Call
		want  string // what is digested
	}{
		{[]approval.Call{}, `{"calls":[]}`},
		{[]approval.Call{{Tool: "t", Arguments: json.RawMessage(`{}`)}}, `{"calls":[{"arguments":{},"tool":"t"}]}`},
		{
			[]approval.Call{
				{Tool: "<b>\"é\n", Arguments: json.RawMessage("{\"b\": 1.0,\t\"a\":\"\\u003c\"}"), CallID: "no part of it"},
				{Tool: "u", Arguments: json.RawMessage(`{"x":[]}`)},
			},
			`{"calls":[{"arguments":{"a":"<","b":1},"tool":"<b>\"é\n"},{"arguments":{"x":[]},"tool":"u"}]}`,
		},
	}
	for _, tt := range tests {
		got, err := approval.PinOf(tt.calls)
		if want := approval.RawDigest([]byte(tt.want)); err != nil || got != want {
			t.Errorf("%v: %s, %v, want the digest of %s", tt.calls, got, err, tt.want)
		}
	}
	for _, raw := range []string{"", "{", `{}},{"arguments":{}`, `{"a":1,"a":1}`} {
		if got, err := approval.PinOf([]approval.Call{{Tool: "t", Arguments: json.RawMessage(raw)}}); err == nil {
			t.Errorf("arguments %q: %s, want an error", raw, got)
		}
	}
}

// Order and white space change no terms; a value does.
func TestTermsProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := anObject(3).Draw(t, "value")
		a, b := write(t, value, "a"), write(t, value, "b")
		if terms(t, a) != terms(t, b) {
			t.Fatalf("two ways to write one value:\n%s\n%s", a, b)
		}
		key := rapid.SampledFrom(slices.Sorted(maps.Keys(value))).Draw(t, "key")
		changed := maps.Clone(value)
		if rapid.Bool().Draw(t, "drop") {
			delete(changed, key)
		} else {
			changed[key] = []any{value[key]}
		}
		if c := write(t, changed, "c"); terms(t, a) == terms(t, c) {
			t.Fatalf("two values:\n%s\n%s", a, c)
		}
	})
}

type failer interface {
	Helper()
	Fatal(args ...any)
}

func terms(t failer, data []byte) string {
	t.Helper()
	got, err := approval.Terms(data)
	if err != nil {
		t.Fatal(err, string(data))
	}
	return got
}

func anObject(depth int) *rapid.Generator[map[string]any] {
	return rapid.MapOfN(rapid.String(), aValue(depth), 1, 6)
}

func aValue(depth int) *rapid.Generator[any] {
	leaves := []*rapid.Generator[any]{
		rapid.Bool().AsAny(),
		rapid.Just[any](nil),
		rapid.String().AsAny(),
		rapid.Int64Range(-(1<<53 - 1), 1<<53-1).AsAny(),
		rapid.Float64().AsAny(),
	}
	if depth > 0 {
		leaves = append(leaves,
			rapid.Custom(func(t *rapid.T) any { return anObject(depth-1).Draw(t, "object") }),
			rapid.Custom(func(t *rapid.T) any { return rapid.SliceOfN(aValue(depth-1), 0, 4).Draw(t, "list") }))
	}
	return rapid.OneOf(leaves...)
}

// write encodes v with keys and white space as they are drawn.
func write(t *rapid.T, v any, label string) []byte {
	space := func() string { return rapid.StringOfN(rapid.RuneFrom([]rune(" \n\t\r")), 0, 2, -1).Draw(t, label) }
	var out bytes.Buffer
	var put func(v any)
	put = func(v any) {
		out.WriteString(space())
		switch v := v.(type) {
		case map[string]any:
			out.WriteByte('{')
			for i, key := range rapid.Permutation(slices.Sorted(maps.Keys(v))).Draw(t, label) {
				if i > 0 {
					out.WriteByte(',')
				}
				put(key)
				out.WriteByte(':')
				put(v[key])
			}
			out.WriteByte('}')
		case []any:
			out.WriteByte('[')
			for i, item := range v {
				if i > 0 {
					out.WriteByte(',')
				}
				put(item)
			}
			out.WriteByte(']')
		case float64: // always with an exponent, so that it is no integer
			fmt.Fprintf(&out, "%.17e", v)
		default:
			text, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			out.Write(text)
		}
		out.WriteString(space())
	}
	put(v)
	return out.Bytes()
}
