package store_test

import (
	"countersign/approval"
	"countersign/store"
)

// votes opens and confirms a step of one owner.
func (e *env) votes(id string, user int64, want store.Status) *store.Reading {
	e.Helper()
	e.step(id, user, "")
	r := e.read(id)
	e.asked(id, r.Step.Rev, user, 11, "", true)
	return e.decides(r, saidYes(r, user), want)
}

// uncounted has an earlier vote of somebody who is no longer an owner not count.
func uncounted(a store.Attempt, gone int64) store.Attempt {
	a.Counts = func(user int64) bool { return user != gone }
	return a
}

func quorumChecks() []check {
	return []check{
		{"decide", "a vote below the quorum is kept, and answers nothing", func(e *env) {
			o := e.open("a1", quorum(2))
			e.shown("a1", ann)
			e.advance(dwell)
			r := e.read("a1")
			e.marked("a1", func() { e.decides(r, yes(r, ann), store.Voted) })
			r = e.read("a1")
			same(e, "state", r.Row.State, approval.Open)
			same(e, "step", r.Step, nil)
			same(e, "memory", e.rdb.HKeys(e.ctx, e.keys.Memory("a1")).Val(), []string{"vote:1001"})
			same(e, "votes", len(r.Votes), 1)
			same(e, "voter", r.Votes[0].By, telegram(ann))
			same(e, "answers", len(e.events(e.keys.Answers())), 0)
			same(e, "deadline", e.score(e.keys.Deadlines(), "a1").Add(e.server.Moved()), o.Row.ExpiresAt)
			e.livesFor(e.keys.Row("a1"), -1)
			e.audited("a1 requested>open intake/"+e.keys.Requests(), "a1 open>open telegram/1001")
		}},
		{"decide", "the vote that makes the quorum answers, with all who approved in order", func(e *env) {
			e.open("a1", quorum(3))
			e.votes("a1", cleo, store.Voted)
			e.votes("a1", ann, store.Voted)
			e.votes("a1", ben, store.Done)
			a := e.answered("a1", approval.DecisionApproved)
			same(e, "approvals", a.Approvals, []approval.By{telegram(cleo), telegram(ann), telegram(ben)})
			same(e, "by", a.By, telegram(ben))
		}},
		{"decide", "where one is enough the answer lists no approvals", func(e *env) {
			e.open("a1")
			e.votes("a1", ann, store.Done)
			same(e, "approvals", len(e.answered("a1", approval.DecisionApproved).Approvals), 0)
		}},
		{"decide", "nobody votes twice", func(e *env) {
			e.openHalt("a1", quorum(2))
			e.decides(e.read("a1"), approving(store.ByTap, ann), store.Voted)
			e.refuses(e.read("a1"), approving(store.ByTap, ann), store.HasVoted)
			e.decides(e.read("a1"), approving(store.ByTap, ben), store.Done)
		}},
		{"decide", "whoever voted first cannot also be the last", func(e *env) {
			e.openHalt("a1", quorum(3))
			e.decides(e.read("a1"), approving(store.ByTap, ann), store.Voted)
			e.decides(e.read("a1"), approving(store.ByTap, ben), store.Voted)
			e.refuses(e.read("a1"), approving(store.ByTap, ann), store.HasVoted)
		}},
		{"decide", "the vote of who is an owner no longer does not count", func(e *env) {
			e.openHalt("a1", quorum(2))
			e.decides(e.read("a1"), approving(store.ByTap, ann), store.Voted)
			last := approving(store.ByTap, ben)
			last.Counts = func(user int64) bool { return user != ann }
			e.decides(e.read("a1"), last, store.Voted)
			last = approving(store.ByTap, cleo)
			last.Counts = func(user int64) bool { return user != ann }
			e.decides(e.read("a1"), last, store.Done)
			same(e, "approvals", e.answered("a1", approval.DecisionApproved).Approvals, []approval.By{telegram(ben), telegram(cleo)})
		}},
		{"decide", "a reading from before a vote is read again before the next one", func(e *env) {
			stale := e.openHalt("a1", quorum(2))
			e.decides(stale, approving(store.ByTap, ann), store.Voted)
			e.decides(stale, approving(store.ByTap, ben), store.Done)
			same(e, "approvals", len(e.answered("a1", approval.DecisionApproved).Approvals), 2)
		}},
		{"decide", "votes that only the reading has do not count", func(e *env) {
			r := e.openHalt("a1", quorum(2))
			r.Votes = []approval.Vote{{User: cleo, By: telegram(cleo)}}
			e.decides(r, approving(store.ByTap, ann), store.Voted)
		}},
		{"decide", "a quorum that only the reading has does not count", func(e *env) {
			r := e.openHalt("a1", quorum(2))
			r.Row.Quorum = 1
			e.decides(r, approving(store.ByTap, ann), store.Voted)
			r = e.openHalt("a2")
			r.Row.Quorum = 2
			e.decides(r, approving(store.ByTap, ann), store.Done)
		}},
		{"decide", "one rejection ends it, whoever approved before, and may come from them", func(e *env) {
			for id, user := range map[string]int64{"a1": ben, "a2": ann} {
				e.openHalt(id, quorum(2))
				e.decides(e.read(id), approving(store.ByTap, ann), store.Voted)
				e.decides(e.read(id), reject(user), store.Done)
				same(e, "approvals", len(e.answered(id, approval.DecisionRejected).Approvals), 0)
			}
		}},
		{"decide", "the operator approves whole, whatever the quorum", func(e *env) {
			e.openHalt("a1", quorum(3))
			e.decides(e.read("a1"), approving(store.ByTap, ann), store.Voted)
			e.decides(e.read("a1"), byOperator(approval.DecisionApproved), store.Done)
			same(e, "approvals", len(e.answered("a1", approval.DecisionApproved).Approvals), 0)
		}},
		{"decide", "only a person's Yes is a vote", func(e *env) {
			r := e.open("a1", quorum(2))
			for _, a := range []store.Attempt{lapse(), e.withdraw(), unreachable(), reject(ann), byOperator("open")} {
				if a.Decision != "open" {
					a.Decision = approval.DecisionApproved
				}
				if want := store.Forbidden; a.Guard == store.ByDeadline {
					e.refuses(r, a, store.Early)
				} else {
					e.refuses(r, a, want)
				}
			}
		}},
		{"decide", "where all votes are there without an answer, a voter confirms again", func(e *env) {
			e.openHalt("a1", quorum(2))
			// Ann had voted and was no longer an owner when Ben did; now she is one again.
			e.decides(e.read("a1"), approving(store.ByTap, ann), store.Voted)
			e.decides(e.read("a1"), uncounted(approving(store.ByTap, ben), ann), store.Voted)
			e.refuses(e.read("a1"), uncounted(approving(store.ByTap, ben), ann), store.HasVoted)
			e.decides(e.read("a1"), approving(store.ByTap, ann), store.Done)
			same(e, "approvals", e.answered("a1", approval.DecisionApproved).Approvals, []approval.By{telegram(ben), telegram(ann)})
		}},
		{"step", "a voter confirms again only where all votes are there without an answer", func(e *env) {
			e.open("a2", quorum(2))
			e.votes("a2", ann, store.Voted)
			e.opensStep("a2", ann, store.HasVoted)
			r := e.step("a2", ben, "")
			e.asked("a2", r.Step.Rev, ben, 11, "", true)
			e.decides(r, uncounted(saidYes(r, ben), ann), store.Voted)
			e.votes("a2", ann, store.Done)
		}},
		{"decide", "after a vote the next owner opens a step of their own", func(e *env) {
			e.open("a1", quorum(2))
			e.votes("a1", ann, store.Voted)
			e.opensStep("a1", ann, store.HasVoted)
			e.votes("a1", ben, store.Done)
		}},
		{"decide", "another owner's step may be cancelled for one's own", func(e *env) {
			e.open("a1", quorum(2))
			r := e.step("a1", ann, "")
			e.opensStep("a1", ben, store.OtherPerson)
			e.cancels("a1", ben, r.Step.Rev, store.Done)
			e.votes("a1", ben, store.Voted)
		}},
	}
}
