package deploy_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
)

// A probe is a command as it is tried on a key.
type probe struct {
	command string // as ACL names it
	args    []any
	keyless bool
}

// Commands that whoever is connected may run, logged in or not.
var always = []string{"auth", "hello", "quit", "reset"}

// probes are all the commands that the server knows, each with arguments by which it
// finds the key.
func probes(t *testing.T, c *redis.Client) func(key string) []probe {
	t.Helper()
	list, err := c.Do(t.Context(), "command").Slice()
	if err != nil {
		t.Fatal(err)
	}
	type known struct {
		name               []any
		arity              int64
		first, last, steps int64
		movable            bool
	}
	var all []known
	var add func(entry []any)
	add = func(entry []any) {
		name, _ := entry[0].(string)
		subcommands := []any{}
		if len(entry) > 9 {
			subcommands, _ = entry[9].([]any)
		}
		for _, s := range subcommands {
			add(s.([]any))
		}
		if len(subcommands) > 0 || slices.Contains(always, name) {
			return
		}
		k := known{arity: entry[1].(int64), first: entry[3].(int64), last: entry[4].(int64), steps: entry[5].(int64)}
		for part := range strings.SplitSeq(name, "|") {
			k.name = append(k.name, part)
		}
		for _, flag := range entry[2].([]any) {
			k.movable = k.movable || flag == "movablekeys"
		}
		all = append(all, k)
	}
	for _, entry := range list {
		add(entry.([]any))
	}
	if len(all) < 200 {
		t.Fatalf("the server knows only %d commands", len(all))
	}
	return func(key string) []probe {
		var tried []probe
		for _, k := range all {
			p := probe{command: joined(k.name), keyless: k.first == 0 && !k.movable}
			if special := movable(p.command, key); special != nil {
				p.args, p.keyless = append(slices.Clone(k.name), special...), false
				tried = append(tried, p)
				continue
			}
			length := max(k.arity, -k.arity)
			last := k.last
			if last < 0 {
				last = length + last
			}
			length = max(length, last+1)
			p.args = slices.Clone(k.name)
			for i := int64(len(p.args)); i < length; i++ {
				arg := any("1")
				if k.first > 0 && i >= k.first && i <= last && (i-k.first)%max(k.steps, 1) == 0 {
					arg = key
				}
				p.args = append(p.args, arg)
			}
			tried = append(tried, p)
		}
		return tried
	}
}

func joined(name []any) string {
	parts := make([]string, len(name))
	for i, part := range name {
		parts[i] = part.(string)
	}
	return strings.Join(parts, "|")
}

// movable are the arguments of commands whose keys do not stand at a fixed place.
func movable(command, key string) []any {
	switch command {
	case "eval", "eval_ro", "evalsha", "evalsha_ro", "fcall", "fcall_ro":
		return []any{"return 1", "1", key}
	case "xread":
		return []any{"count", "1", "streams", key, "0"}
	case "xreadgroup":
		return []any{"group", "g", "c", "streams", key, ">"}
	case "zunion", "zinter", "zdiff", "sintercard", "zintercard":
		return []any{"1", key}
	case "zunionstore", "zinterstore", "zdiffstore":
		return []any{key, "1", key}
	case "lmpop", "zmpop":
		return append([]any{"1", key}, map[string]string{"lmpop": "left", "zmpop": "min"}[command])
	case "blmpop", "bzmpop":
		return append([]any{"1", "1", key}, map[string]string{"blmpop": "left", "bzmpop": "min"}[command])
	case "migrate":
		return []any{"127.0.0.1", "1", key, "0", "1"}
	case "sort", "sort_ro":
		return []any{key}
	case "georadius":
		return []any{key, "1", "1", "1", "m"}
	case "georadiusbymember":
		return []any{key, "1", "1", "m"}
	case "memory|usage", "object|encoding":
		return []any{key}
	}
	return nil
}
