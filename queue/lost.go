package queue

import (
	"context"
	_ "embed"

	"github.com/redis/go-redis/v9"
)

//go:embed lost.lua
var lostText string

// lookForLost looks for entries that were trimmed before anybody read them, as far
// as Redis knows: what somebody adds and trims between this look and the read behind
// it may go unseen, and so does a stream that is deleted as a whole. A look that fails
// is made again with the next read; what ails Redis is told by the read.
func (r *reader) lookForLost(ctx context.Context, pipe redis.Pipeliner) *redis.Cmd {
	keys := []string{r.stream.Key, r.in.keys.Prefix() + "bot:lost"}
	if r.script {
		return r.in.lost.EvalSha(ctx, pipe, keys, r.group)
	}
	return r.in.lost.Eval(ctx, pipe, keys, r.group)
}

// tellLost tells of such entries, once.
func (r *reader) tellLost(look *redis.Cmd) {
	n, err := look.Int()
	if r.script = err == nil; n == 0 {
		return
	}
	for range n {
		r.in.cfg.Count(EventLost, "")
	}
	r.in.noise.lost.Error().Str("stream", r.stream.Key).Int("events", n).
		Msg("events were trimmed before anybody read them: what they asked is lost")
}

// lost tells of an entry that was trimmed away after it was delivered and before it
// was acknowledged. Whoever trimmed it lost it; nothing is left to take.
func (r *reader) lost(id string) {
	r.in.cfg.Count(EventLost, "")
	r.in.noise.lost.Error().Str("stream", r.stream.Key).Str("entry", id).
		Msg("an event was trimmed before it was taken")
}
