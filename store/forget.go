package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"

	"countersign/approval"
)

// StillOpen is what forgetting an open approval comes to.
const StillOpen Status = "open"

// ForgetText takes the text of an answered approval away: its request, its answer's
// words and calls, its report's details, and what its own answer stream holds. The row
// stays with its digests until it expires, so that the id is not asked again; its
// cards are drawn without text. The status is Done, Unknown or [StillOpen].
func (s *Store) ForgetText(ctx context.Context, id string, by approval.By) (Status, *Reading, error) {
	for range attemptLimit {
		r, err := s.Read(ctx, id)
		if err != nil {
			return "", nil, err
		}
		if r.Row == nil {
			return Unknown, r, nil
		}
		status, err := s.forgetRow(ctx, r, by)
		if err != nil || status != Changed {
			return status, r, err
		}
	}
	return "", nil, fmt.Errorf("store: %q changed %d times while it was forgotten", id, attemptLimit)
}

func (s *Store) forgetRow(ctx context.Context, r *Reading, by approval.By) (Status, error) {
	var answer, report []byte
	if a := r.Row.Answer; a != nil {
		bare := approval.Answer{
			ID: a.ID, Decision: a.Decision, Terms: a.Terms, Pin: a.Pin, By: a.By, Approvals: a.Approvals, Shown: a.Shown, At: a.At,
			Observation: approval.Observation(a.Decision, r.ID, ""),
		}
		if code := approval.ReasonCode(a.Reason); code != "" && a.Decision == approval.DecisionRefused {
			bare.Reason = approval.Refusal(code, "forgotten")
		}
		var err error
		if answer, err = s.encode(&bare); err != nil {
			return "", err
		}
	}
	if p := r.Row.Report; p != nil {
		bare := approval.Report{ID: p.ID, Outcome: p.Outcome, UndoUntil: p.UndoUntil}
		for _, x := range p.Results {
			bare.Results = append(bare.Results, approval.Result{Line: x.Line, OK: x.OK})
		}
		report = []byte(jsonText(bare))
	}
	audit := approval.Audit{
		ID: r.ID, From: r.Row.State, To: r.Row.State, At: r.Now, BySurface: by.Surface, ByID: by.ID,
		Pin: r.Row.Pin, Terms: r.Row.Terms, ReasonCode: "forgotten",
	}
	k := s.keys
	v, err := s.run(ctx, "forget",
		[]string{k.Row(r.ID), k.Answer(r.ID), k.withdrawn(r.ID), k.dirty(), k.wake(), k.audit(), k.signing()},
		k.Prefix(), r.ID, r.rev, string(answer), string(report), r.ID+"/answered", stamp(r.Now), auditText(audit), r.covered, s.signer())
	status := Status(asString(v))
	if status == unsigned {
		return "", fmt.Errorf("store: forget %q: %w", r.ID, ErrNamespaceSigns)
	}
	return status, err
}

// ForgetEntries deletes the entries of an approval from a stream of the namespace,
// and returns how many. On an inbound stream it leaves what some group has not
// acknowledged yet; of streams outside the namespace, which others may read, it
// deletes nothing.
func (s *Store) ForgetEntries(ctx context.Context, stream, id string) (int, error) {
	if !strings.HasPrefix(stream, s.keys.Prefix()) {
		return 0, nil
	}
	until, err := s.acknowledged(ctx, stream)
	if err != nil {
		return 0, fmt.Errorf("store: forget in %s: %w", stream, err)
	}
	total := 0
	for from := "-"; ; {
		page, err := s.rdb.XRangeN(ctx, stream, from, "("+until, auditPage).Result()
		if err != nil {
			return total, fmt.Errorf("store: forget in %s: %w", stream, err)
		}
		var theirs []string
		for _, m := range page {
			if isAbout(m, id) {
				theirs = append(theirs, m.ID)
			}
		}
		if len(theirs) > 0 {
			n, err := s.rdb.XDel(ctx, stream, theirs...).Result()
			if total += int(n); err != nil {
				return total, fmt.Errorf("store: forget in %s: %w", stream, err)
			}
		}
		if len(page) < auditPage {
			return total, nil
		}
		from = "(" + page[len(page)-1].ID
	}
}

// acknowledged is the first id of a stream that some group still needs.
func (s *Store) acknowledged(ctx context.Context, stream string) (string, error) {
	first := entryID{ms: 1<<63 - 1}
	groups, err := s.rdb.XInfoGroups(ctx, stream).Result()
	if err != nil && !isNoKey(err) {
		return "", err
	}
	for _, g := range groups {
		need, err := s.firstNeeded(ctx, stream, g)
		if err != nil {
			return "", err
		}
		if need.less(first) {
			first = need
		}
	}
	return first.String(), nil
}

// isAbout reports whether a stream's entry is about an approval: an event out by its
// subject, an event in by its data, a dead letter by the data it keeps, which may be
// cut.
func isAbout(m redis.XMessage, id string) bool {
	if subject := asString(m.Values["subject"]); subject != "" {
		return subject == id
	}
	data := asString(m.Values["data"])
	if fields := asString(m.Values["fields"]); fields != "" {
		var kept struct {
			Data any `json:"data"`
		}
		if err := json.Unmarshal([]byte(fields), &kept); err == nil {
			data = asString(kept.Data)
		}
	}
	if named := namedIn([]byte(data)); named != "" {
		return named == id
	}
	return strings.Contains(data, `"approval_id":`+jsonText(id))
}

// namedIn is the id in an event's data, also where it breaks other rules.
func namedIn(data []byte) string {
	q, err := approval.Decode(data)
	var broken *approval.Invalid
	if errors.As(err, &broken) {
		return broken.ID
	}
	return q.ID
}
