package queue

import (
	"context"
	_ "embed"

	"github.com/redis/go-redis/v9"
)

//go:embed lost.lua
var lostText string

// tellLost tells of entries that were trimmed before anybody read them, once, as far
// as Redis knows: what somebody adds and trims between this look and the read after
// it may go unseen, and so does a stream that is deleted as a whole. A look that fails
// is made again with the next turn; what ails Redis is told by the read that follows.
func (r *reader) tellLost(ctx context.Context) {
	told := r.in.keys.Prefix() + "bot:lost"
	n, err := redis.NewScript(lostText).Run(ctx, r.in.cfg.Redis, []string{r.stream.Key, told}, r.group).Int()
	if err != nil || n == 0 {
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
