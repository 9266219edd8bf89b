package queue

import (
	"time"

	"countersign/schemas"
)

// WithSlice makes a client look at the row after so short a wait.
func WithSlice(d time.Duration) Option {
	return func(c *Client) { c.slice, c.poll = d, d }
}

// SetSchemas holds what comes from now on to other schemas.
func (in *Intake) SetSchemas(s *schemas.Set) { in.schemas = s }
