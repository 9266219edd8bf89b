package queue

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/rs/zerolog"

	"countersign/approval"
	"countersign/schemas"
	"countersign/store"
)

// A Stream is one inbound stream, and who may ask by it.
type Stream struct {
	Key      string
	Runtimes []string // globs of which runtime must fit one; empty: every runtime
	IDs      string   // a glob that approval_id must fit; "": every id
}

// A Route says where an approval is asked and who answers it. Both are fixed
// when its row opens.
type Route struct {
	Chats  []approval.Chat
	Owners []int64
	Quorum int
}

// A Router finds the route of a request. The tier is the derived risk word, ""
// where none was derived. It must be safe for concurrent use.
type Router interface {
	Route(q *approval.Request, tier string) Route
}

// IntakeConfig is what an Intake needs. The functions are asked for every
// batch, so that a reload takes effect with the next one; they must be safe for
// concurrent use.
type IntakeConfig struct {
	// Redis is lent, and best a pool of its own: each stream holds one
	// connection in a read that blocks for up to a second. Its read timeout
	// must be longer than that.
	Redis     redis.UniversalClient
	Store     *store.Store
	Namespace string
	Streams   []Stream // none: the namespace's requests, for every runtime
	Consumer  string   // stable and unique per process, so that it finds its own pending entries

	Router    func() Router
	Policy    Policy // may be nil: then everything is asked, and has no risk word
	Durations func() approval.Durations
	Remind    func() time.Duration              // before the deadline; 0: no reminder
	Owners    func() []int64                    // who is told of a call that ran unapproved
	Glob      func(pattern, s string) bool      // what runtimes and ids are matched by
	Count     func(event string, reason string) // see the Event constants; may be nil
	Ruled     func(Ruling)                      // told once of each request that opened or passed; may be nil
	Retention time.Duration                     // older entries are set aside
	Log       zerolog.Logger

	Batch       int           // entries per read; 0: 32
	ReclaimIdle time.Duration // when another's pending entry is taken over; 0: 10 s
}

// Events that [IntakeConfig.Count] is told of: every delivered entry is one of
// them, once, and so is every entry that is known to have been trimmed unread. The reason is a dead letter's code, the part before the colon,
// else "".
const (
	EventOpened     = "opened"
	EventPassed     = "passed" // by the operator's policy
	EventRefused    = "refused"
	EventLapsed     = "lapsed" // past its deadline when it was read
	EventWithdrawn  = "withdrawn"
	EventRemembered = "remembered" // a withdrawal before its request
	EventClaimed    = "claimed"
	EventReported   = "reported"
	EventRepeated   = "repeated" // taken before, or without effect
	EventDead       = "dead"
	EventLost       = "lost"     // trimmed before it was taken
	EventFailed     = "failed"   // could not be handled; after its last delivery it is dead as well
	EventPanicked   = "panicked" // of no one entry: a panic while events were read, or their reader tidied up
)

const (
	blockFor           = time.Second      // bounds a stop, since a blocked read outlives its context
	defaultBatch       = 32               // an entry may be megabytes
	defaultReclaimIdle = 10 * time.Second // clients give up on a request after 30 s
)

// An Intake takes events off the inbound streams of one namespace.
type Intake struct {
	cfg     IntakeConfig
	keys    store.Keys
	schemas *schemas.Set
	readers []*reader
	lost    *redis.Script
	noise   noise
}

// NewIntake checks the configuration. It does not touch Redis.
func NewIntake(cfg IntakeConfig) (*Intake, error) {
	switch {
	case cfg.Redis == nil || cfg.Store == nil:
		return nil, errors.New("queue: intake needs Redis and a store")
	case cfg.Consumer == "":
		return nil, errors.New("queue: intake needs a consumer name")
	case cfg.Router == nil || cfg.Durations == nil || cfg.Remind == nil || cfg.Owners == nil || cfg.Glob == nil:
		return nil, errors.New("queue: intake needs Router, Durations, Remind, Owners and Glob")
	case cfg.Retention <= 0:
		return nil, errors.New("queue: intake needs a retention")
	}
	if cfg.Count == nil {
		cfg.Count = func(string, string) {}
	}
	if cfg.Ruled == nil {
		cfg.Ruled = func(Ruling) {}
	}
	if cfg.Batch <= 0 {
		cfg.Batch = defaultBatch
	}
	if cfg.ReclaimIdle <= 0 {
		cfg.ReclaimIdle = defaultReclaimIdle
	}
	in := &Intake{cfg: cfg, keys: store.NewKeys(cfg.Namespace), schemas: schemas.New(), lost: redis.NewScript(lostText), noise: newNoise(cfg.Log)}
	if len(cfg.Streams) == 0 {
		cfg.Streams = []Stream{{Key: in.keys.Requests()}}
	}
	seen := make(map[string]bool, len(cfg.Streams))
	for _, s := range cfg.Streams {
		if s.Key == "" || seen[s.Key] {
			return nil, fmt.Errorf("queue: stream %q is empty or listed twice", s.Key)
		}
		seen[s.Key] = true
		in.readers = append(in.readers, newReader(in, s))
	}
	return in, nil
}

// Run takes events until ctx is done, and then returns nil: every fault is
// logged, at most once a second, and tried again. An entry that is being
// handled when ctx ends is finished. Each stream has a goroutine of its own, so
// that none waits for another.
func (in *Intake) Run(ctx context.Context) error {
	var wg sync.WaitGroup
	for _, r := range in.readers {
		wg.Go(func() { r.run(ctx) })
	}
	wg.Go(func() { in.tidyNowAndThen(ctx) })
	wg.Wait()
	return nil
}

// Step does one round over all streams without blocking: what this consumer
// was given before, what others left idle, what is new (at most one batch per
// stream of the latter two). It returns how many entries it was given. It must
// not be called while Run or another Step is running.
func (in *Intake) Step(ctx context.Context) (n int, err error) {
	var errs []error
	for _, r := range in.readers {
		taken, err := r.round(ctx, noBlock)
		n += taken
		errs = append(errs, err, r.ack(ctx))
	}
	return n, errors.Join(errs...)
}
