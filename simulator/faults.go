package simulator

import (
	"context"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"
)

// A FaultKind says what a [Fault] does to a call.
type FaultKind int

// Kinds of faults.
const (
	// Fail answers with Code, Description and Parameters. It is the default.
	Fail FaultKind = iota
	// NotOK answers as Fail does, but with HTTP status 200.
	NotOK
	// BadGateway answers 502 with a page of HTML, like the server in front.
	BadGateway
	// CutJSON answers with half of the JSON.
	CutJSON
	// Reset breaks the connection without an answer.
	Reset
	// Hang gives no answer until the client goes away, or breaks the connection after
	// Delay if that is not 0.
	Hang
	// SlowBody sends the right answer over Delay, piece by piece.
	SlowBody
	// Redirect answers 302 to Location.
	Redirect
	// Late gives the right answer after Delay.
	Late
	// Slow gives the right answer after Delay, and the call has its effect no sooner.
	Slow
)

// A Fault makes calls fail. It matches well-made calls only, so that it hides no mistake
// of the caller.
type Fault struct {
	// Which calls: all conditions that are set must hold.
	Method string          // empty: any
	Chat   int64           // by chat_id; 0: any
	When   func(Call) bool // sees Method and Params; called without any lock
	Skip   int             // let so many pass first
	Count  int             // strike so many; 0: until removed

	Kind        FaultKind
	Code        int    // of Fail and NotOK; default 500
	Description string // default: "Internal Server Error: restart"
	Parameters  *Parameters
	Location    string // of Redirect
	// Applied lets the call have its effect all the same. SlowBody, CutJSON and Late
	// always do.
	Applied bool
	// Delay is waited before the answer, for SlowBody during it.
	Delay time.Duration
}

// A FaultHandle removes a fault.
type FaultHandle struct {
	server *Server
	fault  Fault
	skip   int // still to skip; the server's mutex guards both
	hits   int
}

// Fault puts a fault in place. Of several that match, the oldest strikes.
func (s *Server) Fault(f Fault) *FaultHandle {
	setDefault(&f.Code, 500)
	setDefault(&f.Description, "Internal Server Error: restart")
	h := &FaultHandle{server: s, fault: f, skip: f.Skip}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, h)
	return h
}

// Remove takes the fault away. Calls that it has already struck are not helped.
func (h *FaultHandle) Remove() {
	h.server.mu.Lock()
	defer h.server.mu.Unlock()
	h.server.faults = slices.DeleteFunc(h.server.faults, func(o *FaultHandle) bool { return o == h })
}

// Hits returns how many calls the fault has struck.
func (h *FaultHandle) Hits() int {
	h.server.mu.Lock()
	defer h.server.mu.Unlock()
	return h.hits
}

// fault finds the fault that strikes a call.
func (s *Server) fault(c *call) *Fault {
	s.mu.Lock()
	candidates := slices.Clone(s.faults)
	s.mu.Unlock()
	if len(candidates) == 0 {
		return nil
	}
	view := Call{At: c.at, Method: c.name, Params: c.logged()}
	for _, h := range candidates {
		if h.fault.matches(view) && h.strike() {
			f := h.fault
			return &f
		}
	}
	return nil
}

func (f *Fault) matches(c Call) bool {
	return (f.Method == "" || strings.EqualFold(f.Method, c.Method)) &&
		(f.Chat == 0 || c.Int("chat_id") == f.Chat) &&
		(f.When == nil || f.When(c))
}

// strike counts a match and reports whether it counts as a hit.
func (h *FaultHandle) strike() bool {
	h.server.mu.Lock()
	defer h.server.mu.Unlock()
	if h.skip > 0 {
		h.skip--
		return false
	}
	if h.fault.Count > 0 && h.hits >= h.fault.Count {
		return false
	}
	h.hits++
	return true
}

func (f *Fault) applies() bool {
	return f.Applied || f.Kind == SlowBody || f.Kind == CutJSON || f.Kind == Late
}

// serveFault answers a call as the fault wants it.
func (s *Server) serveFault(w http.ResponseWriter, r *http.Request, c *call, f *Fault) {
	ctx := r.Context()
	if f.Kind == Slow {
		s.wait(ctx, f.Delay)
		s.carryOut(w, r, c)
		return
	}
	apiErr := &APIError{Code: f.Code, Description: f.Description, Parameters: f.Parameters, Class: Faulted}
	body := envelopeOf(nil, apiErr)
	var applied bool
	if f.applies() {
		result, err := s.perform(ctx, c)
		applied = err == nil
		if e := asAPIError(err); e != nil && e.Class == Refused {
			s.finish(w, c, nil, e) // a mistake stays a mistake
			return
		}
		if f.Kind == Late {
			s.wait(ctx, f.Delay)
			s.finish(w, c, result, err)
			return
		}
		if f.Kind == SlowBody || f.Kind == CutJSON {
			body = envelopeOf(result, asAPIError(err))
		}
	}
	s.recordAs(c, nil, apiErr, applied)
	if f.Delay > 0 && f.Kind != SlowBody {
		s.wait(ctx, f.Delay)
	}
	s.answerFault(ctx, w, f, apiErr, body)
}

func (s *Server) answerFault(ctx context.Context, w http.ResponseWriter, f *Fault, e *APIError, body []byte) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	switch f.Kind {
	case NotOK:
		_, _ = w.Write(body)
	case BadGateway:
		h.Set("Content-Type", "text/html")
		w.WriteHeader(http.StatusBadGateway)
		_, _ = w.Write([]byte("<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n<center><h1>502 Bad Gateway</h1></center>\r\n<hr><center>nginx</center>\r\n</body>\r\n</html>\r\n"))
	case CutJSON:
		_, _ = w.Write(body[:len(body)/2])
	case Redirect:
		h.Set("Location", f.Location)
		w.WriteHeader(http.StatusFound)
	case Hang:
		if f.Delay == 0 {
			select {
			case <-ctx.Done():
			case <-s.ctx.Done():
			}
		}
		breakConnection(w)
	case Reset:
		breakConnection(w)
	case SlowBody:
		s.dribble(ctx, w, body, f.Delay)
	default:
		writeEnvelope(w, nil, e)
	}
}

// breakConnection ends a connection as a crashed machine does: with a reset, where there
// is a socket.
func breakConnection(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // the server, or our own transport, breaks it
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

// dribble writes a body in ten pieces over a duration.
func (s *Server) dribble(ctx context.Context, w http.ResponseWriter, body []byte, over time.Duration) {
	const pieces = 10
	size := len(body)/pieces + 1
	for piece := range slices.Chunk(body, size) {
		s.wait(ctx, over/pieces)
		if _, err := w.Write(piece); err != nil {
			return
		}
		_ = http.NewResponseController(w).Flush()
	}
}
