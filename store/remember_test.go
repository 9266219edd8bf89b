package store_test

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"time"

	"countersign/approval"
	"countersign/store"
	"countersign/store/storetest"
)

func rememberChecks() []check {
	looser := &approval.Loosened{Before: "sha256:b", After: "sha256:a", Looser: []approval.Loosening{{Code: "owner_added", Of: "1003"}}}
	notices := []store.Notice{
		{ID: "n1", Kind: store.Looser, Chat: ann, What: []string{"Cid (1003) is an owner now"}},
		{ID: "n2", Kind: store.Looser, Chat: ben, What: []string{"Cid (1003) is an owner now"}},
	}
	return []check{
		{"remember", "what owners know of comes with its audit line and its notices", func(e *env) {
			done, err := e.store.Remember(e.ctx, store.Memory{Name: "known", Now: "v1", Audit: looser, Notices: notices})
			e.ok(err)
			same(e, "done", done, true)
			got, err := e.store.Setting(e.ctx, "known")
			e.ok(err)
			same(e, "setting", got, "v1")
			due := e.dirty().Notices
			slices.Sort(due)
			same(e, "due", due, []string{"n1", "n2"})
			same(e, "woken", e.rdb.XLen(e.ctx, e.keys.Wake()).Val(), int64(2))
			for _, want := range notices {
				n, sent, err := e.store.ReadNotice(e.ctx, want.ID)
				e.ok(err)
				want.IDs = nil
				same(e, "notice", *n, want)
				same(e, "sent", sent, false)
				same(e, "chat", e.field(e.keys.NoticeKey(want.ID), "chat"), map[string]string{"n1": "1001", "n2": "1002"}[want.ID])
				e.livesFor(e.keys.NoticeKey(want.ID), storetest.Retention)
			}
			e.chains(1)
			data := e.chain()[0].Data
			same(e, "entry", data[:strings.Index(data, `,"at"`)]+data[strings.Index(data, `,"before"`):],
				`{"after":"sha256:a","before":"sha256:b","kind":"configuration","looser":[{"code":"owner_added","of":"1003"}]}`)
			var line struct{ At time.Time }
			e.ok(json.Unmarshal([]byte(data), &line))
			e.at("line", line.At, e.now())
			same(e, "faults", e.faults(approval.ChainCheck{}), nil)
		}},
		{"remember", "what was read before somebody else remembered changes nothing", func(e *env) {
			e.ok(e.store.SetSetting(e.ctx, "known", "v2"))
			for _, read := range []string{"", "v1"} {
				e.unchanged(func() {
					done, err := e.store.Remember(e.ctx, store.Memory{Name: "known", Read: read, Now: "v3", Audit: looser, Notices: notices})
					e.ok(err)
					same(e, "done", done, false)
				})
			}
		}},
		{"remember", "what is no looser leaves no line and no notice", func(e *env) {
			e.ok(e.store.SetSetting(e.ctx, "known", "v1"))
			done, err := e.store.Remember(e.ctx, store.Memory{Name: "known", Read: "v1", Now: "v2"})
			e.ok(err)
			same(e, "done", done, true)
			same(e, "lines", len(e.audits()), 0)
			same(e, "due", e.dirty().Notices, nil)
		}},
		{"remember", "of several at once one remembers", func(e *env) {
			var wait sync.WaitGroup
			did := make([]bool, 8)
			for i := range did {
				wait.Go(func() {
					own := *looser
					done, err := e.store.Remember(e.ctx, store.Memory{Name: "known", Now: "v1", Audit: &own})
					if err != nil {
						e.Error(err)
					}
					did[i] = done
				})
			}
			wait.Wait()
			same(e, "remembered", len(slices.DeleteFunc(did, func(d bool) bool { return !d })), 1)
			same(e, "lines", len(e.audits()), 1)
		}},
	}
}
