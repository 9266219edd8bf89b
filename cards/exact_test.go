package cards_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"countersign/approval"
	"countersign/cards"
)

// TestExactCallIsThePinnedCall: unless something is masked, the exact call reads
// back as JSON with the very same value, whatever cannot be seen in it.
func TestExactCallIsThePinnedCall(t *testing.T) {
	value := rapid.Deferred(func() *rapid.Generator[any] { return anyJSON(3) })
	rapid.Check(t, func(t *rapid.T) {
		args, err := json.Marshal(map[string]any{anyText(30).Draw(t, "key"): value.Draw(t, "value"), "z": 1e21, "a": -0.5})
		if err != nil {
			t.Fatal(err)
		}
		call := approval.Call{Tool: anyText(60).Draw(t, "tool"), Arguments: args}
		row := simple()
		row.Request.Calls = []approval.Call{call}

		_, file := cards.ExactFile(row, false)
		_, text, found := strings.Cut(string(file), "\n\n")
		if !found {
			t.Fatalf("no empty line in %q", file)
		}
		for _, c := range text {
			if c == '\u2060' || c != '\n' && cards.Neutral(string(c)) != string(c) && !joinerOrMark(c) {
				t.Fatalf("%U stands unmarked in %+q", c, text)
			}
		}
		got, err := approval.PinOf([]approval.Call{parsed(t, text)})
		if err != nil {
			t.Fatal(err)
		}
		want, err := approval.PinOf([]approval.Call{call})
		if err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Fatalf("the exact call has another pin:\n%s\nof %s", text, args)
		}
	})
}

func joinerOrMark(c rune) bool {
	return c == '\u200c' || c == '\u200d' || unicode.Is(unicode.M, c)
}

func parsed(t *rapid.T, text string) approval.Call {
	var call struct {
		Tool      string          `json:"tool"`
		Arguments json.RawMessage `json:"arguments"`
	}
	if err := json.Unmarshal([]byte(text), &call); err != nil {
		t.Fatalf("%v in %q", err, text)
	}
	return approval.Call{Tool: call.Tool, Arguments: call.Arguments}
}

func anyJSON(depth int) *rapid.Generator[any] {
	leaf := rapid.OneOf(
		rapid.Map(anyText(80), func(s string) any { return s }),
		rapid.Map(rapid.IntRange(-1<<40, 1<<40), func(n int) any { return n }),
		rapid.Map(rapid.Bool(), func(b bool) any { return b }),
		rapid.Just[any](nil),
	)
	if depth == 0 {
		return leaf
	}
	return rapid.OneOf(
		leaf,
		rapid.Map(rapid.SliceOfN(anyJSON(depth-1), 0, 4), func(l []any) any { return l }),
		rapid.Map(rapid.MapOfN(anyText(20), anyJSON(depth-1), 0, 4), func(m map[string]any) any { return m }),
	)
}

func TestSeveralCallsInOneFile(t *testing.T) {
	row := simple()
	row.Request.Calls = []approval.Call{
		{Tool: "trash", Arguments: []byte(`{"id":18,"note":"2 of 2\n{"}`)},
		{Tool: "trash", Arguments: []byte(`{"id":19}`), CallID: "not pinned"},
	}
	name, file := cards.ExactFile(row, true)
	want := `Approval #K7QF2 (a1)
Pin: sha256:ab12

1 of 2
{
  "arguments": {
    "id": 18,
    "note": "2 of 2\n{"
  },
  "tool": "trash"
}
2 of 2
{
  "arguments": {
    "id": 19
  },
  "tool": "trash"
}
`
	if name != "K7QF2-exact-call.txt" || string(file) != want {
		t.Errorf("%s:\n%s\nwant\n%s", name, file, want)
	}
}
