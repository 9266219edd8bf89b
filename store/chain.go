package store

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"countersign/approval"
)

const (
	// chainBatch is how many audit lines are chained at once.
	chainBatch = 200
	// chainBytes bounds how long these are, beyond the first of them, so that no script
	// holds Redis up: the line of a report may be as long as an event.
	chainBytes = 1 << 20
)

// Chain puts the oldest audit lines that are not chained yet at the end of the
// chain, in their order, and returns how many it was and where the chain ends now.
// Any number of processes may do so at once: each line is chained once.
func (s *Store) Chain(ctx context.Context) (int, approval.Anchor, error) {
	for range attemptLimit {
		n, end, done, err := s.chainOnce(ctx)
		if err != nil || done {
			return n, end, err
		}
	}
	return 0, approval.Anchor{}, fmt.Errorf("store: the audit changed %d times while it was chained", attemptLimit)
}

func (s *Store) chainOnce(ctx context.Context) (n int, end approval.Anchor, done bool, err error) {
	k := s.keys
	pipe := s.rdb.TxPipeline()
	head, lines := pipe.HMGet(ctx, k.ChainHead(), "seq", "hash"), pipe.LRange(ctx, k.audit(), 0, chainBatch-1)
	if _, err := pipe.Exec(ctx); err != nil {
		return 0, end, false, fmt.Errorf("store: chain: %w", err)
	}
	end = approval.Anchor{Seq: number(asString(head.Val()[0])), Hash: asString(head.Val()[1])}
	if len(lines.Val()) == 0 {
		return 0, end, true, nil
	}
	args := make([]any, 0, 2+4*len(lines.Val()))
	args = append(args, strconv.FormatInt(end.Seq, 10), end.Prev())
	size := 0
	for _, line := range lines.Val() {
		if size += len(line); size > chainBytes && n > 0 {
			break
		}
		n++
		data := chained(line)
		end = end.Next(data)
		sig := ""
		if s.signs != nil {
			sig = s.signs.SignText([]byte(end.Hash))
		}
		args = append(args, line, data, end.Hash, sig)
	}
	v, err := s.run(ctx, "chain", []string{k.audit(), k.Chain(), k.ChainHead(), k.signing()}, args...)
	return n, end, asString(v) == "ok", err
}

// chained is a line's data in its canonical form. What is no JSON, which no script of
// ours writes, is chained as its bytes: it must not hold up the others.
func chained(line string) []byte {
	if data, err := approval.Canonical([]byte(line)); err == nil && json.Valid([]byte(line)) {
		return data
	}
	return []byte(`{"unreadable":"` + base64.StdEncoding.EncodeToString([]byte(line)) + `"}`)
}

// unchainBatch bounds how much is dropped in one step, so that no other waits long.
const unchainBatch = 1000

// TrimChain drops the chain's entries from before a time, but for the newest of them:
// a chain that was trimmed begins with an entry that is too old itself. It returns how
// many it dropped.
func (s *Store) TrimChain(ctx context.Context, before time.Time) (int64, error) {
	total := int64(0)
	for {
		v, err := s.run(ctx, "unchain", []string{s.keys.Chain(), s.keys.ChainHead()},
			strconv.FormatInt(max(before.UnixMilli(), 0), 10), unchainBatch)
		n := number(asString(v))
		total += n
		if err != nil || n < unchainBatch {
			return total, err
		}
	}
}

// An AuditHead is what is kept of the chain's ends.
type AuditHead struct {
	End        approval.Anchor // the newest entry
	Base       approval.Anchor // the last one that was trimmed away; zero where none was
	Unchained  int64           // lines that are not chained yet
	SignedFrom int64           // the first entry that bears a signature, 0 where none does
}

// AuditHead reads the ends of the chain.
func (s *Store) AuditHead(ctx context.Context) (AuditHead, error) {
	pipe := s.rdb.Pipeline()
	head := pipe.HMGet(ctx, s.keys.ChainHead(), "seq", "hash", "base_seq", "base_hash")
	length := pipe.LLen(ctx, s.keys.audit())
	signed := pipe.HMGet(ctx, s.keys.signing(), "audit_from")
	if _, err := pipe.Exec(ctx); err != nil {
		return AuditHead{}, fmt.Errorf("store: audit: %w", err)
	}
	f := head.Val()
	return AuditHead{
		End:        approval.Anchor{Seq: number(asString(f[0])), Hash: asString(f[1])},
		Base:       approval.Anchor{Seq: number(asString(f[2])), Hash: asString(f[3])},
		Unchained:  length.Val(),
		SignedFrom: number(asString(signed.Val()[0])),
	}, nil
}

// auditPage is how many entries are read at once.
const auditPage = 1000

// AuditEntries hands over every entry of the chain, oldest first, until take returns
// an error, which it returns.
func (s *Store) AuditEntries(ctx context.Context, take func(approval.Entry) error) error {
	for from := "-"; ; {
		page, err := s.rdb.XRangeN(ctx, s.keys.Chain(), from, "+", auditPage).Result()
		if err != nil {
			return fmt.Errorf("store: audit: %w", err)
		}
		for _, m := range page {
			if err := take(auditEntry(m)); err != nil {
				return err
			}
		}
		if len(page) < auditPage {
			return nil
		}
		from = "(" + page[len(page)-1].ID
	}
}

func auditEntry(m redis.XMessage) approval.Entry {
	text := func(name string) string { return asString(m.Values[name]) }
	return approval.Entry{Seq: text("seq"), Prev: text("prev"), Hash: text("hash"), Data: text("data"), Sig: text("sig")}
}
