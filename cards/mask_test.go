package cards_test

import (
	"strings"
	"testing"

	"countersign/approval"
	"countersign/cards"
)

// Secrets are put together here, so that none stands in a source file.
func key(prefix string, n int) string { return prefix + strings.Repeat("Ab3", n) }

func TestSecretsAreMasked(t *testing.T) {
	pem := "-----BEGIN RSA PRIVATE KEY-----\n" + key("MIIE", 20) + "\n-----END RSA PRIVATE KEY-----"
	for _, c := range []struct{ in, want string }{
		{"Authorization: Bearer " + key("sk-", 8), "Authorization: Bearer [masked]"},
		{"authorization: Basic dXNlcjpwYXNz", "authorization: Basic [masked]"},
		{"send Bearer " + key("x", 8) + " now", "send Bearer [masked] now"},
		{"use " + key("xapp-1-", 4), "use [masked]"},
		{"use " + key("sk-proj-", 8) + ", please", "use [masked], please"},
		{"use " + key("sk_live_", 4), "use [masked]"},
		{"use " + key("ghp_", 10), "use [masked]"},
		{"use AKIA" + strings.Repeat("Q7", 8), "use [masked]"},
		{"use " + key("AIza", 12), "use [masked]"},
		{"jwt " + key("eyJ", 5) + "." + key("e", 5) + "." + key("s", 5), "jwt [masked]"},
		{"bot " + "123456789:" + key("AA", 12), "bot [masked]"},
		{"postgres://u:p@h/db", "postgres://u:[masked]@h/db"},
		{"https://bo:p@ss:w0rd@h/?q=a@b", "https://bo:[masked]@h/?q=a@b"},
		{"before\n" + pem + "\nafter", `before\n[masked]\nafter`},
		{"-----BEGIN PRIVATE KEY-----\nMII", "[masked]"},
		{"password: hunter22", "password: [masked]"},
		{"DB_PASSWORD=hunter22 x=1", "DB_PASSWORD=[masked] x=1"},
		{`{"api_key":"abcdef"}`, `{"api_key":"[masked]"}`},
		{"Cookie: sid=abc; theme=dark", "Cookie: [masked]"},

		{"Reset the password of Bo", "Reset the password of Bo"},
		{"https://example.org/a:b@c", "https://example.org/a:b@c"},
		{"sk-learn and skip", "sk-learn and skip"},
		{"the key is under the mat", "the key is under the mat"},
		{"12:30 to 14:00", "12:30 to 14:00"},
		{"sha256:" + strings.Repeat("ab12", 16), "sha256:" + strings.Repeat("ab12", 16)},
	} {
		t.Run(c.want, func(t *testing.T) {
			row := simple()
			row.Request.Card.Lines = []string{c.in}
			m := cards.Card(cards.View{Row: row, CardID: "c", Now: now}, cards.Settings{Redact: true})
			if !strings.Contains(m.Plain, "\n1. "+c.want+"\n") {
				t.Errorf("card shows\n%s\nwant a line %q", m.Plain, c.want)
			}
			if said, masked := strings.Contains(m.Plain, "Masked"), strings.Contains(c.want, "[masked]"); said != masked {
				t.Errorf("card says that something is masked: %t, want %t", said, masked)
			}
		})
	}
}

// TestSecretsAreMaskedEverywhere: in the title and its button, lines, request,
// summary, exact call, reason, report, files and notices, unless it is turned off.
func TestSecretsAreMaskedEverywhere(t *testing.T) {
	secret := key("ghp_", 12)
	row := simple()
	c := &row.Request.Card
	c.Title, c.Action, c.Lines, c.Request, c.Summary = "Push with "+secret, "Push "+secret, []string{secret}, secret, secret
	row.Request.Calls[0].Arguments = []byte(`{"` + secret + `":["` + secret + `"],"password":{"old":7,"new":["` + secret + `"]},"token":1234}`)
	done := *row
	done.State, done.AnswerAt = approval.Partial, now
	done.Answer = &approval.Answer{Decision: approval.DecisionApproved, Reason: secret, By: person("Ann")}
	done.Report = &approval.Report{Outcome: approval.Partial, Message: secret, Results: []approval.Result{{Line: 1, Detail: secret}}}
	step := &approval.Step{Name: "Ann", CardID: "c"}

	all := func(redact bool) map[string]string {
		s := cards.Settings{Redact: redact}
		shown := map[string]string{}
		add := func(what string, m cards.Message) {
			shown[what] = m.HTML + m.Plain
			for _, row := range m.Keyboard {
				for _, b := range row {
					shown[what] += b.Text + "\n"
				}
			}
		}
		add("open card", cards.Card(cards.View{Row: row, CardID: "c", Exact: true, Now: now}, s))
		add("confirming card", cards.Card(cards.View{Row: row, CardID: "c", Step: step, Now: now}, s))
		add("final card", cards.Card(cards.View{Row: &done, CardID: "c", Now: now}, s))
		add("question", cards.Question(cards.View{Row: row, Now: now}, s))
		add("lapse notice", cards.LapseNotice(row, s))
		add("shared lapse", cards.SharedLapse([]*approval.Row{row}, 6, s))
		add("reminder", cards.Reminder(row, now, s))
		add("pending", cards.Pending(cards.Listing{Items: []cards.Listed{{Row: row}}, Of: 1}, cards.Listing{}, now, s))
		add("alarm", cards.RanUnapproved(row, approval.Executed, s))
		_, list := cards.WholeList(row, redact)
		shown["whole list"] = string(list)
		_, exact := cards.ExactFile(row, redact)
		shown["exact file"] = string(exact)
		return shown
	}
	for what, text := range all(true) {
		if strings.Contains(text, secret) || strings.Contains(text, "1234") {
			t.Errorf("%s shows a secret:\n%s", what, text)
		}
	}
	for what, text := range all(false) {
		if !strings.Contains(text, secret[:20]) {
			t.Errorf("%s masks, though that is turned off:\n%s", what, text)
		}
	}
}
