package simulator

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"countersign/simulator/spec"
)

var tokenPattern = regexp.MustCompile(`^[0-9]+:[A-Za-z0-9_-]+$`)

func validToken(token string) bool {
	id, secret, _ := strings.Cut(token, ":")
	return len(id) <= 20 && len(secret) <= 80 && tokenPattern.MatchString(token)
}

// ServeHTTP answers /bot<token>/<method> and /file/bot<token>/<path>.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path, isFile := strings.CutPrefix(r.URL.Path, "/file")
	rest, isBot := strings.CutPrefix(path, "/bot")
	token, name, hasName := strings.Cut(rest, "/")
	c := &call{name: name, params: map[string]spec.Value{}, at: s.options.Now()}
	var err error
	switch {
	case !isBot || !hasName || !validToken(token):
		err = s.errs.wrong("Not Found")
	case token != s.bot.token:
		err = s.errs.wrong("Unauthorized")
	case isFile:
		s.serveFile(w, r, name)
		return
	default:
		err = s.read(c, w, r)
	}
	if err != nil {
		s.finish(w, c, nil, err)
		return
	}
	s.serve(w, r, c)
}

// serve carries out a call that could be read, unless a fault comes between.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, c *call) {
	err := s.check(c)
	if err != nil {
		s.finish(w, c, nil, err)
		return
	}
	if f := s.fault(c); f != nil {
		s.serveFault(w, r, c, f)
		return
	}
	s.carryOut(w, r, c)
}

// carryOut performs a checked call and answers it.
func (s *Server) carryOut(w http.ResponseWriter, r *http.Request, c *call) {
	result, err := s.perform(r.Context(), c)
	if r.Context().Err() != nil {
		s.record(c, result, err) // nobody is left to be told
		return
	}
	s.finish(w, c, result, err)
}

// check compares a call with the description of the Bot API.
func (s *Server) check(c *call) error {
	method, ok := s.api.Method(c.name)
	if !ok {
		return s.errs.wrong("method not found")
	}
	c.name = method.Name
	if err := s.checkFirst(c, method); err != nil {
		return err
	}
	if err := s.api.CheckCall(method, c.params); err != nil {
		return refused("%v", err)
	}
	if _, ok := s.methods[c.name]; !ok && c.name != "getUpdates" {
		return &APIError{Code: http.StatusNotImplemented, Description: "Not Implemented: the simulator does not simulate " + c.name, Class: Refused}
	}
	return nil
}

// checkFirst finds the mistakes for which the real server has words of its own.
func (s *Server) checkFirst(c *call, method *spec.Method) error {
	for _, f := range method.Fields {
		switch f.Name {
		case "chat_id":
			if f.Required && c.text("chat_id") == "" {
				return s.errs.wrong("chat_id is empty")
			}
		case "text":
			if f.Required && c.text("text") == "" {
				return s.errs.wrong("message text is empty")
			}
		case "reply_markup":
			if err := s.checkMarkupShape(c, method); err != nil {
				return err
			}
		}
	}
	return nil
}

// perform carries out a checked call and returns the JSON of its result.
func (s *Server) perform(ctx context.Context, c *call) (json.RawMessage, error) {
	if c.name == "getUpdates" {
		return s.getUpdates(ctx, c)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bot.loggedOut && c.name != "logOut" {
		return nil, s.errs.state("Logged out")
	}
	if err := s.spend(c); err != nil {
		return nil, err
	}
	result, err := s.methods[c.name](s, c)
	if err != nil {
		return nil, err
	}
	return json.Marshal(result)
}

// finish records a call and answers it.
func (s *Server) finish(w http.ResponseWriter, c *call, result json.RawMessage, err error) {
	s.record(c, result, err)
	writeEnvelope(w, result, asAPIError(err))
}

func asAPIError(err error) *APIError {
	var e *APIError
	if err != nil && !errors.As(err, &e) {
		e = &APIError{Code: 500, Description: "Internal Server Error: " + err.Error(), Class: Refused}
	}
	return e
}

// envelope is the outer object of every answer.
type envelope struct {
	OK          bool            `json:"ok"`
	Result      json.RawMessage `json:"result,omitempty"`
	ErrorCode   int             `json:"error_code,omitempty"`
	Description string          `json:"description,omitempty"`
	Parameters  *Parameters     `json:"parameters,omitempty"`
}

func envelopeOf(result json.RawMessage, e *APIError) []byte {
	env := envelope{OK: true, Result: result}
	if e != nil {
		env = envelope{ErrorCode: e.Code, Description: e.Description, Parameters: e.Parameters}
	}
	body, err := json.Marshal(env)
	if err != nil {
		panic(err) // strings, numbers and JSON that was made by json.Marshal
	}
	return body
}

func writeEnvelope(w http.ResponseWriter, result json.RawMessage, e *APIError) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	status := http.StatusOK
	if e != nil {
		status = e.Code
		if e.Parameters != nil && e.Parameters.RetryAfter > 0 {
			h.Set("Retry-After", strconv.Itoa(e.Parameters.RetryAfter))
		}
	}
	body := envelopeOf(result, e)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client may be gone
}

// wait waits for a duration, or less if the context or the server ends.
func (s *Server) wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	case <-s.ctx.Done():
	}
}
