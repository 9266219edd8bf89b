package approval_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/gowebpki/jcs"
	"pgregory.net/rapid"

	"countersign/approval"
)

// like holds data to the two libraries that read and write JSON in general: what we write
// is what they write, and what we read is what they read.
func like(t interface {
	Helper()
	Errorf(format string, args ...any)
}, data []byte,
) {
	t.Helper()
	got, err := approval.Canonical(data)
	want, fault := jcs.Transform(data)
	if (err == nil) != (fault == nil) || err == nil && !bytes.Equal(got, want) {
		t.Errorf("canonical %q:\n got %q, %v\nwant %q, %v", data, got, err, want, fault)
	}
	read := approval.ReadData(data)
	if tree := read.Tree(); tree != nil {
		var other any
		if err := json.Unmarshal(data, &other); err != nil || !reflect.DeepEqual(tree, other) {
			t.Errorf("tree of %q:\n got %#v\nwant %#v, %v", data, tree, other, err)
		}
	}
	if terms, err := read.Terms(); err == nil {
		if want := termsByLibrary(t, data); terms != want {
			t.Errorf("terms of %q: %s, want %s", data, terms, want)
		}
	}
	pin, err := approval.PinOf([]approval.Call{{Tool: "t\"é\x01", Arguments: data}})
	if good := fault == nil && json.Valid(data); (err == nil) != good {
		t.Errorf("pin of %q: %v, want a pin: %v", data, err, good)
	} else if err == nil {
		whole := `{"calls":[{"tool":"t\"é\u0001","arguments":` + string(data) + `}]}`
		if want, err := jcs.Transform([]byte(whole)); err != nil || pin != approval.RawDigest(want) {
			t.Errorf("pin of %q: %s, want the digest of %q, %v", data, pin, want, err)
		}
	}
}

// termsByLibrary computes terms in another way: field by field with encoding/json.
func termsByLibrary(t interface {
	Errorf(format string, args ...any)
}, data []byte,
) string {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		t.Errorf("%q: %v", data, err)
	}
	delete(fields, "expires_in")
	delete(fields, "expires_at")
	rest, err := json.Marshal(fields)
	if err == nil {
		rest, err = jcs.Transform(rest)
	}
	if err != nil {
		t.Errorf("%q: %v", data, err)
	}
	return approval.RawDigest(rest)
}

// hostile are texts in which readers differ.
func hostile() []string {
	all := []string{
		``, ` `, `{}`, `[]`, `[ ]`, `{ }`, `""`, `null`, `[null,true,false]`, `{"":{"":[]}}`, `[[],[[]],{}]`, `{}{}`, `[1,]`, `{"a":1,}`, `[,1]`,
		`-0`, `-0.0`, `[0,-0,0.0,-0e5,1E5,1e+5,10.0,1.50]`, `9007199254740991`, `-9007199254740991`, `9007199254740992`, `9007199254740993`,
		`123456789012345678901234567890`, `1e308`, `1e309`, `-1e309`, `1e-400`, `5e-324`, `1e21`, `1e20`, `999999999999999999999`, `0.1e-6`, `1e-7`,
		`01`, `+1`, `.5`, `1.`, `1e`, `NaN`, `Infinity`, `-`, `0x1p3`, `1_000`,
		`"\u0000\u001f\u007f\u0080\u00e9\u2028\u2029\ufeff\uffff\ufffd"`, "\"\x7f\u2028é😀\"", `"\/\b\f\n\r\t\"\\"`, `"\u002f"`,
		`"\ud83d\ude00"`, `"\uD83D\uDE00"`, `"\ud83d"`, `"\ude00"`, `"\ud83d\ud83d\ude00"`, `"\ud83dx"`, `"\ud83d\n"`, `"\ud83d\u0041"`, `"\udbff\udfff"`,
		"\"\xff\"", "\"\xc0\xaf\"", "\"\xed\xa0\x80\"", "\"a\xf0\x9f\"", "\"\\n\xff\"", "\"\n\"", "{\"\xff\":1}", "\xef\xbb\xbf{}",
		`{"a":1,"a":2}`, `{"a":1,"\u0061":2}`, `{"\u0061":1,"b":2,"a":3}`, `{"b":1,"a":2}`, `{"a":{"c":1,"b":2},"A":0}`, `{"aa":1,"a":2,"":3}`,
		`{"\ufb33":1,"\ud83d\ude00":2}`, "{\"\ufb33\":1,\"😀\":2,\"\ue000\":3,\"\ud7ff\":4}", "{\"😀\":1,\"😁\":2}", "{\"é\":1,\"e\":2,\"ê\":3}",
		`{"expires_in":5,"expires_at":"x","a":1}`, `{"expires_i\u006e":5,"z":1,"y":2}`, `{"a":{"expires_in":1}}`,
		` { "b" : [ 1 , { "d" : 1.0 , "c" : "x" } ] , "a" : null } `,
	}
	for _, n := range []int{15, 16, 17, 18, 40} { // a small object, and a large one
		all = append(all, manyKeys(n, "last"), manyKeys(n, "k0"), manyKeys(n, `\u006b1`))
	}
	for _, n := range []int{31, 32, 33, 34, 35, 100} {
		all = append(all, nested(n), strings.Repeat(`{"b":0,"a":`, n)+"1"+strings.Repeat("}", n))
	}
	return all
}

func TestLikeTheLibraries(t *testing.T) {
	for _, text := range hostile() {
		like(t, []byte(text))
		like(t, []byte(`{"x":`+text+`,"a":[`+text+`]}`))
	}
	for _, data := range [][]byte{typical(), full(), valid(nil)} {
		like(t, data)
	}
}

// The same of any value, with its keys and white space in any order.
func TestLikeTheLibrariesProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { like(t, write(t, anObject(3).Draw(t, "value"), "text")) })
}

func FuzzCanonical(f *testing.F) {
	for _, text := range hostile() {
		f.Add([]byte(text))
	}
	f.Add(typical())
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) <= 4096 { // the standard parser gives up at 10,000 levels
			like(t, data)
		}
	})
}

// What an escape stands for is what the standard library says, half of a surrogate pair
// and bytes that are not UTF-8 included.
func TestUnescape(t *testing.T) {
	same := func(t interface{ Errorf(string, ...any) }, raw string) {
		quoted := []byte(`"` + raw + `"`)
		var want string
		if !strings.Contains(raw, `\`) || json.Unmarshal(quoted, &want) != nil {
			return
		}
		if got := string(approval.Unescape([]byte(raw))); got != want {
			t.Errorf("%q: %q, want %q", raw, got, want)
		}
	}
	for _, text := range hostile() {
		same(t, strings.Trim(text, `"`))
	}
	parts := []string{`\ud83d`, `\ude00`, `\u0041`, `\n`, `\\`, `\"`, `\/`, "é", "😀", "\xff", "\xed\xa0", "a", `\uFFFD`, `\u00e9`, `\b`, `\f`, `\r`, `\t`}
	rapid.Check(t, func(t *rapid.T) {
		same(t, strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 0, 8).Draw(t, "parts"), ""))
	})
}
