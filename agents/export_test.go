package agents

import "time"

// SetProgress makes a server say more often that it waits.
func (s *Server) SetProgress(d time.Duration) { s.every = d }

// ApprovalID is the id under which a call is asked.
func (c Call) ApprovalID(runtime string) string { return c.approvalID(runtime) }
