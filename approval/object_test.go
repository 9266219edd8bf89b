package approval_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"countersign/approval"
)

func TestObject(t *testing.T) {
	got, err := approval.Object([]byte(` {"command": "ls", "Command": {"a": [1, 2]}, "a\u0062": null } `))
	want := map[string]json.RawMessage{
		"command": json.RawMessage(`"ls"`), "Command": json.RawMessage(`{"a": [1, 2]}`), "ab": json.RawMessage(`null`),
	}
	if err != nil || cmp.Diff(want, got) != "" {
		t.Errorf("%v, %v\n%s", got, err, cmp.Diff(want, got))
	}
	for name, data := range map[string]string{
		"twice":        `{"command": "rm", "command": "ls"}`,
		"twice, spelt": `{"command": "rm", "comm\u0061nd": "ls"}`,
		"twice within": `{"a": {"b": 1, "b": 2}}`,
		"a list":       `[1]`,
		"nothing":      ``,
		"two":          `{} {}`,
		"cut short":    `{"a": 1`,
		"not UTF-8":    "{\"a\": \"\xff\"}",
		"lone half":    `{"a": "\ud800"}`,
		"too deep":     strings.Repeat(`{"a":`, approval.MaxNesting+1) + "1" + strings.Repeat("}", approval.MaxNesting+1),
	} {
		if _, err := approval.Object([]byte(data)); err == nil {
			t.Errorf("%s: taken", name)
		} else if _, ok := errors.AsType[*approval.Invalid](err); !ok {
			t.Errorf("%s: %T", name, err)
		}
	}
}
