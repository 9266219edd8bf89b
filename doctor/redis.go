package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"countersign/store"
)

// redis looks at the server: whether it is there, fit, and keeps what it is given.
func (e *examination) redis(ctx context.Context) {
	where := e.Config.Redis.URL.String()
	server, err := e.Store.Server(ctx)
	if err != nil {
		e.fault(CheckRedis, fmt.Sprintf("Redis at %s cannot be reached: %v", where, err),
			"start Redis, or correct redis.url and its password")
		return
	}
	e.redisUp = true
	flaws, unknown := server.Flaws()
	for _, look := range []struct{ about, check, good string }{
		{store.AboutVersion, CheckRedis, fmt.Sprintf("version %s at %s", server.Version, where)},
		{store.AboutRole, CheckRedis, "it is the primary"},
		{store.AboutPersistence, CheckPersistence, "it keeps an append-only file"},
		{store.AboutEviction, CheckEviction, "it drops nothing when its memory is full"},
	} {
		i := slices.IndexFunc(flaws, func(f store.Flaw) bool { return f.About == look.about })
		switch {
		case i >= 0:
			e.fault(look.check, flaws[i].What, flaws[i].Remedy)
		case slices.Contains(unknown, look.about):
			e.warn(look.check, "Redis does not tell its "+look.about, "look it up where Redis is run: "+wanted(look.about))
		case look.about == store.AboutPersistence && server.AOF != "1":
			e.warn(look.check, "Redis keeps snapshots alone: a crash loses what came after the last one",
				"CONFIG SET appendonly yes, and the same in its configuration file")
		default:
			e.good(look.check, look.good)
		}
	}
}

// wanted is what a property of the server has to be.
func wanted(about string) string {
	switch about {
	case store.AboutVersion:
		return "7.0 or newer is needed"
	case store.AboutRole:
		return "redis.url has to lead to the primary"
	case store.AboutPersistence:
		return "appendonly should be yes"
	default:
		return "maxmemory-policy has to be noeviction"
	}
}

// mostNamed bounds how many missing rights a line names.
const mostNamed = 6

// rights looks at what the user may do, and whether it is everybody's.
func (e *examination) rights(ctx context.Context) {
	if !e.redisUp {
		return
	}
	const remedy = "give the bot's user the rights of deploy/redis.acl"
	rights, err := e.Store.Rights(ctx, e.streamKeys())
	switch {
	case err != nil:
		e.fault(CheckRights, fmt.Sprintf("Redis cannot be asked what the bot may do: %v", err), remedy)
	case !rights.Known:
		e.warn(CheckRights, "Redis does not tell what the bot may do", "see deploy/redis.acl for what it needs")
	case len(rights.Missing) > 0:
		named := rights.Missing
		more := ""
		if len(named) > mostNamed {
			more = fmt.Sprintf(" and %d more", len(named)-mostNamed)
			named = named[:mostNamed]
		}
		e.fault(CheckRights, "the bot may not run "+strings.Join(named, ", ")+more, remedy)
	case rights.User == "default":
		e.warn(CheckRights, "the bot is Redis's default user: whoever reaches Redis as that may change an approval",
			"give the bot and each runtime a user of its own, as in deploy/redis.acl")
	default:
		e.good(CheckRights, "the bot may do what it needs")
	}
}

func (e *examination) streamKeys() []string {
	var keys []string
	for _, s := range e.Config.Streams() {
		keys = append(keys, s.Key)
	}
	return keys
}

// clockSlack is how far apart two clocks may be and still be called the same.
const clockSlack = 2 * time.Second

// clock compares this machine's clock with Redis's.
func (e *examination) clock(ctx context.Context) {
	if !e.redisUp {
		return
	}
	before := e.Now()
	theirs, err := e.Store.Now(ctx)
	if err != nil {
		e.warn(CheckClock, fmt.Sprintf("Redis does not tell the time: %v", err), "see that Redis can be reached")
		return
	}
	trip := e.Now().Sub(before)
	ahead := before.Add(trip / 2).Sub(theirs)
	if ahead.Abs() <= clockSlack+trip/2 {
		e.good(CheckClock, "this machine and Redis have the same time")
		return
	}
	word := "ahead of"
	if ahead < 0 {
		word = "behind"
	}
	e.warn(CheckClock, fmt.Sprintf("this machine is %s %s Redis; deadlines follow Redis, logs this machine",
		ahead.Abs().Round(time.Second), word), "set both by NTP")
}

// streams looks at the inbound streams.
func (e *examination) streams(ctx context.Context) {
	if !e.redisUp {
		return
	}
	now, err := e.Store.Now(ctx)
	if err != nil {
		return // the clock said so
	}
	for _, key := range e.streamKeys() {
		newest, full, err := e.Store.Newest(ctx, key)
		remedy := fmt.Sprintf("once its requests are answered: RENAME %s to another key, and take the right to write it from whoever wrote that id", key)
		switch {
		case err != nil:
			e.fault(CheckStream, fmt.Sprintf("%s cannot be read: %v", key, err), "let the bot's user read it, and see that it is a stream")
		case full:
			e.fault(CheckStream, key+" has an entry with the highest id there is: no request can be added", remedy)
		case newest.After(now.Add(clockSlack)):
			e.warn(CheckStream, fmt.Sprintf("%s has an id of %s, which is still to come: requests get that time, and a deadline counts from when they are read",
				key, newest.Format(time.RFC3339)), remedy)
		default:
			e.good(CheckStream, key+" takes requests")
		}
	}
}

// bot looks whether one serves the queue, and asks it how it is.
func (e *examination) bot(ctx context.Context) {
	if !e.redisUp {
		return
	}
	present, err := e.Store.Presence(ctx)
	if err != nil {
		e.warn(CheckBot, fmt.Sprintf("it is not known whether a bot serves the queue: %v", err), "see what the lines above say of Redis")
		return
	}
	e.present = &present
	if !present.Alive {
		e.good(CheckBot, "none serves the queue yet")
		return
	}
	for _, key := range e.streamKeys() {
		if !slices.Contains(present.Streams, key) {
			e.fault(CheckBot, "the bot that runs does not read "+key, "restart it with this configuration")
		}
	}
	if present.Holder == "" {
		e.warn(CheckBot, "a bot gives signs of life, but none polls and sends", "wait ten seconds and look again; then see the bot's log")
		return
	}
	name, _, _ := strings.Cut(present.Holder, "/")
	if e.Ready == nil {
		e.good(CheckBot, name+" serves the queue")
		return
	}
	switch words, ready, err := e.Ready(ctx); {
	case err != nil:
		e.warn(CheckBot, fmt.Sprintf("%s serves the queue, but no bot on this machine can be asked how it is: %v", name, err),
			"run doctor where the bot runs, with its http.listen")
	case !ready:
		e.fault(CheckBot, "the bot is not ready: "+words, "see to what it names, and its log")
	case strings.Contains(words, "; "): // more than how it stands to the lease
		e.warn(CheckBot, "the bot says: "+words, "see to what it names, and its log")
	default:
		e.good(CheckBot, name+" serves the queue, and is ready")
	}
}
