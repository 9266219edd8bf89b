package store_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"countersign/store"
)

// Others read these keys, and a later version finds them: they never change.
func TestKeys(t *testing.T) {
	t.Parallel()
	k := store.NewKeys("approvals")
	want := map[string]string{
		k.Prefix():           "{approvals}:",
		k.Requests():         "{approvals}:requests",
		k.Answers():          "{approvals}:answers",
		k.Answer("a:1"):      "{approvals}:answer:a:1",
		k.Row("a:1"):         "{approvals}:row:a:1",
		k.Claim("a:1"):       "{approvals}:claim:a:1",
		k.Deadlines():        "{approvals}:deadlines",
		k.Dead():             "{approvals}:dead",
		k.Alive():            "{approvals}:alive",
		k.Memory("a1"):       "{approvals}:bot:approval:a1",
		k.CardsOf("a1"):      "{approvals}:bot:cards:a1",
		k.CardKey("c1"):      "{approvals}:bot:card:c1",
		k.Message(-100, 7):   "{approvals}:bot:message:-100:7",
		k.OpenIn(-100):       "{approvals}:bot:open:-100",
		k.ClosedIn(-100):     "{approvals}:bot:closed:-100",
		k.FailedIn(-100):     "{approvals}:bot:failed:-100",
		k.Moved():            "{approvals}:bot:moved",
		k.Ref("K7QF2"):       "{approvals}:bot:ref:K7QF2",
		k.WithdrawnKey("a1"): "{approvals}:bot:withdrawn:a1",
		k.DirtyKey():         "{approvals}:bot:dirty",
		k.Wake():             "{approvals}:bot:wake",
		k.Reminders():        "{approvals}:bot:reminders",
		k.LapsedKey():        "{approvals}:bot:lapsed",
		k.AuditKey():         "{approvals}:bot:audit",
		k.LeaseKey():         "{approvals}:bot:lease",
		k.NoticeKey("n1"):    "{approvals}:bot:notice:n1",
		k.Told("n1"):         "{approvals}:bot:told:n1",
		k.Alarms():           "{approvals}:bot:alarms",
		k.Alarmed("a1"):      "{approvals}:bot:alarmed:a1",
		k.OffsetKey():        "{approvals}:bot:offset",
		k.Updates():          "{approvals}:bot:updates",
		k.Aside():            "{approvals}:bot:aside",
		k.Settings():         "{approvals}:bot:settings",
	}
	for got, want := range want {
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
	}
	if len(want) != 33 {
		t.Errorf("two of these keys are the same: %d differ", len(want))
	}
}
