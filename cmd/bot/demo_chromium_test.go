package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// A visitor uses the demo's page.
type visitor interface {
	// press lets a sample runtime ask.
	press(ctx context.Context, sample string) error
	// tap taps the button that begins with a text, under the newest card with another.
	tap(ctx context.Context, card, button string) error
	// sees waits until a card of the bot holds a text.
	sees(ctx context.Context, text string) error
	// decision waits for the answer to a sample, as the runtimes' panel shows it.
	decision(ctx context.Context, sample string) (string, error)
	// picture saves what can be seen.
	picture(ctx context.Context, name string) error
}

// TestChromium drives the page in a browser: a request, the action, Yes, the answer, and
// a rejection, as wide as a phone and as a desk. Without a browser the same goes over the
// page's API. With COUNTERSIGN_REQUIRE_CHROMIUM=1 a browser must be there; pictures are
// saved into the folder that COUNTERSIGN_SHOTS names.
func TestChromium(t *testing.T) {
	browser := findBrowser()
	if browser == "" && os.Getenv("COUNTERSIGN_REQUIRE_CHROMIUM") == "1" {
		t.Fatal("there is no Chromium on the PATH")
	}
	for _, size := range []struct {
		name          string
		width, height int64
	}{{"phone", 390, 844}, {"desk", 1280, 800}} {
		t.Run(size.name, func(t *testing.T) {
			d, address := startDemo(t)
			var v visitor = &apiVisitor{address: address, demo: d}
			if browser != "" {
				v = newBrowserVisitor(t, browser, address, size.name, size.width, size.height)
			}
			ctx, cancel := context.WithTimeout(contextOf(t, v), patience)
			defer cancel()
			visit(ctx, t, v)
			for _, r := range d.sim.Refusals() {
				t.Errorf("refused: %+v", r)
			}
		})
	}
}

// visit is what the test does, whoever does it.
func visit(ctx context.Context, t *testing.T, v visitor) {
	t.Helper()
	press := func(sample string) {
		t.Helper()
		if err := v.press(ctx, sample); err != nil {
			t.Fatalf("press %s: %v", sample, err)
		}
	}
	tap := func(card, button, then string) {
		t.Helper()
		if err := insist(ctx,
			func(ctx context.Context) error { return v.tap(ctx, card, button) },
			func(ctx context.Context) error { return v.sees(ctx, then) },
		); err != nil {
			t.Fatalf("tap %q to see %q: %v", button, then, err)
		}
	}
	decided := func(sample, want string) {
		t.Helper()
		got, err := v.decision(ctx, sample)
		if err != nil || got != want {
			t.Fatalf("%s was %q, %v, want %s", sample, got, err, want)
		}
		if err := v.picture(ctx, sample); err != nil {
			t.Error(err)
		}
	}
	press("trash")
	if err := v.sees(ctx, "Trash 3 emails"); err != nil {
		t.Fatalf("see the card: %v", err)
	}
	if err := v.picture(ctx, "card"); err != nil { // that of the desk is docs/card.png
		t.Error(err)
	}
	tap("Trash 3 emails", "Trash 3 emails", "Ann, tap Yes")
	tap("Trash 3 emails", "Yes", "Approved by Ann")
	decided("trash", "approved")
	tap("Approved by Ann", "Undo", "Undone")

	press("mail")
	tap("Send an email", "Exact call", "Dinner on Friday")
	tap("Send an email", "Reject", "Rejected by Ann")
	decided("mail", "rejected")
}

// insist acts until something is seen. A test is quicker than a person: it may tap what
// the bot has sent but not yet noted as sent, which does not count.
func insist(ctx context.Context, act, seen func(context.Context) error) error {
	soon := func(f func(context.Context) error) error {
		ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
		defer cancel()
		return f(ctx)
	}
	for {
		acted := soon(act) // fails also where the button is gone because it has worked
		err := soon(seen)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return errors.Join(acted, err)
		}
	}
}

// findBrowser returns the path of a Chromium, or nothing.
func findBrowser() string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// browserVisitor uses the page as it is drawn.
type browserVisitor struct {
	tab  context.Context
	size string
}

func newBrowserVisitor(t *testing.T, path, address, size string, width, height int64) *browserVisitor {
	t.Helper()
	ctx, stop := chromedp.NewExecAllocator(context.Background(),
		chromedp.ExecPath(path), chromedp.UserDataDir(t.TempDir()),
		chromedp.NoFirstRun, chromedp.NoDefaultBrowserCheck, chromedp.Headless, chromedp.DisableGPU, chromedp.NoSandbox,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true),
		chromedp.Flag("disable-dev-shm-usage", true))
	tab, closeTab := chromedp.NewContext(ctx)
	complained := make(chan struct{})
	t.Cleanup(func() {
		if err := chromedp.Cancel(tab); err != nil {
			t.Errorf("close the browser: %v", err)
		}
		closeTab()
		stop()
		<-complained
	})
	v := &browserVisitor{tab: tab, size: size}
	messages := chromedp.Console(tab)
	go func() {
		defer close(complained)
		for m, err := range messages {
			if err != nil {
				return // the browser is closed
			}
			if m.IsException() || m.Type == "error" {
				t.Errorf("the page complains: %s", m)
			}
		}
	}()
	mobile := chromedp.EmulateLandscape
	if width < height {
		mobile = chromedp.EmulateMobile
	}
	if err := chromedp.Do(tab, chromedp.EmulateViewport(width, height, mobile), chromedp.Navigate(address)); err != nil {
		t.Fatalf("open the page: %v", err)
	}
	return v
}

// contextOf is what a visitor's steps are made under: a browser's is its tab.
func contextOf(t *testing.T, v visitor) context.Context {
	if b, ok := v.(*browserVisitor); ok {
		return b.tab
	}
	return t.Context()
}

func (v *browserVisitor) press(ctx context.Context, sample string) error {
	// Where the runtimes are out of sight, a button opens them.
	return v.poll(ctx, `(() => {
		const sample = document.querySelector('.sample[data-name="`+sample+`"]');
		if (!sample) return false;
		if (sample.checkVisibility({visibilityProperty: true})) { sample.click(); return true; }
		const show = ['show-runtimes', 'show-runtimes-list'].map((id) => document.getElementById(id)).find((b) => b.checkVisibility());
		show?.click();
		return false;
	})()`)
}

func (v *browserVisitor) tap(ctx context.Context, card, button string) error {
	// A button counts only where a finger would reach it.
	return v.poll(ctx, fmt.Sprintf(`(() => {
		const card = [...document.querySelectorAll('.message')].reverse().find((m) => m.textContent.includes(%s));
		const key = card && [...card.querySelectorAll('.key')].find((k) => k.textContent.startsWith(%s));
		if (!key || key.classList.contains('busy')) return false;
		key.scrollIntoView({block: 'center', behavior: 'instant'});
		const r = key.getBoundingClientRect();
		const top = document.elementFromPoint(r.left + r.width / 2, r.top + r.height / 2);
		if (top?.closest('.key') !== key) return false;
		key.click();
		return true;
	})()`, strconv.Quote(card), strconv.Quote(button)))
}

func (v *browserVisitor) sees(ctx context.Context, text string) error {
	return v.poll(ctx, `[...document.querySelectorAll('.message:not(.own)')].some((m) => m.textContent.includes(`+strconv.Quote(text)+`))`)
}

func (v *browserVisitor) decision(ctx context.Context, sample string) (string, error) {
	return chromedp.Run(ctx, chromedp.Poll[string](
		`document.querySelector('.entry[data-step="answered"][data-id^="demo-`+sample+`-"]')?.dataset.decision`))
}

func (v *browserVisitor) picture(ctx context.Context, name string) error {
	dir := os.Getenv("COUNTERSIGN_SHOTS")
	if dir == "" {
		return nil
	}
	if err := v.poll(ctx, `document.getAnimations().length === 0`); err != nil { // all has come to rest
		return err
	}
	png, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "demo-"+v.size+"-"+name+".png"), png, 0o644)
}

// poll waits until an expression is true.
func (v *browserVisitor) poll(ctx context.Context, expression string) error {
	_, err := chromedp.Run(ctx, chromedp.Poll[bool](expression))
	return err
}
