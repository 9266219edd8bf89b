// Package setup is the guided start: a conversation at a terminal that ends with a
// configuration.
//
// # What it promises
//
//   - Nothing is written before the end, nothing is overwritten unasked, and what is
//     written can be read by its owner alone (0600). Token and a Redis password get files
//     of their own, so that the configuration can be shown around.
//   - The owner is whoever sends the code that the terminal shows, and who is confirmed
//     there: not who happened to write first. Others who wrote are named.
//   - No update is confirmed to Telegram and no setting of the bot is changed. What was
//     sent meanwhile comes to the bot when it starts. Another program that polls with the
//     token is told so by one error (409), and goes on; so it is said first what is known
//     of it.
//   - The token is never shown.
//
// The caller asks Redis and Telegram on its behalf, gives it a terminal, and writes what
// comes of it with [Result.Write].
package setup

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"countersign/config"
	"countersign/telegram"
)

// Terminal is where somebody is asked. Both Ask and AskUnseen return one line without
// its end, and fail when ctx ends or the input does.
type Terminal interface {
	Say(line string)
	Ask(ctx context.Context, prompt string) (string, error)
	AskUnseen(ctx context.Context, prompt string) (string, error) // does not show what is typed
}

// Telegram is what is asked of the Bot API. A [telegram.Client] is one.
type Telegram interface {
	Me(ctx context.Context) (telegram.Me, error)
	WebhookInfo(ctx context.Context) (telegram.WebhookInfo, error)
	Peek(ctx context.Context, timeout time.Duration, limit int) ([]telegram.RawUpdate, error)
}

// A RedisAnswer is what a Redis says of itself.
type RedisAnswer struct {
	Version string // "" where it does not tell
	Served  bool   // a bot serves the queue there already
}

// Options are what a conversation needs.
type Options struct {
	Terminal Terminal
	// Bot makes a client for a token. It calls nobody; the error says what a token looks like.
	Bot func(token string) (Telegram, error)
	// Redis asks the Redis at an address about a queue.
	Redis func(ctx context.Context, address, namespace string) (RedisAnswer, error)
	// Exists reports whether there is a file at a path.
	Exists func(path string) bool
	// Absolute makes a path absolute.
	Absolute func(path string) (string, error)

	APIURL  string        // of the Bot API server; "": Telegram's
	Code    string        // what the owner sends; made for this run, and not to be guessed
	Output  string        // where the configuration goes unless somebody says otherwise
	WaitFor time.Duration // how long it is waited for the code before asking whether to wait on
}

// A Result is what was agreed on, not yet written.
type Result struct {
	Path    string // of the configuration
	Replace bool   // what is there may be overwritten
	files   []file // the configuration last
}

// errNo is somebody's no.
var errNo = errors.New("stopped, as you said")

// Run holds the conversation. An error means that nothing came of it.
func Run(ctx context.Context, o Options) (Result, error) {
	g := &guide{Options: o, ctx: ctx}
	for _, step := range []func() error{g.askToken, g.askHook, g.askOwner, g.askRedis, g.askPath} {
		if err := step(); err != nil {
			return Result{}, err
		}
	}
	return g.result()
}

// A guide is the state of one conversation.
type guide struct {
	Options
	ctx context.Context

	token     string
	bot       Telegram
	me        telegram.Me
	deaf      string // why what is sent to the bot does not come here; "" where it may
	owner     config.Person
	address   string
	namespace string
	path      string
	replace   bool
}

func (g *guide) say(format string, args ...any) { g.Terminal.Say(fmt.Sprintf(format, args...)) }

// ask asks with a default, "" for none.
func (g *guide) ask(prompt, otherwise string) (string, error) {
	if otherwise != "" {
		prompt += " [" + otherwise + "]"
	}
	line, err := g.Terminal.Ask(g.ctx, prompt+": ")
	if line = strings.TrimSpace(line); line == "" {
		line = otherwise
	}
	return line, err
}

// confirm asks for yes or no. Nothing typed is what otherwise says.
func (g *guide) confirm(question string, otherwise bool) (bool, error) {
	hint := " [y/N]: "
	if otherwise {
		hint = " [Y/n]: "
	}
	for {
		line, err := g.Terminal.Ask(g.ctx, question+hint)
		if err != nil {
			return false, err
		}
		switch strings.ToLower(strings.TrimSpace(line)) {
		case "":
			return otherwise, nil
		case "y", "yes":
			return true, nil
		case "n", "no":
			return false, nil
		}
		g.say("Please type y or n.")
	}
}

// askToken asks until Telegram knows the token.
func (g *guide) askToken() error {
	g.say("This writes a configuration for Countersign. Nothing is written before the end; Ctrl-C stops.")
	g.say("")
	g.say("1. The bot. Make one with @BotFather in Telegram (/newbot), and paste its token.")
	for {
		line, err := g.Terminal.AskUnseen(g.ctx, "Token (it is not shown): ")
		if err != nil {
			return err
		}
		g.token = strings.TrimSpace(line)
		if g.bot, err = g.Bot(g.token); err == nil {
			g.me, err = g.bot.Me(g.ctx)
		}
		switch e, _ := errors.AsType[*telegram.Error](err); {
		case err == nil:
			g.say("It is that of @%s.", g.me.Username)
			return nil
		case g.ctx.Err() != nil:
			return g.ctx.Err()
		case e != nil && e.Kind == telegram.Unauthorized:
			g.say("Telegram does not know this token. Please paste it again.")
		default:
			g.say("That did not work: %v.", err)
		}
	}
}

// askHook says who else gets the bot's updates, and asks whether to go on.
func (g *guide) askHook() error {
	info, err := g.bot.WebhookInfo(g.ctx)
	if err != nil || info.URL == "" {
		return g.ctx.Err() // what else is wrong shows at the next call
	}
	host := "an unknown host"
	if u, err := url.Parse(info.URL); err == nil && u.Host != "" {
		host = u.Host
	}
	g.deaf = "Telegram delivers what is sent to this bot to " + host
	g.say("%s, by a webhook: another system uses it. Two systems cannot share a bot.", g.deaf)
	on, err := g.confirm("Use this bot all the same? The webhook stays until you delete it", false)
	if err == nil && !on {
		err = errNo
	}
	return err
}

// askRedis asks until a Redis answers at the address, and nobody serves the queue there.
func (g *guide) askRedis() error {
	defaults := config.Default()
	g.namespace = defaults.Redis.Namespace
	g.say("")
	g.say("3. Redis, 7.0 or newer: redis://[user:password@]host:port/database, or rediss:// for TLS.")
	for {
		var err error
		if g.address, err = g.ask("Address", defaults.Redis.URL.Reveal()); err != nil {
			return err
		}
		answer, err := g.Redis(g.ctx, g.address, g.namespace)
		if g.ctx.Err() != nil {
			return g.ctx.Err()
		}
		if err != nil {
			g.say("That did not work: %v.", err)
			continue
		}
		g.say("%s answers.", strings.TrimSpace("Redis "+answer.Version))
		if !answer.Served {
			return nil
		}
		g.say("A bot serves the queue %q there already. Two bots need two queues.", g.namespace)
		if g.namespace, err = g.ask("Name of the new queue", g.namespace+"-2"); err != nil {
			return err
		}
	}
}

// askPath asks where the configuration goes.
func (g *guide) askPath() error {
	g.say("")
	otherwise := g.Output
	for {
		var err error
		if g.path, err = g.ask("4. Write the configuration to", otherwise); err != nil {
			return err
		}
		if folder := filepath.Dir(g.path); folder != "." && !g.Exists(folder) {
			g.say("There is no folder %s.", folder) // better known now than when all is to be written
			continue
		}
		var there []string
		for _, f := range g.files() {
			if g.Exists(f.path) {
				there = append(there, f.path)
			}
		}
		if len(there) == 0 {
			return nil
		}
		g.replace, err = g.confirm(strings.Join(there, " and ")+" exists. Replace it?", false)
		if err != nil || g.replace {
			return err
		}
	}
}

// result checks that what came of it is a configuration.
func (g *guide) result() (Result, error) {
	path, err := g.Absolute(g.path)
	if err != nil {
		return Result{}, err
	}
	r := Result{Path: g.path, Replace: g.replace, files: g.files()}
	for i := range r.files {
		r.files[i].path = filepath.Join(filepath.Dir(path), filepath.Base(r.files[i].path))
	}
	text := g.configuration(r.files)
	r.files = append(r.files[:len(r.files)-1], file{path, text})
	if _, err := config.Parse(g.path, []byte(text), nil); err != nil {
		return Result{}, fmt.Errorf("what was typed makes no good configuration: %w", err)
	}
	return r, nil
}
