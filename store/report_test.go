package store_test

import (
	"fmt"
	"time"

	"countersign/approval"
	"countersign/store"
	"countersign/store/storetest"
)

const alarmQuiet = 10 * time.Minute

// reporting is a report by the request's stream, in an entry of that time.
func (e *env) reporting(id string, outcome approval.State, entry int64) store.Reporting {
	return store.Reporting{
		Report:  approval.Report{ID: id, Outcome: outcome},
		Data:    fmt.Appendf(nil, `{"approval_id":%q,"outcome":%q}`, id, outcome),
		Stream:  e.keys.Requests(),
		EntryMS: entry,
	}
}

// reports takes a report; whatever is not Done must change nothing.
func (e *env) reports(p store.Reporting, want store.Status) {
	e.Helper()
	take := func() {
		status, _, err := e.store.Reported(e.ctx, p)
		e.ok(err)
		same(e, "status", status, want)
	}
	if want == store.Done {
		e.marked(p.Report.ID, take)
	} else {
		e.unchanged(take)
	}
}

func (e *env) reported(id string, outcome approval.State, entry int64, want store.Status) {
	e.Helper()
	e.reports(e.reporting(id, outcome, entry), want)
}

func reportChecks() []check {
	return []check{
		{"report", "the row takes the outcome, the report and its entry's id", func(e *env) {
			r := e.approved("a1")
			e.advance(hour)
			p := e.reporting("a1", approval.Partial, 100)
			p.EntrySQ = 7
			p.Report.Results = []approval.Result{{Line: 1, OK: true, Detail: "private"}, {Line: 2}}
			p.Data = []byte(`{"approval_id":"a1","outcome":"partial","results":[{"line":1,"ok":true,"detail":"private"}]}`)
			e.reports(p, store.Done)
			after := e.read("a1")
			same(e, "state", after.Row.State, approval.Partial)
			same(e, "revision", after.Row.Rev, r.Row.Rev+1)
			same(e, "report", e.field(e.keys.Row("a1"), "report"), string(p.Data))
			same(e, "entry", e.field(e.keys.Row("a1"), "report_ms")+"-"+e.field(e.keys.Row("a1"), "report_seq"), "100-7")
			e.at("report", after.Row.ReportAt, e.now())
			e.audited("a1 approved>partial runtime/" + e.keys.Requests())
			line := e.rdb.LIndex(e.ctx, e.keys.AuditKey(), -1).Val()
			var kept struct{ Results []map[string]any }
			e.decode(line, &kept)
			same(e, "audited results", kept.Results, []map[string]any{{"line": 1.0, "ok": true}, {"line": 2.0, "ok": false}})
		}},
		{"report", "a report that is not newer than the last changes nothing", func(e *env) {
			e.approved("a1")
			p := e.reporting("a1", approval.Executed, 100)
			p.EntrySQ = 5
			e.reports(p, store.Done)
			for _, old := range [][2]int64{{100, 5}, {100, 4}, {99, 9}} {
				p.EntryMS, p.EntrySQ = old[0], old[1]
				e.reports(p, store.Old)
			}
			for _, newer := range [][2]int64{{100, 6}, {101, 0}} {
				p.EntryMS, p.EntrySQ = newer[0], newer[1]
				e.reports(p, store.Done)
			}
		}},
		{"report", "the last of several reports is the one that shows", func(e *env) {
			e.approved("a1")
			e.reported("a1", approval.Failed, 100, store.Done)
			e.reported("a1", approval.Executed, 101, store.Done)
			same(e, "state", e.read("a1").Row.State, approval.Executed)
			e.audited("a1 approved>failed runtime/"+e.keys.Requests(), "a1 failed>executed runtime/"+e.keys.Requests())
		}},
		{"report", "undone is final", func(e *env) {
			e.executed("a1")
			e.reported("a1", approval.Undone, 101, store.Done)
			e.reported("a1", approval.Executed, 102, store.Final)
			e.reported("a1", approval.Undone, 103, store.Final)
			e.reported("a1", approval.Undone, 101, store.Old)
		}},
		{"report", "only what was approved can be reported", func(e *env) {
			ids := e.everAnswered()
			e.open("open")
			ids[approval.Open] = "open"
			for state, id := range ids {
				want := store.Done
				switch {
				case state == approval.Undone:
					want = store.Final
				case !state.WasApproved():
					want = store.NotApproved
				}
				e.reported(id, approval.Executed, 200, want)
			}
		}},
		{"report", "a report is taken only from the stream of its request", func(e *env) {
			e.approved("a1")
			p := e.reporting("a1", approval.Executed, 100)
			p.Stream = "elsewhere"
			e.reports(p, store.WrongStream)
		}},
		{"report", "a report of what was never seen is unknown", func(e *env) {
			e.reported("never", approval.Executed, 100, store.Unknown)
		}},
		{"report", "the undo lasts as long as the request declares, from the report", func(e *env) {
			e.executed("a1")
			e.at("end of undo", e.read("a1").Row.UndoUntil, e.now().Add(days*24*time.Hour))
			e.together("a1", days*24*time.Hour)
		}},
		{"report", "a report may say how long the undo lasts", func(e *env) {
			e.approved("a1")
			p := e.reporting("a1", approval.Partial, 100)
			until := e.now().Add(hour).Truncate(time.Millisecond)
			p.Report.UndoUntil = &until
			e.reports(p, store.Done)
			same(e, "end of undo", e.read("a1").Row.UndoUntil, until)
			e.together("a1", hour)
		}},
		{"report", "an undo that is over when it is reported shortens nothing", func(e *env) {
			e.approved("a1")
			p := e.reporting("a1", approval.Executed, 100)
			until := e.now().Add(-hour)
			p.Report.UndoUntil = &until
			e.reports(p, store.Done)
			e.together("a1", 0)
		}},
		{"report", "there is no undo where none is declared, or nothing was done", func(e *env) {
			until := e.now().Add(hour)
			storetest.Open(e.TB, e.store, storetest.Request("a1"))
			storetest.Approve(e.TB, e.store, "a1")
			p := e.reporting("a1", approval.Executed, 100)
			p.Report.UndoUntil = &until
			e.reports(p, store.Done)
			e.approved("a2")
			e.reported("a2", approval.Failed, 100, store.Done)
			for _, id := range []string{"a1", "a2"} {
				same(e, "end of undo", e.read(id).Row.UndoUntil, time.Time{})
				e.together(id, 0)
			}
		}},
		{"report", "a report that came by a moved row is audited from the state it found", func(e *env) {
			e.approved("a1")
			e.claim("a1")
			e.claimed("a1", e.keys.Requests(), store.Done)
			e.reported("a1", approval.Executed, 100, store.Done)
			e.audited("a1 claimed>executed runtime/" + e.keys.Requests())
		}},
	}
}
