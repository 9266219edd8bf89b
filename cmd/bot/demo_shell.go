package main

import (
	"net/url"
	"strings"

	"countersign/config"
	"countersign/store"
)

// A demoShell writes the commands that would do what the runtimes do, for whoever wants
// to try the queue by hand.
type demoShell struct {
	address string // of Redis
	cli     string // redis-cli and how it reaches Redis
	ns      string
	keys    store.Keys
}

func newDemoShell(c config.Redis) demoShell {
	address := c.URL.Reveal()
	s := demoShell{address: address, cli: "redis-cli", ns: c.Namespace, keys: store.NewKeys(c.Namespace)}
	if u, err := url.Parse(address); err == nil {
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

// follow reads all answers and undo requests, the newest first.
func (s demoShell) follow() string {
	return s.cli + " XREVRANGE " + quoted(s.keys.Answers()) + " + - COUNT 1"
}

// claim claims an approved call, which takes a script.
func (s demoShell) claim(id, pin, by string) string {
	return "countersign claim " + id + " --pin " + pin + " --by " + quoted(by) + " --redis " + s.address + " --namespace " + s.ns
}

// quoted makes one word of a text for a POSIX shell.
func quoted(text string) string {
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
