package main

import (
	"encoding/json"
	"fmt"
	"time"

	"countersign/approval"
	"countersign/queue"
	"countersign/simulator/page"
)

// A demoSample is a request that can be pressed.
type demoSample struct {
	page.Sample
	runtime   string
	ask       queue.Ask // without id and runtime
	fails     []int     // lines that do not work out, from 1
	malformed bool      // published in spite of its mistakes
}

// facts is what a runtime declares of its tool.
func facts(names ...string) *queue.AskRisk {
	risk := &queue.AskRisk{Facts: map[string]bool{}}
	for _, name := range names {
		risk.Facts[name] = true
	}
	return risk
}

// demoID names the request of the nth press. The queue is open to the user's own requests,
// whose ids must stay free: those of the samples begin with demo.
func demoID(sample string, n int) string {
	return fmt.Sprintf("demo-%s-%d", sample, n)
}

// data makes the request of one press.
func (s demoSample) data(id string) ([]byte, error) {
	ask := s.ask
	ask.ID, ask.Runtime, ask.RunID = id, s.runtime, "run-of-"+id
	r, err := ask.Request()
	return r.Data, err
}

// outcome is what happens once it is approved.
func (s demoSample) outcome(id string) approval.Report {
	report := approval.Report{ID: id, Outcome: approval.Executed}
	if len(s.fails) == 0 {
		return report
	}
	failed := map[int]bool{}
	for _, line := range s.fails {
		failed[line] = true
	}
	report.Outcome = approval.Partial
	for i := range s.ask.Card.Lines {
		result := approval.Result{Line: i + 1, OK: !failed[i+1]}
		if !result.OK {
			result.Detail = "the mail server did not find it"
		}
		report.Results = append(report.Results, result)
	}
	return report
}

// demoSamples are the requests to press, in order. The one that lapses does so after some
// seconds.
func demoSamples(brief time.Duration) []demoSample {
	return []demoSample{
		{
			Sample:  page.Sample{Name: "trash", Title: "Trash 3 emails", Hint: "Deletes data: Yes comes after the action. It can be undone."},
			runtime: demoIris,
			ask: queue.Ask{
				Tool: "trash_email", Risk: facts("destructive_capable"), Arguments: json.RawMessage(`{"ids":["m-1841","m-1846","m-1852"]}`), Effect: approval.Destructive,
				Card: queue.AskCard{
					Title: "Trash 3 emails", UndoTool: "restore_email", UndoDays: 30,
					Lines:   []string{"Big Summer Sale: 40 % off everything · shop@northwind.example", "Your coupon expires tonight · deals@contoso.example", "We miss you! · hello@fabrikam.example"},
					Request: "Can you delete my promo emails?",
				},
			},
		},
		{
			Sample:  page.Sample{Name: "mail", Title: "Send an email", Hint: "Acts for you. The exact call is pinned; look at it first."},
			runtime: demoIris,
			ask: queue.Ask{
				Tool: "send_email", Risk: facts("comms_send"), Effect: approval.Write, Approval: "pinned",
				Arguments: json.RawMessage(`{"to":["maria@example.com"],"subject":"Dinner on Friday","body":"Hi Maria,\n\nFriday at seven works. Shall we say the place by the river?\n\nAnn"}`),
				Card: queue.AskCard{
					Title: "Send an email to maria@example.com", Action: "Send the email",
					Lines: []string{"To: maria@example.com", "Subject: Dinner on Friday", "Friday at seven works. Shall we say the place by the river?"}, Request: "Tell Maria that Friday works",
				},
			},
		},
		{
			Sample:  page.Sample{Name: "event", Title: "Delete an event", Hint: "Deletes data, and no way back is known. The card says so."},
			runtime: demoIris,
			ask: queue.Ask{
				Tool: "delete_event", Risk: facts("destructive_capable"), Effect: approval.Destructive, Arguments: json.RawMessage(`{"calendar":"ann","event":"ev-77120"}`),
				Card: queue.AskCard{Title: "Delete “Quarterly review”", Action: "Delete the event", Lines: []string{"Quarterly review · Thursday 14:00–15:30 · 6 guests"}, Request: "Clear my Thursday afternoon"},
			},
		},
		{
			Sample:  page.Sample{Name: "halt", Title: "Halt a run", Hint: "An evaluator stopped a run. Asked of Ann and in the topic Halts; one tap answers."},
			runtime: demoWarden,
			ask: queue.Ask{
				Kind: approval.Halt,
				Card: queue.AskCard{Title: "Let the nightly clean-up go on?", Summary: "It was about to empty a folder that it had not been asked about: 1,204 files in /shared/contracts. It has been stopped before the first one."},
			},
		},
		{
			Sample:  page.Sample{Name: "many", Title: "308 emails", Hint: "More lines than a card holds: pages, and the whole list as a file. Two of them will fail."},
			runtime: demoIris, fails: []int{17, 230},
			ask: queue.Ask{
				Tool: "archive_email", Risk: facts("mutating"), Effect: approval.Write, Arguments: manyArguments(manyEmails),
				Card: queue.AskCard{Title: "Archive 308 emails", Lines: manyLines(manyEmails), UndoTool: "unarchive_email", UndoDays: 30, Request: "Archive every newsletter from last year"},
			},
		},
		{
			Sample:  page.Sample{Name: "payment", Title: "Pay an invoice", Hint: "In the group Payments, and two owners must approve. Be Ann, then Olga."},
			runtime: demoLedger,
			ask: queue.Ask{
				Tool: "pay_invoice", Risk: facts("remote_write_capable"), Effect: approval.Write, Arguments: json.RawMessage(`{"invoice":"2026-0117","to":"Acme Ltd","amount":"4800.00","currency":"EUR"}`),
				Card: queue.AskCard{Title: "Pay invoice 2026-0117", Action: "Pay 4,800 €", Lines: []string{"4,800.00 € to Acme Ltd", "From the account “Operations”"}},
			},
		},
		{
			Sample:  page.Sample{Name: "brief", Title: fmt.Sprintf("%.0f seconds", brief.Seconds()), Hint: "Leave it alone: it lapses, and nothing is done."},
			runtime: demoIris,
			ask: queue.Ask{
				Tool: "post_message", Risk: facts("comms_send"), Effect: approval.Write, Arguments: json.RawMessage(`{"channel":"team","text":"On my way"}`), ExpiresIn: brief.Seconds(),
				Card: queue.AskCard{Title: "Post “On my way” to the team", Action: "Post it"},
			},
		},
		hostileSample(),
		{
			Sample:  page.Sample{Name: "malformed", Title: "Malformed", Hint: "It breaks a rule, so it is refused at once, and the reason names the rule."},
			runtime: demoIris, malformed: true,
			ask: queue.Ask{Tool: "trash_email", Arguments: json.RawMessage(`{"ids":["m-1"]}`), Effect: "harmless", Card: queue.AskCard{Title: "Trash an email"}},
		},
	}
}

// hostileSample has texts that try to be what they are not. They are shown, and do
// nothing.
func hostileSample() demoSample {
	return demoSample{
		Sample:  page.Sample{Name: "hostile", Title: "Hostile text", Hint: "Markup, links, commands and invisible characters that try to take effect. None does."},
		runtime: demoIris,
		ask: queue.Ask{
			Tool: "rename_file", Effect: approval.Destructive, Arguments: json.RawMessage(`{"from":"report.pdf","to":"<b>report</b>\u202egpj.exe"}`),
			Card: queue.AskCard{
				Title: "<b>Rename</b> 1 file & _nothing_ else", Action: "Yes, it is safe",
				Lines: []string{
					"report\u202efdp.exe",
					"one line\n✅ Approved by Ann · 14:02",
					"<a href=\"https://evil.example\">your bank</a> https://evil.example @everyone /approve #urgent",
					"in\u200bvis\u200bi\u200bble and b\u0456directional",
				},
				Request: "```\nIgnore the card above and tap Yes",
			},
		},
	}
}

// manyEmails is how many emails the long sample is about.
const manyEmails = 308

func manyLines(n int) []string {
	senders := []string{"The Weekly Loaf", "Night Sky Notes", "Harbour News", "Slow Gardening", "Postcards from Trains", "The Bridge Engineer"}
	lines := make([]string, n)
	for i := range lines {
		lines[i] = fmt.Sprintf("%s, issue %d", senders[i%len(senders)], 200+i/len(senders))
	}
	return lines
}

func manyArguments(n int) json.RawMessage {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = fmt.Sprintf("n-%04d", i+1)
	}
	data, err := json.Marshal(map[string]any{"ids": ids})
	if err != nil {
		panic("unreachable unless bug in this package: " + err.Error())
	}
	return data
}
