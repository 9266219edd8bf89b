package main

import (
	"context"
	"errors"
	"testing"
	"time"
)

// A visitor uses the demo's page: one person at a time, in one chat.
type visitor interface {
	// under returns what a visitor's steps are made under, where that is not ctx itself.
	under(ctx context.Context) context.Context
	// be becomes somebody and opens a chat, or a topic of it.
	be(ctx context.Context, person, chat int64, thread int) error
	// press lets a sample runtime ask.
	press(ctx context.Context, sample string) error
	// strike brings a fault about, or ends it.
	strike(ctx context.Context, fault string) error
	// tap taps the button that begins with a text, under the newest card with another.
	tap(ctx context.Context, card, button string) error
	// sees waits until a card of the bot holds a text.
	sees(ctx context.Context, text string) error
	// asked waits until a card that can be answered holds a text.
	asked(ctx context.Context, text string) error
	// told waits until the answer to the newest tap holds a text.
	told(ctx context.Context, text string) error
	// decision waits for the answer to a sample, as the runtimes' panel shows it.
	decision(ctx context.Context, sample string) (string, error)
	// part waits until a part of the whole is in a state.
	part(ctx context.Context, name, state string) error
	// happened waits until the page says that something has happened.
	happened(ctx context.Context, text string) error
}

// TestChromium drives every sample and every fault as the right people, in a browser as
// wide as a phone and as a desk. Without a browser the same goes over the page's API.
func TestChromium(t *testing.T) {
	path := findBrowser(t)
	if path == "" {
		t.Run("api", func(t *testing.T) {
			tour(t, func(d *demo, address string) visitor { return newAPIVisitor(d, address) })
		})
		return
	}
	browser := openBrowser(t, path)
	for _, s := range screens() {
		t.Run(s.name, func(t *testing.T) {
			tour(t, func(_ *demo, address string) visitor { return newBrowserVisitor(t, browser, address, s) })
		})
	}
}

// tourWithin bounds a tour on a slow machine, and stepWithin a step of it.
const (
	tourWithin = 4 * time.Minute
	stepWithin = 40 * time.Second
)

// tour shows a visitor everything that there is in one demo.
func tour(t *testing.T, enter func(d *demo, address string) visitor) {
	d, address := startDemo(t)
	v := enter(d, address)
	ctx, cancel := context.WithTimeout(v.under(t.Context()), tourWithin)
	defer cancel()
	g := &guide{t: t, ctx: ctx, v: v}
	for _, stop := range []struct {
		name string
		show func(*guide)
	}{
		{"lapse", (*guide).lapse},
		{"undo", (*guide).undo},
		{"reject", (*guide).reject},
		{"second owner", (*guide).secondOwner},
		{"halt", (*guide).halt},
		{"many lines", (*guide).many},
		{"quorum", (*guide).quorum},
		{"hostile", (*guide).hostile},
		{"malformed", (*guide).malformed},
		{"lapsed", (*guide).lapsed},
		{"slow", (*guide).slow},
		{"flood", (*guide).flood},
		{"block", (*guide).block},
		{"redis", (*guide).redis},
		{"kill", (*guide).kill},
	} {
		began := time.Now()
		stop.show(g)
		t.Logf("%s took %.1f s", stop.name, time.Since(began).Seconds())
	}
	for _, r := range d.sim.Refusals() {
		t.Errorf("refused: %+v", r)
	}
}

// A guide leads a visitor, and fails the test where the visitor cannot follow.
type guide struct {
	t   *testing.T
	ctx context.Context
	v   visitor
}

func (g *guide) must(err error, what string) {
	g.t.Helper()
	if err != nil {
		g.t.Fatalf("%s: %v", what, err)
	}
}

func (g *guide) be(person, chat int64) {
	g.t.Helper()
	g.must(g.v.be(g.ctx, person, chat, 0), "be somebody")
}

// ask lets a sample ask and waits for its card, in the open chat.
func (g *guide) ask(sample, card string) {
	g.t.Helper()
	g.must(g.v.press(g.ctx, sample), "press "+sample)
	g.asked(card)
}

func (g *guide) sees(text string) {
	g.t.Helper()
	ctx, cancel := context.WithTimeout(g.ctx, stepWithin)
	defer cancel()
	g.must(g.v.sees(ctx, text), "see "+text)
}

func (g *guide) asked(text string) {
	g.t.Helper()
	ctx, cancel := context.WithTimeout(g.ctx, stepWithin)
	defer cancel()
	g.must(g.v.asked(ctx, text), "be asked "+text)
}

func (g *guide) decided(sample, want string) {
	g.t.Helper()
	if got, err := g.v.decision(g.ctx, sample); err != nil || got != want {
		g.t.Fatalf("%s was %q, %v, want %s", sample, got, err, want)
	}
}

// tap taps until something is seen. A test is quicker than a person: it may tap what the
// bot has sent but not yet noted as sent, which does not count.
func (g *guide) tap(card, button, then string) {
	g.t.Helper()
	g.insist(card, button, func(ctx context.Context) error { return g.v.sees(ctx, then) }, then)
}

// refused taps in vain, and is told why.
func (g *guide) refused(card, button, why string) {
	g.t.Helper()
	g.insist(card, button, func(ctx context.Context) error { return g.v.told(ctx, why) }, why)
}

func (g *guide) insist(card, button string, seen func(context.Context) error, what string) {
	g.t.Helper()
	within, done := context.WithTimeout(g.ctx, stepWithin)
	defer done()
	soon := func(f func(context.Context) error) error {
		ctx, cancel := context.WithTimeout(within, 4*time.Second)
		defer cancel()
		return f(ctx)
	}
	for {
		// It fails also where the button is gone because it has worked.
		tapped := soon(func(ctx context.Context) error { return g.v.tap(ctx, card, button) })
		err := soon(seen)
		if err == nil {
			return
		}
		if within.Err() != nil {
			g.t.Fatalf("tap %q to see %q: %v", button, what, errors.Join(tapped, err))
		}
	}
}

func (g *guide) part(name, state string) {
	g.t.Helper()
	ctx, cancel := context.WithTimeout(g.ctx, stepWithin)
	defer cancel()
	g.must(g.v.part(ctx, name, state), name+" "+state)
}

func (g *guide) strike(fault string) {
	g.t.Helper()
	g.must(g.v.strike(g.ctx, fault), "press the fault "+fault)
}
