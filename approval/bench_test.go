package approval_test

import (
	"fmt"
	"strings"
	"testing"

	"countersign/approval"
)

// typical is a request of about 1 KiB, full one of the largest size.
func typical() []byte { return request(5, 60) }
func full() []byte    { return request(240, 1000) }

func request(lines, length int) []byte {
	var items, ids strings.Builder
	for i := range lines {
		if i > 0 {
			items.WriteByte(',')
			ids.WriteByte(',')
		}
		fmt.Fprintf(&items, `"%s"`, strings.Repeat("x", length))
		fmt.Fprintf(&ids, `"m-%d"`, i)
	}
	return fmt.Appendf(nil, `{"approval_id":"bench.1","runtime":"iris","run_id":"r1","tool":"trash_emails",`+
		`"arguments":{"ids":[%s],"folder":"INBOX","hard":false,"n":12},"context":{"wait":"w1"},`+
		`"card":{"title":"Trash 5 emails","lines":[%s],"undo_tool":"untrash","undo_window_days":30},`+
		`"expires_in":3600,"risk":{"facts":{"destructive_capable":true}}}`, ids.String(), items.String())
}

func BenchmarkTake(b *testing.B) {
	for name, data := range map[string][]byte{"typical": typical(), "full": full()} {
		b.Run("decode/"+name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := approval.Decode(data); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("terms/"+name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := approval.Terms(data); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("pin/"+name, func(b *testing.B) {
			b.ReportAllocs()
			r, err := approval.Decode(data)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if _, err := approval.PinOf(r.Calls); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
