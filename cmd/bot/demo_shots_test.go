package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// A shot is a picture of the documentation: what a guide does before it is taken.
type shot struct {
	name   string
	screen screen
	show   func(*guide)
}

// shots are the pictures of docs/, each of which is taken by day and by night.
func shots() []shot {
	desk := screen{name: "desk", width: 1280, height: 800, scale: 1.5}
	phone := screen{name: "phone", width: 390, height: 844, scale: 2}
	return []shot{
		{"card", desk, func(g *guide) { g.be(demoAnn, demoAnn); g.ask("trash", "Trash 3 emails") }},
		{"confirm", phone, func(g *guide) {
			g.be(demoAnn, demoAnn)
			g.ask("trash", "Trash 3 emails")
			g.tap("Trash 3 emails", "Trash 3 emails", "Ann, tap Yes")
		}},
		{"undo", phone, func(g *guide) {
			g.be(demoAnn, demoAnn)
			g.ask("trash", "Trash 3 emails")
			g.tap("Trash 3 emails", "Trash 3 emails", "Ann, tap Yes")
			g.tap("Trash 3 emails", "Yes", "Undo until")
		}},
		{"lapse", phone, func(g *guide) {
			g.be(demoAnn, demoAnn)
			g.ask("brief", "On my way")
			g.sees("nothing was changed, sent or deleted")
		}},
		{"group", desk, func(g *guide) {
			g.be(demoAnn, demoPayments)
			g.ask("payment", "Pay invoice")
			g.tap("Pay invoice", "Pay 4,800", "Ann, tap Yes")
			g.tap("Pay invoice", "Yes", "1 of 2: Ann")
			g.be(demoOlga, demoPayments)
			g.tap("Pay invoice", "Pay 4,800", "Olga, tap Yes")
		}},
		{"list", phone, func(g *guide) {
			g.be(demoAnn, demoAnn)
			g.ask("many", "Archive 308 emails")
			g.tap("Archive 308 emails", "▶", "page 2 of")
		}},
	}
}

// TestShots takes the pictures of docs/ into the folder that COUNTERSIGN_SHOTS names.
// Without it, it keeps the pictures in step with this list: each is there.
func TestShots(t *testing.T) {
	dir := os.Getenv("COUNTERSIGN_SHOTS")
	if dir == "" {
		for _, s := range shots() {
			for _, light := range []string{"light", "dark"} {
				if _, err := os.Stat(filepath.Join("../../docs", s.file(light))); err != nil {
					t.Error(err)
				}
			}
		}
		return
	}
	path := findBrowser(t)
	if path == "" {
		t.Fatal("there is no Chromium on the PATH")
	}
	browser := openBrowser(t, path)
	for _, s := range shots() {
		t.Run(s.name, func(t *testing.T) {
			pace := hurried()
			pace.brief = unhurried().brief // it can be read in the pictures
			d, address := startDemoAt(t, pace)
			v := newBrowserVisitor(t, browser, address, s.screen)
			ctx, cancel := context.WithTimeout(v.tab, tourWithin)
			defer cancel()
			g := &guide{t: t, ctx: ctx, v: v}
			g.part("Bot", "up")
			s.show(g)
			for _, light := range []string{"light", "dark"} {
				g.must(v.compose(ctx, light), "compose")
				g.must(v.picture(ctx, filepath.Join(dir, s.file(light))), "take the picture")
			}
			for _, r := range d.sim.Refusals() {
				t.Errorf("refused: %+v", r)
			}
		})
	}
}

func (s shot) file(light string) string { return fmt.Sprintf("%s-%s.png", s.name, light) }

// compose sets the light, and takes away what is only there for a moment or a pointer.
func (v *browserVisitor) compose(ctx context.Context, light string) error {
	return v.poll(ctx, `(() => {
		document.documentElement.dataset.theme = `+jsText(light)+`;
		for (const toast of document.querySelectorAll('.toast')) toast.remove();
		document.activeElement?.blur();
		const scroll = document.getElementById('scroll');
		scroll.scrollTop = scroll.scrollHeight;
		return true;
	})()`)
}
