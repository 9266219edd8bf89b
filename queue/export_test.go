package queue

import "time"

// WithSlice makes a client look at the row after so short a wait.
func WithSlice(d time.Duration) Option {
	return func(c *Client) { c.slice, c.poll = d, d }
}
