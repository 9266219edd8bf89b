package queue

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"countersign/store"
)

const (
	firstID = "0-0"
	newOnes = ">"
	noBlock = time.Duration(-1)

	// reclaimOften is how often we look for what others left while an entry becomes idle.
	reclaimOften = 4
)

// A reader reads one stream for its consumer group. It is used by one
// goroutine.
type reader struct {
	in      *Intake
	stream  Stream
	group   string
	made    bool      // the group is believed to be there
	own     string    // up to where our own pending entries were read; "" once all were
	cursor  string    // where the next takeover begins
	looked  time.Time // when we last looked for what to take over
	now     time.Time // Redis's clock, as it was told last
	settled []string  // entries with their effect in Redis, to be acknowledged
	script  bool      // Redis is believed to know the script of lost entries
}

func newReader(in *Intake, s Stream) *reader {
	return &reader{in: in, stream: s, group: groupOf(s.Key, in.cfg.Namespace), own: firstID, cursor: firstID}
}

// groupOf names the consumer group. A stream outside the namespace may be read
// for several of them.
func groupOf(stream, namespace string) string {
	if strings.HasPrefix(stream, store.NewKeys(namespace).Prefix()) {
		return "countersign"
	}
	return "countersign:" + namespace
}

// run reads until ctx is done.
func (r *reader) run(ctx context.Context) {
	var pause backoff
	for ctx.Err() == nil {
		_, err := r.round(ctx, blockFor)
		switch {
		case err == nil:
			pause.reset()
		case ctx.Err() == nil:
			r.in.fault(err).Str("stream", r.stream.Key).Msg("reading events failed, trying again")
			pause.wait(ctx)
		}
	}
	if err := r.ack(ctx); err != nil {
		r.in.fault(err).Str("stream", r.stream.Key).Msg("what was taken last will be delivered again")
	}
}

// round is one turn: our own pending entries, what others left, what is new. A
// group that has vanished is made again, once per round. What the turn settles last
// is acknowledged with the next one, or by ack; where it failed, at once.
func (r *reader) round(ctx context.Context, block time.Duration) (int, error) {
	n, err := r.safeTurn(ctx, block)
	if isNoGroup(err) {
		r.made = false
		r.in.noise.group.Warn().Str("stream", r.stream.Key).Str("group", r.group).
			Msg("consumer group is gone, making it again")
		var more int
		more, err = r.safeTurn(ctx, block)
		n += more
	}
	if err != nil {
		// What was delivered and not handled is found by reading our own again.
		r.own, r.script = firstID, false
		err = errors.Join(err, r.ack(ctx))
	}
	return n, err
}

// safeTurn is turn, with a panic as its error: what was in hand is taken again.
func (r *reader) safeTurn(ctx context.Context, block time.Duration) (n int, err error) {
	err = recovered(func() (err error) {
		n, err = r.turn(ctx, block)
		return err
	})
	return n, err
}

func (r *reader) turn(ctx context.Context, block time.Duration) (n int, err error) {
	if err := r.makeGroup(ctx); err != nil {
		return 0, err
	}
	for r.own != "" && ctx.Err() == nil {
		entries, err := r.read(ctx, r.own, noBlock)
		if err != nil {
			return n, err
		}
		n += len(entries)
		if err := r.take(ctx, entries, r.now); err != nil {
			return n, err
		}
		r.own = ""
		if len(entries) > 0 {
			r.own = entries[len(entries)-1].id
		}
	}
	if block == noBlock || r.mayReclaim() {
		entries, err := r.reclaim(ctx)
		if err != nil {
			return n, err
		}
		n += len(entries)
		if err := r.take(ctx, entries, r.now); err != nil {
			return n, err
		}
	}
	if n > 0 {
		block = noBlock // there was work; there may be more
	}
	entries, err := r.read(ctx, newOnes, block)
	if err != nil {
		return n, err
	}
	return n + len(entries), r.take(ctx, entries, r.now)
}

// mayReclaim reports whether it is time to look for what others left: where the last
// look did not reach the end, and otherwise several times within what makes an entry
// idle.
func (r *reader) mayReclaim() bool {
	since := r.now.Sub(r.looked)
	return r.cursor != firstID || since < 0 || since >= r.in.cfg.ReclaimIdle/reclaimOften
}

// makeGroup makes the group at the stream's beginning, so that nothing written
// before the first start is skipped.
func (r *reader) makeGroup(ctx context.Context) error {
	if r.made {
		return nil
	}
	err := r.in.cfg.Redis.XGroupCreateMkStream(ctx, r.stream.Key, r.group, "0").Err()
	if err != nil && !redis.HasErrorPrefix(err, "BUSYGROUP") {
		return fmt.Errorf("queue: group of %s: %w", r.stream.Key, err)
	}
	r.made = true
	return nil
}

// read reads the group's entries after an id: new ones, or this consumer's own
// pending ones.
func (r *reader) read(ctx context.Context, after string, block time.Duration) ([]entry, error) {
	args := []any{"xreadgroup", "group", r.group, r.in.cfg.Consumer, "count", r.in.cfg.Batch}
	if block >= 0 {
		args = append(args, "block", block.Milliseconds())
	}
	args = append(args, "streams", r.stream.Key, after)
	cmd := redis.NewCmd(ctx, args...)
	cmd.SetFirstKeyPos(int8(len(args) - 2))
	v, err := r.ask(ctx, cmd)
	if errors.Is(err, redis.Nil) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("queue: read %s: %w", r.stream.Key, err)
	}
	return parseRead(v)
}

// reclaim takes over entries that were delivered to somebody and left idle. An
// empty batch is not the end: the cursor is kept for the next round.
func (r *reader) reclaim(ctx context.Context) ([]entry, error) {
	v, err := r.ask(ctx, redis.NewCmd(ctx, "xautoclaim", r.stream.Key, r.group, r.in.cfg.Consumer,
		r.in.cfg.ReclaimIdle.Milliseconds(), r.cursor, "count", r.in.cfg.Batch))
	if err != nil {
		return nil, fmt.Errorf("queue: take over of %s: %w", r.stream.Key, err)
	}
	cursor, entries, deleted, err := parseAutoClaim(v)
	if err != nil {
		return nil, fmt.Errorf("queue: take over of %s: %w", r.stream.Key, err)
	}
	r.cursor, r.looked = cursor, r.now
	for _, id := range deleted {
		r.lost(id)
	}
	return entries, nil
}
