// Package deploy_test holds what deploy/ ships to what it promises.
package deploy_test

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"countersign/store/storetest"
)

// keysOf are keys of every kind that a namespace has, and some that look like its own.
func keysOf(tag string) []string {
	var keys []string
	for _, name := range []string{
		"requests", "iris", "mailer", "answers", "answer:a1", "answer:iris.1", "row:a1", "row:iris.1", "claim:a1", "claim:iris.1",
		"deadlines", "dead", "audit", "audit:head", "alive",
		"bot:approval:a1", "bot:cards:a1", "bot:card:c1", "bot:message:1001:7", "bot:open:1001", "bot:ref:K7QF2", "bot:withdrawn:a1",
		"bot:dirty", "bot:wake", "bot:audit", "bot:lease", "bot:offset", "bot:updates", "bot:settings", "bot:signing",
	} {
		keys = append(keys, tag+name)
	}
	return append(keys, "requests", "row:a1", "other:requests", "x"+tag+"requests", strings.TrimSuffix(tag, ":")+"requests", tag)
}

// promises are all that each role but the bot may do: commands, and the keys, as
// patterns with a * at their end, on which. A command without keys stands for itself.
func promises(tag string) map[string]map[string][]string {
	runtime := func(stream, ids string) map[string][]string {
		row, claim, answer := tag+"row:"+ids, tag+"claim:"+ids, tag+"answer:"+ids
		return map[string][]string{
			"ping": nil, "time": nil, "cluster|slots": nil, "command": nil, "asking": nil, "xadd": {tag + stream}, "get": {tag + "alive"}, "xread": {answer},
			"hmget": {row, claim}, "hgetall": {row}, "eval": {claim}, "evalsha": {claim}, "hexists": {claim}, "hsetnx": {claim},
		}
	}
	row, answers := []string{tag + "row:*", tag + "claim:*"}, []string{tag + "answers", tag + "answer:*"}
	audit, head, unchained := []string{tag + "audit"}, []string{tag + "audit:head"}, []string{tag + "bot:audit"}
	return map[string]map[string][]string{
		"runtime": runtime("requests", "*"),
		"iris":    runtime("iris", "iris.*"),
		"mailer":  runtime("mailer", "mailer.*"),
		"reader": {
			"ping": nil, "time": nil, "cluster|slots": nil, "command": nil, "asking": nil, "hget": row, "hmget": row, "hgetall": row,
			"xread": answers, "xrange": answers, "xrevrange": answers, "xlen": answers,
			"zrange": {tag + "deadlines"}, "zcard": {tag + "deadlines"}, "get": {tag + "alive"},
		},
		"auditor": {
			"ping": nil, "time": nil, "cluster|slots": nil, "command": nil, "asking": nil, "xread": audit, "xrange": audit, "xrevrange": audit, "xlen": audit,
			"hget": head, "hmget": {tag + "audit:head", tag + "bot:signing"}, "hgetall": head, "lrange": unchained, "llen": unchained,
		},
	}
}

func promised(may map[string][]string, command, key string) bool {
	patterns, known := may[command]
	if family, _, sub := strings.Cut(command, "|"); sub && !known {
		patterns, known = may[family]
	}
	if !known || patterns == nil {
		return known
	}
	return slices.ContainsFunc(patterns, func(p string) bool {
		begin, any := strings.CutSuffix(p, "*")
		return key == p || any && strings.HasPrefix(key, begin)
	})
}

// TestRights tries every command that Redis has, as each role, on a key of each kind,
// and wants to be let do what is promised and nothing else: where the server says that
// it would refuse, the command is really sent, by itself and from a script, and refused.
func TestRights(t *testing.T) {
	s := storetest.Real(t)
	if s == nil {
		return // the embedded server knows no rights
	}
	ctx, tag := t.Context(), s.Keys().Prefix()
	seed(t, s)
	before := dumps(t, s)
	tried := probes(t, s.Client())
	for role, may := range promises(tag) {
		user := s.Login(t, role)
		name := role + "-" + s.Namespace()
		for _, key := range keysOf(tag) {
			all := tried(key)
			dry := s.Client().Pipeline()
			for _, p := range all {
				dry.Do(ctx, append([]any{"acl", "dryrun", name}, p.args...)...)
			}
			said, _ := dry.Exec(ctx) // a refusal is a reply
			var refused []probe
			for i, p := range all {
				reply, err := said[i].(*redis.Cmd).Text()
				allowed := err == nil && reply == "OK"
				if !allowed && (err != nil || !strings.Contains(reply, "has no permissions")) {
					t.Errorf("%s: %v: neither allowed nor refused: %q, %v", role, p.args, reply, err)
				}
				if want := promised(may, p.command, key); allowed != want {
					t.Errorf("%s: %v allowed: %v, want %v", role, p.args, allowed, want)
				}
				if !allowed {
					refused = append(refused, p)
				}
			}
			if len(refused) == len(all) {
				t.Errorf("%s may do nothing at all", role)
			}
			sent, scripted := user.Pipeline(), user.Pipeline()
			for _, p := range refused {
				sent.Do(ctx, p.args...)
				if _, script := may["eval"]; script {
					scripted.Do(ctx, append([]any{"eval", "return redis.call(unpack(ARGV))", "0"}, p.args...)...)
				}
			}
			replies, _ := sent.Exec(ctx)
			for i, reply := range replies {
				if err := reply.Err(); err == nil || !outright.MatchString(err.Error()) {
					t.Errorf("%s: %v: %v, want to be refused", role, refused[i].args, err)
				}
			}
			replies, _ = scripted.Exec(ctx)
			for i, reply := range replies {
				if err := reply.Err(); err == nil || !inScript.MatchString(err.Error()) {
					t.Errorf("%s: in a script %v: %v, want to be refused", role, refused[i].args, err)
				}
			}
		}
	}
	after := dumps(t, s)
	for _, key := range slices.Sorted(maps.Keys(before)) {
		if before[key] != after[key] {
			t.Errorf("%s was changed", key)
		}
	}
	if len(after) != len(before) {
		t.Errorf("%d keys, there were %d", len(after), len(before))
	}
}

// outright is how a command is refused: for the user, or to everybody.
var outright = regexp.MustCompile(`NOPERM|(DEBUG|MODULE) command not allowed`)

// inScript is how a script is refused a command: for its user, or altogether.
var inScript = regexp.MustCompile(`can't (run|access)|not allowed from script`)

// seed makes a key of each kind, of its own type.
func seed(t *testing.T, s *storetest.Server) {
	t.Helper()
	ctx, c := t.Context(), s.Client()
	for _, key := range keysOf(s.Keys().Prefix()) {
		name, inside := strings.CutPrefix(key, s.Keys().Prefix())
		if !inside || name == "" {
			continue
		}
		var err error
		switch {
		case strings.HasPrefix(name, "row:"), strings.HasPrefix(name, "claim:"), name == "audit:head", name == "bot:lease":
			err = c.HSet(ctx, key, "state", "open").Err()
		case name == "deadlines", name == "bot:dirty":
			err = c.ZAdd(ctx, key, redis.Z{Score: 1, Member: "a1"}).Err()
		case name == "alive", name == "bot:offset":
			err = c.Set(ctx, key, "[]", 0).Err()
		case name == "bot:audit":
			err = c.RPush(ctx, key, "{}").Err()
		case strings.HasPrefix(name, "bot:"):
			err = c.SAdd(ctx, key, "a1").Err()
		default:
			err = c.XAdd(ctx, &redis.XAddArgs{Stream: key, Values: []string{"type", "x"}}).Err()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func dumps(t *testing.T, s *storetest.Server) map[string]string {
	t.Helper()
	all := map[string]string{}
	for it := s.Client().Scan(t.Context(), 0, s.Keys().Prefix()+"*", 1000).Iterator(); it.Next(t.Context()); {
		all[it.Val()] = s.Client().Dump(t.Context(), it.Val()).Val()
	}
	if len(all) == 0 {
		t.Fatal("nothing is there")
	}
	return all
}

// What the scripts call the bot may call, and of the rest nothing that could reach
// beyond its keys.
func TestRightsOfTheBot(t *testing.T) {
	s := storetest.Real(t)
	if s == nil {
		return // the embedded server knows no rights
	}
	ctx, tag := t.Context(), s.Keys().Prefix()
	name := "bot-" + s.Namespace()
	called := map[string]bool{}
	for _, pattern := range []string{"../store/scripts/*.lua", "../queue/*.lua"} {
		files, err := os.ReadDir(strings.TrimSuffix(pattern, "/*.lua"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if !strings.HasSuffix(f.Name(), ".lua") {
				continue
			}
			text, err := os.ReadFile(strings.TrimSuffix(pattern, "*.lua") + f.Name())
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range call.FindAllStringSubmatch(string(text), -1) {
				command := strings.ToLower(m[1])
				if m[2] != "" && slices.Contains([]string{"xgroup", "xinfo"}, command) {
					command += "|" + strings.ToLower(m[2])
				}
				called[command] = true
			}
		}
	}
	if len(called) < 20 {
		t.Fatalf("the scripts call only %v", called)
	}
	for _, key := range []string{tag + "bot:x", tag + "row:a1", "other"} {
		for _, p := range probes(t, s.Client())(key) {
			reply, err := s.Client().Do(ctx, append([]any{"acl", "dryrun", name}, p.args...)...).Text()
			allowed := err == nil && reply == "OK"
			switch {
			case called[p.command] && key == tag+"bot:x" && !allowed:
				t.Errorf("a script calls %s, which the bot may not", p.command)
			case allowed && key == "other" && !p.keyless:
				t.Errorf("the bot may %v", p.args)
			case allowed && p.command == "del" && key == tag+"row:a1":
				t.Errorf("the bot may delete a row")
			case allowed && p.keyless && !strings.HasPrefix(p.command, "command|") && !slices.Contains([]string{"ping", "time", "cluster|slots", "command", "asking", "info", "multi", "exec"}, p.command):
				t.Errorf("the bot may %v", p.args)
			}
		}
	}
}

var call = regexp.MustCompile(`redis\.p?call\('([A-Z]+)'(?:, *'([A-Z]+)')?`)

// The rights that the protocol writes out for a Redis without an ACL file are those of
// the file.
func TestRightsInTheProtocol(t *testing.T) {
	text, err := os.ReadFile("../docs/protocol.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(text), "ACL SETUSER mailer on '>PASSWORD' ")
	written, _, closed := strings.Cut(rest, "```")
	if !ok || !closed {
		t.Fatal("docs/protocol.md makes no user")
	}
	got := strings.Fields(strings.NewReplacer("'", "", "\\\n", "").Replace(written))
	rules := storetest.Rights("runtime", "approvals")
	want := rules[slices.Index(rules, "-@all")+1:]
	if !slices.Equal(got, want) {
		t.Errorf("docs/protocol.md grants %v, deploy/redis.acl %v", got, want)
	}
}
