package verdict_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"countersign/chaos/verdict"
)

// A run that kept every promise passes, also once its evidence was kept in a
// file.
func TestGoodRun(t *testing.T) {
	e := good()
	for _, v := range verdict.Check(e).Violations {
		t.Error(v)
	}
	data, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	var again verdict.Evidence
	if err := json.Unmarshal(data, &again); err != nil {
		t.Fatal(err)
	}
	if got, want := verdict.Check(&again), verdict.Check(e); !reflect.DeepEqual(got, want) {
		t.Errorf("kept evidence is judged %+v, before it was %+v", got, want)
	}
}

// Every broken promise is found, and named after the approval that it was broken
// to.
func TestBrokenPromises(t *testing.T) {
	for _, c := range doctored() {
		t.Run(strings.ReplaceAll(c.name, " ", "_"), func(t *testing.T) {
			e := good()
			c.doctor(e)
			found := verdict.Check(e).Violations
			for _, v := range found {
				if v.Promise == c.promise && v.ID == c.id {
					return
				}
			}
			t.Errorf("want a violation of %q by %s, found %v", c.promise, c.id, found)
		})
	}
}

// What the promises allow is no violation.
func TestAllowed(t *testing.T) {
	for name, change := range map[string]func(e *verdict.Evidence){
		"a request of which nobody knows whether it was taken, and it was not": func(e *verdict.Evidence) {
			e.Asked = append(e.Asked, verdict.Asked{ID: "c00099", Unclear: 1})
		},
		"a second card after a send whose answer was lost": func(e *verdict.Evidence) {
			second(e, func(c *verdict.Call) { c.OK = false })
		},
		"a second card where the bot was killed before it wrote the first down": func(e *verdict.Evidence) {
			second(e, nil)
			e.Strikes = append(e.Strikes, verdict.Strike{Kind: "bot.kill", Bot: 0, From: noon(1.2), Until: noon(1.2)})
		},
		"a second card where Redis was away": func(e *verdict.Evidence) {
			second(e, nil)
			e.Strikes = append(e.Strikes, verdict.Strike{Kind: "redis.kill", Bot: -1, From: noon(0.5), Until: noon(2)})
		},
		"a second card where the first was deleted": func(e *verdict.Evidence) {
			second(e, nil)
			e.Deletions = append(e.Deletions, verdict.Place{Chat: ann, Message: 31})
		},
		"a second card where somebody asked to see it": func(e *verdict.Evidence) {
			second(e, nil)
			asked(e, "c00003").Shown[ann] = 1
		},
		"a tap whose answer Telegram did not take": func(e *verdict.Evidence) { delete(e.Answered, e.Taps[0].ID) },
		"a tap with a bot that was killed": func(e *verdict.Evidence) {
			unanswered(e, 0)
			e.Strikes = append(e.Strikes, verdict.Strike{Kind: "bot.kill", Bot: 0, From: e.Taps[0].At.Add(time.Second), Until: e.Taps[0].At.Add(time.Second)})
		},
		"a claim of which nobody knows, and which Redis has": func(e *verdict.Evidence) { e.Claims[0].Result = verdict.Unclear },
		"a report of which nobody knows, and which stands":   func(e *verdict.Evidence) { e.Reports[1].Taken = false },
		"a card in a chat that is out": func(e *verdict.Evidence) {
			e.Out = []int64{ann}
			e.Messages[0].Text = "🔴 Deletes data"
		},
		"unreachable, where Telegram refused the card": func(e *verdict.Evidence) {
			answer(e, "c00004", "withdrawn", `"refused","reason":"unreachable: Forbidden"`)
			e.Rows["c00004"]["state"] = "refused"
			sendOf(e, "c00004").Applied, sendOf(e, "c00004").Out = false, true
			message(e, "c00004").Text = "🚫 Refused · 12:00\nTrash the mail of c00004"
			badgeOf(e, "c00004", "🚫 Refused · 12:00")
		},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			e := good()
			change(e)
			for _, v := range verdict.Check(e).Violations {
				t.Error(v)
			}
		})
	}
}
