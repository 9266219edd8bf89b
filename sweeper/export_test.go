package sweeper

// InPartsOf has so many approvals be read at a time.
func (s *Sweeper) InPartsOf(n int) *Sweeper {
	s.part = n
	return s
}
