package main

import "time"

// A demoPace says how long things take in a demo, so that a test need not wait.
type demoPace struct {
	work   time.Duration // what a runtime pretends to do, so that each state of a card can be seen
	dwell  time.Duration // how long a question must have stood before Yes counts
	brief  time.Duration // until the sample that lapses does
	slow   time.Duration // by which a slow Telegram is slower
	flood  time.Duration // for which Telegram answers 429
	outage time.Duration // for which Redis is away
	limits bool          // of how fast messages are sent, Telegram's and the bot's own
}

// unhurried is the pace for people.
func unhurried() demoPace {
	return demoPace{
		work: 1500 * time.Millisecond, dwell: 400 * time.Millisecond, brief: 20 * time.Second,
		slow: 2 * time.Second, flood: 10 * time.Second, outage: 4 * time.Second, limits: true,
	}
}
