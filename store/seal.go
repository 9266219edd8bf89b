package store

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"

	"countersign/approval"
)

// Where keys are configured, every row bears the intake's seal and every answer a
// signature. A reading says whether both hold ([approval.Row.Seal]), and whatever
// a script writes on the strength of a reading it writes only while the row still
// holds what was read: whoever may write rows raises no revision.

// ErrNamespaceSigns is found with errors.Is where a process without a key was about to
// write in a namespace whose answers are signed.
var ErrNamespaceSigns = errors.New("the answers of this namespace are signed, and this process has no key: configure audit.signing_key_file")

// ErrStrangeKey is found with errors.Is where a row's seal does not hold for a process
// that lacks the key by which the namespace signs now: it cannot tell, and does nothing.
var ErrStrangeKey = errors.New("this namespace is signed by a key that this process does not have: configure audit.signing_key_file as where the bot was started last")

// strangeKey is what decide.lua returns for that.
const strangeKey Status = "strange_key"

// unsigned is what scripts return instead of writing what bears no signature.
const unsigned Status = "unsigned"

// sealedFields are those fields of a row that a seal covers, and the seal. lib.lua
// has the same list.
func sealedFields() []string {
	return []string{"terms", "pin", "opened_at", "expires_at", "stream", "owners", "quorum", "seal", "request"}
}

// covered writes the sealed fields of a row as lib.lua does.
func covered(f map[string]string) string {
	var b strings.Builder
	for _, name := range sealedFields() {
		b.WriteString(strconv.Itoa(len(f[name])))
		b.WriteByte(':')
		b.WriteString(f[name])
	}
	return b.String()
}

// BeginSigning records that the namespace is signed from now on, by this store's
// first key; from then on nothing is answered or opened without a key. A store
// without one gets [ErrNamespaceSigns] where that was recorded. Who wants to sign
// no more deletes {NS}:bot:signing.
func (s *Store) BeginSigning(ctx context.Context) error {
	if s.signs != nil {
		if err := s.rdb.HSet(ctx, s.keys.signing(), "key", s.signs.Signer()).Err(); err != nil {
			return fmt.Errorf("store: begin signing: %w", err)
		}
		return nil
	}
	return s.MayServe(ctx)
}

// MayServe reports with [ErrNamespaceSigns] that others sign this namespace by now and
// this store has no key. Whoever serves asks again and again: without a key no seal can
// be checked, and a card drawn from a row that was changed would show what nobody asked.
func (s *Store) MayServe(ctx context.Context) error {
	if s.signs != nil {
		return nil
	}
	n, err := s.rdb.Exists(ctx, s.keys.signing()).Result()
	if err != nil {
		return fmt.Errorf("store: is this namespace signed: %w", err)
	}
	if n != 0 {
		return ErrNamespaceSigns
	}
	return nil
}

// seal makes the seal of a row about to be opened, "" without a key.
func (s *Store) seal(o Opening) string {
	if s.signs == nil {
		return ""
	}
	row := approval.Row{
		ID: o.ID, Terms: o.Terms, Pin: o.Pin, OpenedAt: o.Now, ExpiresAt: o.ExpiresAt, Stream: o.Stream,
		Owners: o.Owners, Quorum: max(o.Quorum, 1),
	}
	return s.signs.SignText(row.SealText())
}

// judge says whether a row is as it was opened and answered, and takes an answer off
// that does not hold; f are its fields, and fault is what could not be read of them.
func (s *Store) judge(row *approval.Row, f map[string]string, fault error) approval.Seal {
	seal := s.judged(row, f, fault)
	if seal == approval.SealBroken && !s.answerHolds(row, f) {
		row.Answer = nil // nobody gave it
	}
	return seal
}

// maxRev bounds a row's revision: ours are counts, or Unix milliseconds with a count.
const maxRev = 1 << 53

func (s *Store) judged(row *approval.Row, f map[string]string, fault error) approval.Seal {
	switch {
	case fault != nil:
		return approval.SealBroken
	case f["rev"] != strconv.FormatInt(row.Rev, 10), row.Rev < 1, row.Rev >= maxRev:
		return approval.SealBroken // no transition could count it up
	case f["seal"] == "":
		return s.judgeUnsealed(row, f)
	case row.Raw == nil && (f["forgotten_at"] == "" || row.State == approval.Open):
		return approval.SealBroken
	case !s.checked("seal", row.ID, covered(f), func() bool { return s.sealHolds(row, f) }):
		return approval.SealBroken
	case !row.State.Answers(row.Answer), !s.answerHolds(row, f):
		return approval.SealBroken
	}
	return approval.SealHolds
}

// agrees reports whether a row agrees with what read.lua says is known of it elsewhere.
// No seal covers its reference, by which owners answer in words; and the seal of a row
// that was answered holds as well once it is made an open one again.
func agrees(row *approval.Row, known any) bool {
	whose, answered := asPair(known)
	return whose == row.ID && (row.State == approval.Open) == (answered == "0")
}

// sealHolds reports whether the seal is over what the row holds. What was forgotten
// yields nothing.
func (s *Store) sealHolds(row *approval.Row, f map[string]string) bool {
	return s.signs.CheckText(row.SealText(), f["seal"]) != "" && (row.Raw == nil || row.Yields())
}

// answerHolds reports whether the answer is signed, and one to this row.
func (s *Store) answerHolds(row *approval.Row, f map[string]string) bool {
	a := row.Answer
	if a == nil {
		return true
	}
	mine := a.Terms == row.Terms && a.Pin == row.Pin
	if a.Decision == approval.DecisionRefused {
		mine = true // it may be without them
	}
	return mine && a.ID == row.ID && s.checked("answer", row.ID, f["answer"], func() bool {
		_, err := s.signs.Check([]byte(f["answer"]))
		return err == nil
	})
}

// judgeUnsealed judges a row without a seal: one from before the first key, or one
// that was refused as it came, which has nothing to be sealed.
func (s *Store) judgeUnsealed(row *approval.Row, f map[string]string) approval.Seal {
	_, sig, err := approval.SplitSig([]byte(f["answer"]))
	switch {
	case row.Answer == nil || err == nil && sig == nil:
		return approval.SealAbsent
	case !row.State.Answers(row.Answer), !s.answerHolds(row, f):
		return approval.SealBroken
	case row.State == approval.Refused && row.Raw == nil:
		return approval.SealHolds
	}
	return approval.SealAbsent
}

// checked remembers what was found to hold, so that an approval that is read ten
// times is checked once.
func (s *Store) checked(what, id, text string, check func() bool) bool {
	sum := sha256.Sum256([]byte(what + " " + id + "\n" + text))
	if s.sound.has(sum) {
		return true
	}
	if !check() {
		return false
	}
	s.sound.add(sum)
	return true
}

// soundLimit bounds how many digests are remembered; then it begins anew.
const soundLimit = 16 << 10

// sound is a set of digests of what was found to hold.
type sound struct {
	mu  sync.Mutex // guards all
	all map[[sha256.Size]byte]struct{}
}

func (s *sound) has(sum [sha256.Size]byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.all[sum]
	return ok
}

func (s *sound) add(sum [sha256.Size]byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.all) >= soundLimit || s.all == nil {
		s.all = map[[sha256.Size]byte]struct{}{}
	}
	s.all[sum] = struct{}{}
}

// signer is the key that this process signs with, for scripts; "" if it has none.
func (s *Store) signer() string { return s.signs.Signer() }

// known are the keys of this process, for decide.lua; "" if none of them signs.
func (s *Store) known() string {
	if s.signer() == "" {
		return ""
	}
	return strings.Join(s.signs.IDs(), ",")
}

// An alarm is a notice to one owner that a row's seal does not hold.
func (s *Store) alarms(r *Reading) []any {
	if s.tell == nil {
		return nil
	}
	var args []any
	for _, owner := range s.tell() {
		n := Notice{Kind: Tampered, Chat: owner, IDs: []string{r.ID}, Total: 1}
		args = append(args, "tampered:"+r.ID+":"+strconv.FormatInt(owner, 10), owner, jsonText(n))
	}
	return args
}

// TellTampered tells every owner once that somebody changed a row after it was
// answered. It reports whether it did so now; a kill half way has it told again under
// the same names.
func (s *Store) TellTampered(ctx context.Context, r *Reading) (bool, error) {
	if s.tell == nil {
		return false, nil
	}
	told, err := s.rdb.Exists(ctx, s.keys.tampered(r.ID)).Result()
	if err != nil || told != 0 {
		return false, err
	}
	switch key, err := s.rdb.HGet(ctx, s.keys.signing(), "key").Result(); {
	case errors.Is(err, redis.Nil):
	case err != nil:
		return false, err
	case !slices.Contains(s.signs.IDs(), key):
		return false, ErrStrangeKey
	}
	for _, owner := range s.tell() {
		n := Notice{
			ID: "altered:" + r.ID + ":" + strconv.FormatInt(owner, 10), Kind: Tampered, Chat: owner, IDs: []string{r.ID}, Total: 1,
		}
		if _, err := s.NewNotice(ctx, n, 0); err != nil {
			return false, err
		}
	}
	return true, s.rdb.Set(ctx, s.keys.tampered(r.ID), 1, s.retention).Err()
}

// Refuse answers an approval whose seal does not hold as refused, with neither
// calls nor context, and tells every owner. Of one that was answered before, Redis
// keeps the answer, and the status is [NotOpen].
func (s *Store) Refuse(ctx context.Context, r *Reading) (Status, *Reading, error) {
	return s.Decide(ctx, r, Attempt{Decision: approval.DecisionRefused, Guard: BySeal})
}
