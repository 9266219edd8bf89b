package store

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"countersign/approval"
)

// An Opening is a request about to get its row.
type Opening struct {
	ID     string
	Stream string
	Raw    []byte            // the request's data as sent
	Ask    *approval.Request // nil where it could not be read
	Terms  string            // the digest of Raw where terms cannot be computed
	Pin    string            // "" where it could not be computed
	Now    time.Time         // a recent time of Redis's clock; dates the row, its answer and the audit

	ExpiresAt time.Time
	RemindAt  time.Time // zero: no reminder
	Owners    []int64
	Quorum    int
	Chats     []approval.Chat
	Tier      string

	// State is approval.Open, or the state it has from the start: refused,
	// lapsed or withdrawn at once, approved by policy. Then By and Reason say
	// who and why.
	State  approval.State
	By     approval.By
	Reason string
	// Code is why the operator's policy asks or passes, for the audit; "" where
	// it was not asked.
	Code  string
	Quiet []int64 // chats that get no card: a shared notice speaks to them, or nobody is to be told
}

// OpenStatus is what an opening came to.
type OpenStatus string

// What an opening can come to. Only Opened wrote anything.
const (
	Opened        OpenStatus = "ok"
	Same          OpenStatus = "same"      // the same request was taken before
	Differs       OpenStatus = "differs"   // the id exists with other terms
	RefusedBefore OpenStatus = "refused"   // the id was refused, and stays so
	WithdrawnSoon OpenStatus = "withdrawn" // withdrawn before it came: open it as withdrawn
	TooLate       OpenStatus = "late"      // its deadline has passed: open it as lapsed
)

// Open writes the row of a request, once. With WithdrawnSoon the second result
// is the withdrawal's reason, with Opened the short reference.
func (s *Store) Open(ctx context.Context, o Opening) (OpenStatus, string, error) {
	for {
		keys, args, err := s.openCall(o)
		if err != nil {
			return "", "", err
		}
		v, err := s.run(ctx, "open", keys, args...)
		if err != nil {
			return "", "", err
		}
		if res, again := s.opened(o.ID, v); !again {
			return res.Status, res.Detail, res.Err
		}
	}
}

// An OpenResult is what [Store.Open] returns, for one of several.
type OpenResult struct {
	Status OpenStatus
	Detail string
	Err    error
}

// openTogether bounds how many bytes of openings go in one exchange; one alone may be
// larger. They may be many: their replies are so short that all of them fit between us
// and a server that answers as it reads.
const openTogether = 1 << 20

// OpenAll opens several rows, each as [Store.Open] does, in the order given, in as few
// exchanges as it takes. Between any two of them something else may happen, and one that
// fails keeps no other from being opened.
func (s *Store) OpenAll(ctx context.Context, openings []Opening) []OpenResult {
	results := make([]OpenResult, len(openings))
	for from := 0; from < len(openings); {
		n, size := 1, len(openings[from].Raw)
		for _, o := range openings[from+1:] {
			if size += len(o.Raw); size > openTogether {
				break
			}
			n++
		}
		s.openSome(ctx, openings[from:from+n], results[from:from+n])
		from += n
	}
	return results
}

// openSome opens rows in one exchange.
func (s *Store) openSome(ctx context.Context, openings []Opening, results []OpenResult) {
	pipe := s.rdb.Pipeline()
	replies := make([]*redis.Cmd, len(openings))
	for i, o := range openings {
		keys, args, err := s.openCall(o)
		if results[i].Err = err; err == nil {
			replies[i] = s.scripts["open"].EvalSha(ctx, pipe, keys, args...)
		}
	}
	_, fault := pipe.Exec(ctx) // each command keeps its error, but where none was sent
	for i, o := range openings {
		if replies[i] == nil {
			continue
		}
		v, err := replies[i].Result()
		if err == nil && v == nil {
			err = fault
		}
		res, again := OpenResult{Err: err}, redis.HasErrorPrefix(err, "NOSCRIPT")
		switch {
		case err == nil:
			res, again = s.opened(o.ID, v)
		case !again:
			res.Err = fmt.Errorf("store: open: %w", err)
		}
		if again { // Redis did not know the script, or all references offered are taken
			res.Status, res.Detail, res.Err = s.Open(ctx, o)
		}
		results[i] = res
	}
}

// opened reads what the script returned, or reports that it is to be run again, with
// other references.
func (s *Store) opened(id string, v any) (res OpenResult, again bool) {
	status, detail := asPair(v)
	switch Status(status) {
	case "refs":
		return res, true
	case unsigned:
		return OpenResult{Err: fmt.Errorf("store: open %q: %w", id, ErrNamespaceSigns)}, false
	}
	return OpenResult{Status: OpenStatus(status), Detail: detail}, false
}

// openCall is what the script is told of an opening.
func (s *Store) openCall(o Opening) (keys []string, args []any, err error) {
	audits := []approval.Audit{{
		ID: o.ID, From: approval.Requested, To: approval.Open, At: o.Now,
		BySurface: approval.Intake, ByID: o.Stream, Pin: o.Pin, Terms: o.Terms,
	}}
	var answer []byte
	if o.State == approval.Open {
		audits[0].ReasonCode = o.Code
	} else {
		final := approval.Audit{
			ID: o.ID, From: approval.Open, To: o.State, At: o.Now, BySurface: o.By.Surface, ByID: o.By.ID,
			Pin: o.Pin, Terms: o.Terms, ReasonCode: approval.ReasonCode(o.Reason),
		}
		if o.By.Surface == approval.Policy {
			final.ReasonCode = o.Code
		}
		if o.State == approval.Refused {
			final.From = approval.Requested
			audits = audits[:0]
		}
		audits = append(audits, final)
		if answer, err = s.answerAtOpening(o); err != nil {
			return nil, nil, err
		}
	}
	refs, err := s.newRefs()
	if err != nil {
		return nil, nil, err
	}
	return s.openKeys(o.ID, refs), s.openArgs(o, audits, answer, refs), nil
}

func (s *Store) openKeys(id string, refs []string) []string {
	k := s.keys
	keys := []string{
		k.Row(id), k.Deadlines(), k.reminders(), k.dirty(), k.wake(), k.audit(),
		k.Answers(), k.Answer(id), k.withdrawn(id), k.signing(),
	}
	for _, ref := range refs {
		keys = append(keys, k.ref(ref))
	}
	return keys
}

func (s *Store) openArgs(o Opening, audits []approval.Audit, answer []byte, refs []string) []any {
	remind := "0"
	if !o.RemindAt.IsZero() {
		remind = toMillis(o.RemindAt)
	}
	args := []any{
		s.keys.Prefix(), o.ID, o.Terms, string(o.State), toMillis(o.ExpiresAt), remind,
		strconv.FormatInt(s.retention.Milliseconds(), 10), string(answer), o.ID + "/answered",
		stamp(o.Now), toMillis(o.Now), s.signer(), o.Stream, strconv.Itoa(len(audits)),
	}
	for _, a := range audits {
		args = append(args, auditText(a))
	}
	for _, ref := range refs {
		args = append(args, ref)
	}
	args = append(args, "pin", o.Pin)
	if o.Ask != nil && o.State != approval.Refused {
		args = append(args,
			"request", string(o.Raw), "kind", string(o.Ask.Kind), "owners", commaList(o.Owners),
			"quorum", strconv.Itoa(max(o.Quorum, 1)), "chats", jsonText(o.Chats))
		if seal := s.seal(o); seal != "" {
			args = append(args, "seal", seal)
		}
		if o.Tier != "" {
			args = append(args, "tier", o.Tier)
		}
		if len(o.Quiet) > 0 {
			args = append(args, "quiet", jsonText(o.Quiet))
		}
	}
	return args
}

// answerAtOpening makes the answer of a row that is answered from the start.
func (s *Store) answerAtOpening(o Opening) ([]byte, error) {
	a := &approval.Answer{
		ID: o.ID, Decision: approval.Decision(o.State), Terms: o.Terms, Pin: o.Pin,
		Reason: o.Reason, By: o.By, At: o.Now,
	}
	title := o.ID
	if o.Ask != nil {
		a.Runtime, a.RunID, a.Calls, a.Context = o.Ask.Runtime, o.Ask.RunID, o.Ask.Calls, o.Ask.Context
		title = o.Ask.Card.Title
	} else {
		// Nobody can compare terms that could not be computed: a refusal
		// without them is a no for whoever reads it.
		a.Terms, a.Pin = "", ""
	}
	a.Observation = approval.Observation(a.Decision, title, o.Reason)
	return s.encode(a)
}

// encode makes the answer's bytes, signed where a key is configured.
func (s *Store) encode(a *approval.Answer) ([]byte, error) {
	data, err := a.Encode()
	if err != nil {
		return nil, fmt.Errorf("store: answer of %q: %w", a.ID, err)
	}
	if data, err = s.sign(data); err != nil {
		return nil, fmt.Errorf("store: sign answer of %q: %w", a.ID, err)
	}
	return data, nil
}

// sign signs the data of an event where a key is configured.
func (s *Store) sign(data []byte) ([]byte, error) {
	if s.signs == nil {
		return data, nil
	}
	return s.signs.Sign(data)
}

// Withdrawn remembers a withdrawal that came before its request. It reports
// false where the row is there already.
func (s *Store) Withdrawn(ctx context.Context, id, stream, reason string, remember time.Duration) (bool, error) {
	v, err := s.run(ctx, "withdrawn", []string{s.keys.Row(id), s.keys.withdrawn(id)},
		stream, reason, strconv.FormatInt(remember.Milliseconds(), 10))
	return asString(v) == "1", err
}
