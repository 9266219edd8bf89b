package approval_test

import (
	"encoding/json"
	"strings"
	"testing"

	"countersign/approval"
)

func TestCheckJSON(t *testing.T) {
	const (
		twice     = "given twice"
		surrogate = "holds a lone surrogate"
		integer   = "must be within ±(2^53-1)"
		finite    = "must be finite as a double"
		utf8      = "is not UTF-8"
		one       = "must be one JSON value"
	)
	tests := []struct {
		data       string
		path, rule string
		broken     bool
	}{
		{data: `{}`},
		{data: ` [1, 2.5e3 ,"a" , true,false, null, {"a":[],"b":{}}] `},
		{data: `"é 😀 \u00e9 \ud83d\ude00 \" \\ \/ \b\f\n\r\t"`},
		{data: `[9007199254740991,-9007199254740991,-0,0,1e20,1e308,5e-324,1e-400]`},
		{data: `{"a":{"k":1},"b":{"k":1}}`}, // the same key in another object

		{data: `{"a":1,"a":1}`, path: "a", rule: twice},
		{data: `{"a":1,"\u0061":1}`, path: "a", rule: twice}, // the same key, escaped
		{data: `{"a":{"b":[{"c":1,"d":2,"c":3}]}}`, path: "a.b[0].c", rule: twice},
		{data: `{"x y":{"":1,"":2}}`, path: `["x y"][""]`, rule: twice},
		{data: manyKeys(100, "k99"), path: "k99", rule: twice},
		{data: manyKeys(100, "k3"), path: "k3", rule: twice},

		{data: `{"a":"\ud800"}`, path: "a", rule: surrogate},
		{data: `["\udc00"]`, path: "[0]", rule: surrogate},
		{data: `[1,"\ud800\ud800\udc00"]`, path: "[1]", rule: surrogate},
		{data: `["\ud800\u0061"]`, path: "[0]", rule: surrogate},
		{data: `{"\ud800":1}`, path: `["\ufffd"]`, rule: surrogate},
		{data: "[\"\xff\"]", path: "[0]", rule: utf8},
		{data: "[\"\xed\xa0\x80\"]", path: "[0]", rule: utf8}, // a surrogate in bytes
		{data: "[\"\xc0\xaf\"]", path: "[0]", rule: utf8},     // overlong

		{data: `[9007199254740992]`, path: "[0]", rule: integer},
		{data: `{"a":{"ids":[1,2,3,-9007199254740992]}}`, path: "a.ids[3]", rule: integer},
		{data: `[10000000000000000]`, path: "[0]", rule: integer},
		{data: `[1,1e309]`, path: "[1]", rule: finite},
		{data: `[-1.5E+999]`, path: "[0]", rule: finite},

		{data: nested(33), path: strings.Repeat("[0]", 32), rule: "nested deeper than 32"},

		{data: ``, rule: "is not JSON at byte 0", broken: true},
		{data: `{`, rule: "is not JSON at byte 1", broken: true},
		{data: `"`, rule: "is not JSON at byte 1", broken: true},
		{data: `["a`, rule: "is not JSON at byte 3", broken: true},
		{data: `["\`, rule: "is not JSON at byte 2", broken: true},
		{data: `["\u12`, rule: "is not JSON at byte 2", broken: true},
		{data: `{"a":1`, rule: "is not JSON at byte 6", broken: true},
		{data: `{"a":1,}`, rule: "is not JSON at byte 7", broken: true},
		{data: `[1,]`, rule: "is not JSON at byte 3", broken: true},
		{data: `[1}`, rule: "is not JSON at byte 2", broken: true},
		{data: `[01]`, rule: "is not JSON at byte 3", broken: true},
		{data: `[+1]`, rule: "is not JSON at byte 1", broken: true},
		{data: `[.5]`, rule: "is not JSON at byte 1", broken: true},
		{data: `[1.]`, rule: "is not JSON at byte 3", broken: true},
		{data: `[1e]`, rule: "is not JSON at byte 3", broken: true},
		{data: `[NaN]`, rule: "is not JSON at byte 1", broken: true},
		{data: `["\x41"]`, rule: "is not JSON at byte 2", broken: true},
		{data: `["\u00g0"]`, rule: "is not JSON at byte 2", broken: true},
		{data: "[\"a\nb\"]", rule: "is not JSON at byte 3", broken: true},
		{data: `{a:1}`, rule: "is not JSON at byte 1", broken: true},
		{data: `{'a':1}`, rule: "is not JSON at byte 1", broken: true},
		{data: "\ufeff{}", rule: "is not JSON at byte 0", broken: true},
		{data: `{} {}`, rule: one, broken: true},
		{data: `{}}`, rule: one, broken: true},
		{data: "{}\x00", rule: one, broken: true},
		// The first rule broken is what is said, unless the text is no JSON at all.
		{data: `["\ud800",1e999]`, path: "[0]", rule: surrogate},
		{data: `["\ud800"`, rule: "is not JSON at byte 9", broken: true},
		{data: nested(33) + `{}`, rule: one, broken: true},
	}
	for _, tt := range tests {
		path, rule, broken := approval.CheckJSON([]byte(tt.data), 32)
		if path != tt.path || rule != tt.rule || broken != tt.broken {
			t.Errorf("%.80q: %q %q broken=%v, want %q %q broken=%v",
				tt.data, path, rule, broken, tt.path, tt.rule, tt.broken)
		}
	}
	if path, rule, _ := approval.CheckJSON([]byte(nested(32)), 32); rule != "" {
		t.Errorf("32 levels: %q %q", path, rule)
	}
}

// An error repeats little of what a stranger wrote.
func TestCheckJSONPathIsBounded(t *testing.T) {
	long := `{"` + strings.Repeat("k", 5000) + `":`
	path, _, _ := approval.CheckJSON([]byte(strings.Repeat(long, 20)+"1e999"+strings.Repeat("}", 20)), 32)
	if len(path) > 210 {
		t.Errorf("path of %d bytes", len(path))
	}
}

func FuzzCheckJSON(f *testing.F) {
	for _, seed := range []string{
		`{"a":[1,-0.5e+7,"\u00e9\ud83d\ude00",true,null,{}],"b":{"c":[]}}`, `[1,]`, `{"a" 1}`, `01`, `"\`, nested(40),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 4096 {
			return // the standard parser gives up at 10,000 levels
		}
		want := json.Valid(data)
		if got := approval.IsJSON(data); got != want {
			t.Errorf("grammar: %v, the standard library: %v", got, want)
		}
		if _, _, broken := approval.CheckJSON(data, 32); broken == want {
			t.Errorf("rules: broken=%v, the standard library: valid=%v", broken, want)
		}
	})
}

func nested(levels int) string {
	return strings.Repeat("[", levels) + strings.Repeat("]", levels)
}

// manyKeys is an object of n keys k0, k1 … and then again once more.
func manyKeys(n int, again string) string {
	var b strings.Builder
	b.WriteByte('{')
	for i := range n {
		b.WriteString(`"k` + itoa(i) + `":0,`)
	}
	b.WriteString(`"` + again + `":0}`)
	return b.String()
}
