package main

import (
	"context"
	"encoding/json"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"countersign/approval"
	"countersign/config"
)

// loosened are the entries of the audit that are about the configuration, by what was
// found looser: "code of, code of".
func (w *bubble) loosened() []string {
	w.Helper()
	var found []string
	check := approval.ChainCheck{}
	w.ok(w.store.AuditEntries(context.Background(), func(e approval.Entry) error {
		check.Take(e)
		var line struct {
			Kind, Before, After string
			Looser              []struct{ Code, Of string }
		}
		w.ok(json.Unmarshal([]byte(e.Data), &line))
		if line.Kind != "configuration" {
			return nil
		}
		if !strings.HasPrefix(line.Before, "sha256:") || !strings.HasPrefix(line.After, "sha256:") || line.Before == line.After {
			w.Errorf("digests in %s", e.Data)
		}
		for _, name := range []string{"Olga", "Dan", "wipe"} {
			if strings.Contains(e.Data, name) {
				w.Errorf("%s is in the audit: %s", name, e.Data)
			}
		}
		var codes []string
		for _, l := range line.Looser {
			codes = append(codes, l.Code+" "+l.Of)
		}
		found = append(found, strings.Join(codes, ", "))
		return nil
	}))
	head, err := w.store.AuditHead(context.Background())
	w.ok(err)
	if faults := check.Done(head.End, head.End); len(faults) > 0 || head.Unchained > 0 {
		w.Errorf("the audit has faults: %v, %d lines are not chained", faults, head.Unchained)
	}
	return found
}

// told counts the notices in a chat that say something.
func (w *bubble) told(chat int64, text string) int {
	n := 0
	for _, m := range w.sim.BotMessages(chat) {
		if strings.Contains(m.Text, "changed the configuration") && strings.Contains(m.Text, text) {
			n++
		}
	}
	return n
}

const danID = 1007

// What a reload or a new start allows more is in the audit and told once, by however
// many bots, to whoever is an owner and to whoever was one.
func TestLooserIsAuditedAndTold(t *testing.T) {
	t.Parallel()
	inBubble(t, func(w *bubble) {
		w.sim.AddUser(danID, "Dan").Start()
		wants := func(when string, lines []string, told map[int64]int) {
			t.Helper()
			w.pass(time.Minute)
			got := w.loosened()
			if strings.Join(got, "; ") != strings.Join(lines, "; ") {
				t.Errorf("%s the audit has %q, want %q", when, got, lines)
			}
			for chat, want := range told {
				if n := w.told(chat, ""); n != want {
					t.Errorf("%s %d was told %d times, want %d", when, chat, n, want)
				}
			}
		}
		a, b := w.run("a", &life{}), w.run("b", &life{})
		reload := func() {
			w.ok(a.Reload(context.Background(), w.cfg))
			w.ok(b.Reload(context.Background(), w.cfg))
		}
		wants("at the first start", nil, map[int64]int{annID: 0, olgaID: 0})

		// Another owner in Olga's place: she is told, too.
		people := w.cfg.People
		w.cfg.People = []config.Person{people[0], {ID: danID, Name: "Dan", Role: config.RoleOwner}}
		reload()
		lines := []string{"owner_added 1007"}
		wants("after a change of owners", lines, map[int64]int{annID: 1, olgaID: 1, danID: 1})
		if w.told(olgaID, "Dan (1007) is an owner now") != 1 {
			t.Error("Olga was not told of whom")
		}

		w.cfg.Routes = []config.RouteRule{{Chats: []config.Chat{{ID: annID}}, Quorum: 2}}
		reload()
		wants("after a quorum", lines, map[int64]int{annID: 1, olgaID: 1, danID: 1})
		w.cfg.Routes = []config.RouteRule{{Chats: []config.Chat{{ID: annID}}, Quorum: 1}}
		reload()
		lines = append(lines, "route_quorum 0")
		wants("without it", lines, map[int64]int{annID: 2, olgaID: 1, danID: 2})
		reload()
		wants("after the same again", lines, map[int64]int{annID: 2, olgaID: 1, danID: 2})

		// A new start, with what a reload does not take.
		a.stop()
		b.stop()
		w.cfg.Redact, w.cfg.Confirm.Dwell = false, 0
		w.run("c", &life{})
		lines = append(lines, "dwell_shorter , unmasked ")
		wants("after a new start", lines, map[int64]int{annID: 3, olgaID: 1, danID: 3})
	})
}

// What allows more comes into force only once it is audited; what does not, comes at
// once, and is remembered when Redis is back.
func TestLooserWaitsForTheAudit(t *testing.T) {
	t.Parallel()
	inBubble(t, func(w *bubble) {
		w.sim.AddUser(danID, "Dan").Start()
		var away atomic.Bool
		a := w.run("a", &life{at: func(name string) ending {
			if away.Load() && !isCall(name) {
				return fails
			}
			return goesOn
		}, fault: errDead})
		w.pass(5 * time.Second)
		more, fewer := w.cfg, w.cfg
		more.People = append(more.People[:2:2], config.Person{ID: danID, Name: "Dan", Role: config.RoleOwner})
		fewer.People = more.People[:1]
		away.Store(true)
		if err := a.Reload(context.Background(), more); err == nil || !strings.Contains(err.Error(), "audited") || a.config().Owner(danID) {
			t.Errorf("taken without the audit: %v", err)
		}
		w.ok(a.Reload(context.Background(), fewer))
		if a.config().Owner(olgaID) {
			t.Error("what allows less is not in force at once")
		}
		away.Store(false)
		w.pass(time.Minute)
		if got := w.loosened(); len(got) != 0 {
			t.Errorf("audited %q", got)
		}
		w.ok(a.Reload(context.Background(), w.cfg)) // Olga once more
		w.pass(time.Minute)
		if got := w.loosened(); len(got) != 1 || got[0] != "owner_added 1003" {
			t.Errorf("audited %q", got)
		}
		if w.told(annID, "") != 1 || w.told(olgaID, "") != 1 || w.told(danID, "") != 0 {
			t.Error("not told as it should be")
		}
	})
}
