package main

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"countersign/approval"
	"countersign/cards"
	"countersign/simulator"
	"countersign/store"
	"countersign/store/storetest"
)

// redisIsKilled kills the server while a runtime asks and an owner taps, and starts
// it again.
func (o *outage) redisIsKilled(fsync string) {
	o.must(o.db.client.ConfigSet(o.ctx, "appendfsync", fsync).Err())
	o.asks("c00001", approval.Halt)
	o.asks("c00002", approval.ToolCall)
	o.asks("c00003", approval.ToolCall)
	o.offers("c00001", cards.LetterAction)
	o.offers("c00002", cards.LetterReject)
	o.taps("c00003", cards.LetterReject)
	o.says("c00003", "Rejected by Ann") // so somebody listens

	acknowledged := make(chan []string)
	enough := make(chan struct{})
	go func() {
		var ids []string
		for n := 100; ; n++ {
			id := fmt.Sprintf("c%05d", n)
			if o.publish(id, approval.ToolCall) != nil {
				acknowledged <- ids
				return
			}
			if ids = append(ids, id); len(ids) == 30 {
				close(enough)
			}
		}
	}()
	<-enough
	o.db.kill()
	taken := <-acknowledged
	approve, reject := o.taps("c00001", cards.LetterAction), o.taps("c00002", cards.LetterReject)
	for _, tap := range []string{approve, reject} {
		if text := o.toast(tap); text != cards.ToastTrying {
			o.Errorf("while Redis was away a tap was answered %q", text)
		}
	}
	o.must(o.db.up(o.ctx))
	if fsync == "always" {
		entries, err := o.db.client.XRange(o.ctx, keyOf("requests"), "-", "+").Result()
		o.must(err)
		kept := map[string]bool{}
		for _, e := range entries {
			id, _, _ := strings.Cut(e.Values["id"].(string), "/")
			kept[id] = true
		}
		for _, id := range taken {
			if !kept[id] {
				o.Errorf("%s was acknowledged, and is gone", id)
			}
		}
	}
	o.must(o.db.client.XGroupDestroy(o.ctx, keyOf("requests"), "countersign").Err())
	o.says("c00001", "Approved by Ann")
	o.says("c00002", "Rejected by Ann")
	entries, err := o.db.client.XRange(o.ctx, keyOf("requests"), "-", "+").Result()
	o.must(err)
	for _, e := range entries {
		id, _, _ := strings.Cut(e.Values["id"].(string), "/")
		o.until(id+" has a row", func() bool {
			_, err := o.client.Row(o.ctx, id)
			return err == nil
		})
	}
	o.asks("c00900", approval.ToolCall)
	o.taps("c00900", cards.LetterReject)
	o.says("c00900", "Rejected by Ann")
	o.inLine()
	o.once("c00001", approval.Approved)
	o.once("c00002", approval.Rejected)
	o.once("c00900", approval.Rejected)
}

// staleReplica has a replica that was cut off take the primary's place: what was
// approved since is open again, and what was asked since is not there.
func (o *outage) staleReplica() {
	way, err := newCutter(o.db.addr)
	o.must(err)
	o.Cleanup(way.close)
	dir := filepath.Join(o.options.out, "replica")
	o.must(os.MkdirAll(dir, 0o700))
	replica, err := newDatabase(o.guardian, o.options.redis, dir, o.options.out)
	o.must(err)
	o.must(replica.up(o.ctx))
	o.must(o.db.client.ConfigSet(o.ctx, "repl-diskless-sync-delay", "0").Err())
	host, port, _ := strings.Cut(way.address(), ":")
	o.must(replica.client.Do(o.ctx, "replicaof", host, port).Err())

	o.asks("c00001", approval.Halt)
	o.asks("c00002", approval.Halt)
	o.offers("c00001", cards.LetterAction)
	o.offers("c00002", cards.LetterAction)
	copied, err := store.New(replica.client, store.Options{Namespace: namespace, Retention: storetest.Retention, Random: rand.Reader})
	o.must(err)
	o.until("the replica knows where both cards are", func() bool {
		for _, id := range []string{"c00001", "c00002"} {
			if r, err := copied.Read(o.ctx, id); err != nil || len(r.Cards) != 1 || r.Cards[0].Message == 0 {
				return false
			}
		}
		return true
	})
	way.set(cut)

	o.taps("c00001", cards.LetterAction)
	o.says("c00001", "Approved by Ann")
	o.asks("c00003", approval.Halt)
	lost := o.offers("c00003", cards.LetterAction)
	o.once("c00001", approval.Approved)

	old := o.db.database
	old.kill()
	o.must(replica.client.Do(o.ctx, "replicaof", "no", "one").Err())
	for _, b := range o.bots {
		b.cutter.lead(replica.addr)
	}
	o.must(old.client.Close())
	o.db.database = replica
	o.attach()

	o.sees("c00001", "that it is open again", func(m simulator.Message) bool { return button(m, cards.LetterAction) != "" })
	o.inLine()
	if text := o.toast(o.press(annID, lost, button(lost, cards.LetterAction), false)); text != cards.ToastUnknown {
		o.Errorf("a tap on what is gone was answered %q", text)
	}
	o.asks("c00003", approval.Halt) // its runtime reports it as unknown, and asks again
	o.until("c00003 is there", func() bool { _, err := o.client.Row(o.ctx, "c00003"); return err == nil })
	o.taps("c00001", cards.LetterAction)
	o.says("c00001", "Approved by Ann")
	o.taps("c00002", cards.LetterReject)
	o.says("c00002", "Rejected by Ann")
	o.inLine()
	o.once("c00001", approval.Approved)
	o.once("c00002", approval.Rejected)
}

// leaderIsPaused stops the leader in the middle of an edit for longer than its
// lease, and lets it go on when another has drawn the card since.
func (o *outage) leaderIsPaused() {
	o.asks("c00001", approval.ToolCall)
	o.asks("c00002", approval.Halt)
	o.offers("c00001", cards.LetterAction)
	o.offers("c00002", cards.LetterAction)
	first := o.db.leader(o.ctx)
	if first < 0 {
		o.Fatal("nobody leads")
	}
	// Its edit of the one card is taken at once, and answered once it is paused.
	slow := o.sim.Fault(simulator.Fault{Method: "editMessageText", Kind: simulator.Late, Delay: 2 * time.Second, Count: 1})
	o.taps("c00001", cards.LetterAction)
	o.offers("c00001", cards.LetterYes)
	o.bots[first].signal(syscall.SIGSTOP)
	o.until("another leads", func() bool { n := o.db.leader(o.ctx); return n >= 0 && n != first })
	slow.Remove()
	o.taps("c00002", cards.LetterAction)
	o.says("c00002", "Approved by Ann")
	o.taps("c00001", cards.LetterReject)
	o.says("c00001", "Rejected by Ann")
	sent := len(o.cardsOf("c00001")) + len(o.cardsOf("c00002"))

	o.bots[first].signal(syscall.SIGCONT)
	o.asks("c00003", approval.Halt)
	o.taps("c00003", cards.LetterAction)
	o.says("c00003", "Approved by Ann")
	// The woken one gives its signs of life again, and by then it has found out.
	o.until("the woken one stands by", func() bool {
		text, err := os.ReadFile(filepath.Join(o.options.out, fmt.Sprintf("bot-%d.log", first)))
		return err == nil && bytes.Contains(text, []byte("standing by"))
	})
	o.inLine()
	o.once("c00001", approval.Rejected)
	o.once("c00002", approval.Approved)
	o.once("c00003", approval.Approved)
	if n := len(o.cardsOf("c00001")) + len(o.cardsOf("c00002")); n != sent || sent != 2 {
		o.Errorf("%d cards before the leader went on, %d after, want 2", sent, n)
	}
}
