package main

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

// What every process of a run agrees on.
const (
	owner = 1001
	token = "1:bench"

	keyRequests  = "{approvals}:requests"
	keyAnswers   = "{approvals}:answers"
	keyAnswer    = "{approvals}:answer:"
	keyRow       = "{approvals}:row:"
	keyDeadlines = "{approvals}:deadlines"
	keySettings  = "{approvals}:bot:settings" // of the bot's own memory; see [stage.holds]
)

// idOf names the nth approval.
func idOf(n int) string { return fmt.Sprintf("bench.%06d", n) }

// numberOf is the number of an approval, -1 where it is none of ours.
func numberOf(id string) int {
	if len(id) != len("bench.000000") {
		return -1
	}
	n, err := strconv.Atoi(id[len("bench."):])
	if err != nil {
		return -1
	}
	return n
}

// titleOf is the title of an approval, with the mark by which its card is known.
func titleOf(id string) string { return "Trash 3 emails k" + id[len("bench."):] + "k" }

// request is what a runtime asks: three emails to be trashed, with an undo. It is open
// for an hour, or until a moment.
func request(n int, until time.Time) string {
	q := map[string]any{
		"approval_id": idOf(n), "runtime": "bench", "run_id": "run-1",
		"tool": "trash_emails", "arguments": map[string]any{"ids": []string{"18f2a", "18f2b", "18f2c"}},
		"card": map[string]any{
			"title": titleOf(idOf(n)),
			"lines": []string{
				"Your invoice for September, from billing@example.com, 1 September",
				"Weekly digest, from news@example.org, 2 September",
				"You have 3 new followers, from social@example.net, 3 September",
			},
			"undo_tool": "untrash_emails", "undo_window_days": 30,
			"request": "clear out the newsletters of last month",
		},
		"risk": map[string]any{"facts": map[string]any{"mutating": true, "destructive_capable": true}},
	}
	if until.IsZero() {
		q["expires_in"] = 3600
	} else {
		q["expires_at"] = until.UTC().Format(time.RFC3339Nano)
	}
	data, err := json.Marshal(q)
	if err != nil {
		panic("unreachable: plain text and numbers: " + err.Error())
	}
	return string(data)
}
