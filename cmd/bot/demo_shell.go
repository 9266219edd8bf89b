package main

import (
	"net/url"
	"strings"

	"countersign/config"
	"countersign/queue"
	"countersign/store"
)

// A demoShell writes the commands that would do what the runtimes do, for whoever wants
// to try the queue by hand.
type demoShell struct {
	cli  string // redis-cli and how it reaches Redis
	keys store.Keys
}

func newDemoShell(c config.Redis) demoShell {
	s := demoShell{cli: "redis-cli", keys: store.NewKeys(c.Namespace)}
	if u, err := url.Parse(c.URL.Reveal()); err == nil {
		s.cli += " -p " + u.Port()
	}
	return s
}

// publish adds an event to the requests.
func (s demoShell) publish(kind string, data []byte) string {
	return s.cli + " XADD " + quoted(s.keys.Requests()) + " '*' type " + kind + " data " + quoted(string(data))
}

// await waits for the answer to an approval.
func (s demoShell) await(id string) string {
	return s.cli + " XREAD BLOCK 0 STREAMS " + quoted(s.keys.Answer(id)) + " 0"
}

// claim claims an approved call, which takes a script: it checks, and takes what nobody
// else has, in one step.
func (s demoShell) claim(id, pin, by string, event []byte) string {
	return s.cli + " EVAL " + quoted(withoutComments(queue.ClaimScript())) + " 1 " + quoted(s.keys.Claim(id)) + " " +
		quoted(s.keys.Row(id)) + " " + pin + " " + by + " " + id + "/claimed " + quoted(string(event))
}

// withoutComments leaves out the lines of a script that only explain, and those that are
// empty.
func withoutComments(script string) string {
	var kept []string
	for line := range strings.Lines(script) {
		if text := strings.TrimSpace(line); text != "" && !strings.HasPrefix(text, "--") {
			kept = append(kept, strings.TrimSuffix(line, "\n"))
		}
	}
	return strings.Join(kept, "\n")
}

// quoted makes one word of a text for a POSIX shell.
func quoted(text string) string {
	if strings.Contains(text, "'") && !strings.ContainsAny(text, "\"$`\\!") {
		return `"` + text + `"`
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
