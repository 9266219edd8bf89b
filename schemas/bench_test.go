package schemas_test

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"countersign/approval"
	"countersign/schemas"
)

// BenchmarkCheck is what the schema adds to reading a request, beside what reading
// it costs without: a usual one, and the longest list.
func BenchmarkCheck(b *testing.B) {
	set := schemas.New()
	if err := set.Compile(); err != nil {
		b.Fatal(err)
	}
	long := []string{}
	for i := range approval.MaxLines {
		long = append(long, strconv.Itoa(i)+strings.Repeat("x", 30))
	}
	card, err := json.Marshal(map[string]any{"title": "Trash 5,000 emails", "lines": long})
	if err != nil {
		b.Fatal(err)
	}
	for name, data := range map[string][]byte{
		"usual": []byte(`{"approval_id":"mail-7","runtime":"mail-script","run_id":"run-1","tool":"trash_email",
			"arguments":{"ids":["m1","m2","m3"]},"effect":"destructive","context":{"wait":"w-1"},"expires_in":3600,
			"card":{"title":"Trash 3 emails","lines":["Big sale","Last chance","We miss you"],
			"undo_tool":"restore_email","undo_window_days":30,"request":"Can you delete my promo emails?"}}`),
		"long": []byte(`{"approval_id":"a1","tool":"t","arguments":{},"card":` + string(card) + `}`),
	} {
		b.Run(name+"/schema", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := set.Check(schemas.Requested, data); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/tree", func(b *testing.B) {
			b.ReportAllocs()
			read := approval.ReadData(data)
			for b.Loop() {
				if err := set.CheckTree(schemas.Requested, read.Tree()); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/decoder", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := approval.Decode(data); err != nil {
					b.Fatal(err)
				}
				if _, err := approval.Terms(data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
