package main

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"countersign/store"
)

// errDead is what a dead bot gets of everything.
var errDead = errors.New("killed")

// A life is what a bot has of Redis and Telegram until it ends. It knows every
// command and call by name, so that it can be ended at any of them.
type life struct {
	// at is asked at each step, by its name, what becomes of it; one at a time. Nil
	// lets everything through.
	at    func(name string) ending
	fault error // of a step that fails; nil: errDead

	mu    sync.Mutex // guards what follows
	over  bool
	ended chan struct{} // closed with the end; may be nil
	steps []string
	air   int // messages that Telegram took, and that were not recorded when the end came
}

// unrecorded is how many messages Telegram had taken, when the end came, that
// were not recorded.
func (l *life) unrecorded() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.air
}

// took notes that Telegram took a message.
func (l *life) took() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.air++
}

// recorded notes which commands recorded a message that Telegram took.
func (l *life) recorded(cs ...redis.Cmder) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range cs {
		const what = 3 + 6 + 4 // of sent.lua: after the name, the digest, six keys and four more
		args := c.Args()
		message := commandName(c) == "sent.lua" && len(args) > what && args[what] != store.AnEdit
		if l.air > 0 && (message || c.Name() == "zrem") {
			l.air--
		}
	}
}

// An ending is what becomes of one step.
type ending int

const (
	goesOn ending = iota
	killedBefore
	killedAfter // it still has its effect, but nobody hears of it
	panics
	fails // nothing else happens to the bot
)

func (l *life) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.finish()
}

func (l *life) finish() {
	if !l.over && l.ended != nil {
		close(l.ended)
	}
	l.over = true
}

func (l *life) alive() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.over
}

// names are those of the steps so far.
func (l *life) names() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.steps...)
}

func (l *life) step(name string, do func() error) error { return l.together([]string{name}, do) }

// together is step for several that go at once, and end together.
func (l *life) together(names []string, do func() error) error {
	l.mu.Lock()
	if l.over {
		l.mu.Unlock()
		return errDead
	}
	becomes := goesOn
	for _, name := range names {
		if strings.HasPrefix(name, "hello") || strings.HasPrefix(name, "client") { // of a new connection
			continue
		}
		l.steps = append(l.steps, name)
		if l.at != nil && becomes == goesOn {
			becomes = l.at(name)
		}
	}
	if becomes == killedBefore || becomes == killedAfter {
		l.finish()
	}
	l.mu.Unlock()
	switch becomes {
	case killedBefore:
		return errDead
	case fails:
		if l.fault != nil {
			return l.fault
		}
		return errDead
	case killedAfter:
		_ = do()
		return errDead
	case panics:
		panic("a panic of the test at " + strings.Join(names, ", "))
	}
	return do()
}

// DialHook implements redis.Hook.
func (l *life) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook implements redis.Hook.
func (l *life) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, c redis.Cmder) error {
		err := l.step(commandName(c), func() error {
			err := next(ctx, c)
			if err == nil {
				l.recorded(c)
			}
			return err
		})
		if err != nil {
			c.SetErr(err)
		}
		return err
	}
}

// ProcessPipelineHook implements redis.Hook.
func (l *life) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cs []redis.Cmder) error {
		var names []string
		for _, c := range cs {
			names = append(names, commandName(c))
		}
		do := func() error {
			err := next(ctx, cs)
			if err == nil {
				l.recorded(cs...)
			}
			return err
		}
		if alone := func(name string) bool { return !strings.HasSuffix(name, ".lua") }; !slices.ContainsFunc(names, alone) {
			return l.together(names, do) // scripts of several callers, which happened to go at once
		}
		return l.step(strings.Join(slices.Compact(names), "+"), do)
	}
}

// mortalTransport carries calls to Telegram while a bot lives.
type mortalTransport struct {
	next http.RoundTripper
	life *life
}

// RoundTrip implements [http.RoundTripper].
func (m mortalTransport) RoundTrip(r *http.Request) (answer *http.Response, err error) {
	name := r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]
	serr := m.life.step(name, func() error {
		answer, err = m.next.RoundTrip(r) //nolint:bodyclose // the transport hands it to its caller
		if err == nil && name == "sendMessage" {
			m.life.took()
		}
		return err
	})
	if serr != nil && err == nil {
		if answer != nil {
			_ = answer.Body.Close()
		}
		return nil, serr
	}
	return answer, err
}

// isCall reports whether a step is a call to Telegram, and none to Redis.
func isCall(name string) bool { return name != strings.ToLower(name) }

// commandName is a command to Redis as it is known here: a script by its file.
func commandName(c redis.Cmder) string {
	args := c.Args()
	if name := c.Name(); (name == "evalsha" || name == "eval") && len(args) > 1 {
		text, _ := args[1].(string)
		if name == "eval" {
			sum := sha1.Sum([]byte(text))
			text = hex.EncodeToString(sum[:])
		}
		if script := scriptNames()[text]; script != "" {
			return script
		}
		return name
	}
	if c.Name() == "xgroup" || c.Name() == "xinfo" {
		sub, _ := args[1].(string)
		return c.Name() + " " + sub
	}
	return c.Name()
}

// scriptNames leads from the digest of a script to its name.
var scriptNames = sync.OnceValue(func() map[string]string {
	names, err := store.ScriptNames()
	if err != nil {
		panic(err)
	}
	for _, name := range []string{"tidy.lua", "claim.lua", "lost.lua"} {
		text, err := os.ReadFile("../../queue/" + name)
		if err != nil {
			panic(err)
		}
		sum := sha1.Sum(text)
		names[hex.EncodeToString(sum[:])] = name
	}
	return names
})

// bubbleLog keeps what was logged, and when.
type bubbleLog struct {
	mu    sync.Mutex // guards lines
	lines []loggedLine
}

type loggedLine struct {
	Level, Message string
	at             time.Time
	text           string
}

// Write keeps one line.
func (l *bubbleLog) Write(p []byte) (int, error) {
	line := loggedLine{at: time.Now(), text: string(p)}
	if err := json.Unmarshal(p, &line); err != nil {
		return 0, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, line)
	return len(p), nil
}

// all are the lines so far.
func (l *bubbleLog) all() []loggedLine {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]loggedLine(nil), l.lines...)
}

// count is how many lines hold a text.
func (l *bubbleLog) count(text string) (n int) {
	for _, line := range l.all() {
		if strings.Contains(line.text, text) {
			n++
		}
	}
	return n
}
