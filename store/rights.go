package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"
)

// A right is a command that the bot runs, with arguments that name a key of the
// kind it runs it on.
type right []string

// needs lists what the bot runs on the namespace and on its inbound streams. Each
// command stands with every kind of key that Redis may judge apart.
func (s *Store) needs(streams []string) []right {
	own, set, queue, list := s.keys.Prefix()+"bot:doctor", s.keys.Deadlines(), s.keys.wake(), s.keys.Prefix()+"bot:audit"
	needs := []right{
		{"time"},
		{"multi"},
		{"exec"},
		{"get", own},
		{"set", own, "v"},
		{"del", own},
		{"exists", own},
		{"pexpire", own, "1"},
		{"pexpireat", own, "1"},
		{"pttl", own},
		{"hdel", own, "f"},
		{"hexists", own, "f"},
		{"hget", own, "f"},
		{"hgetall", own},
		{"hincrby", own, "f", "1"},
		{"hkeys", own},
		{"hmget", own, "f"},
		{"hset", own, "f", "v"},
		{"hsetnx", own, "f", "v"},
		{"sadd", own, "m"},
		{"sismember", own, "m"},
		{"smembers", own},
		{"sunion", own},
		{"rpush", list, "v"},
		{"llen", list},
		{"lrange", list, "0", "0"},
		{"ltrim", list, "0", "-1"},
		{"zadd", set, "1", "m"},
		{"zcard", set},
		{"zcount", set, "0", "1"},
		{"zrange", set, "0", "1"},
		{"zrangebyscore", set, "0", "1"},
		{"zrevrangebyscore", set, "1", "0"},
		{"zrem", set, "m"},
		{"zremrangebyscore", set, "0", "1"},
		{"zscore", set, "m"},
		{"xread", "count", "1", "streams", queue, "0"},
		{"xadd", queue, "*", "f", "v"},
		{"xrevrange", queue, "+", "-"},
		{"xtrim", queue, "minid", "0"},
		{"xdel", queue, "0-1"},
		{"xrange", s.keys.Chain(), "-", "+"},
		{"hset", s.keys.Row("doctor"), "f", "v"},
		{"pexpireat", s.keys.Claim("doctor"), "1"},
		{"hgetall", s.keys.Claim("doctor")},
		{"xadd", s.keys.Answer("doctor"), "*", "f", "v"},
		{"xadd", s.keys.Answers(), "*", "f", "v"},
		{"xtrim", s.keys.Answers(), "minid", "0"},
		{"xadd", s.keys.Dead(), "*", "f", "v"},
		{"set", s.keys.Alive(), "v"},
	}
	for _, key := range streams {
		needs = append(needs,
			right{"xgroup", "create", key, "g", "0"}, right{"xgroup", "delconsumer", key, "g", "c"},
			right{"xreadgroup", "group", "g", "c", "streams", key, ">"}, right{"xack", key, "g", "0-1"},
			right{"xautoclaim", key, "g", "c", "1", "0"}, right{"xpending", key, "g"}, right{"xinfo", "groups", key},
			right{"xinfo", "consumers", key}, right{"xlen", key}, right{"xrange", key, "-", "+"},
		)
		if strings.HasPrefix(key, s.keys.Prefix()) {
			needs = append(needs, right{"xtrim", key, "minid", "0"})
		}
	}
	return needs
}

// askRights asks Redis which of the commands the user may not run. It runs none of
// them. It declares no key, since a declared one would itself have to be allowed.
const askRights = `
local missing = {}
for i, call in ipairs(cjson.decode(ARGV[1])) do
  if not redis.acl_check_cmd(unpack(call)) then missing[#missing + 1] = i end
end
return missing`

// A Rights is what a connection's user may not do and would have to.
type Rights struct {
	User    string   // whom Redis takes us for; "" where it does not tell
	Known   bool     // Redis can be asked; the embedded one and some hosted ones cannot
	Missing []string // commands with a key, in Redis's own words, e.g. "xadd {ns}:answers"
}

// Rights asks Redis what its present user may do of what the bot does with these
// inbound streams. It changes nothing. Where not even a script may be run, the
// missing command is eval.
func (s *Store) Rights(ctx context.Context, streams []string) (Rights, error) {
	node, err := s.node(ctx)
	if err != nil {
		return Rights{}, fmt.Errorf("store: rights: %w", err)
	}
	needs := s.needs(streams)
	asked, err := json.Marshal(needs)
	if err != nil {
		return Rights{}, fmt.Errorf("store: rights: %w", err)
	}
	// It may not tell who we are, which is no reason not to go on.
	user, _ := node.Do(ctx, "acl", "whoami").Text()
	rights := Rights{User: user, Known: true}
	missing, err := node.Eval(ctx, askRights, nil, asked).Int64Slice()
	switch {
	case redis.HasErrorPrefix(err, "NOPERM"):
		rights.Missing = []string{"eval"}
		return rights, nil
	case isReply(err):
		return Rights{User: user}, nil // it has no such question
	case err != nil:
		return Rights{}, fmt.Errorf("store: rights: %w", err)
	}
	for _, i := range missing {
		rights.Missing = append(rights.Missing, needs[i-1].String())
	}
	return rights, nil
}

// isReply reports whether an error is Redis's own word, and no failure to reach it.
func isReply(err error) bool {
	var reply redis.Error
	return errors.As(err, &reply)
}

// String names the command and its key.
func (r right) String() string {
	at := 1
	switch r[0] {
	case "time", "multi", "exec":
		return r[0]
	case "xgroup", "xinfo":
		at = 2
	case "xread":
		at = 4
	case "xreadgroup":
		at = 5
	}
	return r[0] + " " + r[at]
}
