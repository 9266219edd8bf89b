package approval

// Limits of what comes in. Bytes where they say so, otherwise code points or
// items.
const (
	MaxData    = 256 << 10 // bytes of an event's data
	MaxIDScan  = 8 << 20   // bytes in which the id of too large data is still looked for
	MaxNesting = 32        // the outer object is 1
	MaxContext = 16 << 10  // bytes of context, as sent

	MaxID      = 128
	MaxName    = 200 // runtime, run_id, session, tool, call_id, undo_tool, by
	MaxCalls   = 50
	MaxTitle   = 200
	MaxAction  = 60
	MaxLines   = 5000
	MaxLine    = 1000 // an item line, and a result's detail
	MaxText    = 2000 // card.request, card.summary, message, reason
	MaxResults = 5000
	MaxDays    = 3650 // card.undo_window_days
)

// ValidID reports whether s can name an approval: 1–128 of the
// characters A-Z, a-z, 0-9 and ._:- alone.
func ValidID(s string) bool {
	if s == "" || len(s) > MaxID {
		return false
	}
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case c == '.', c == '_', c == ':', c == '-':
		default:
			return false
		}
	}
	return true
}
