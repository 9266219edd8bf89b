package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// A screen is what a visitor looks through.
type screen struct {
	name          string
	width, height int64
	scale         float64 // pixels of the picture for each of the page; default 1
}

// screens are the two that the page is made for.
func screens() []screen {
	return []screen{{name: "phone", width: 390, height: 844}, {name: "desk", width: 1280, height: 800}}
}

// findBrowser returns the path of a Chromium, or nothing. With
// COUNTERSIGN_REQUIRE_CHROMIUM=1 there must be one.
func findBrowser(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if os.Getenv("COUNTERSIGN_REQUIRE_CHROMIUM") == "1" {
		t.Fatal("there is no Chromium on the PATH")
	}
	return ""
}

// openBrowser starts a browser, whose tabs share it, and returns what to open tabs under.
func openBrowser(t *testing.T, path string) context.Context {
	t.Helper()
	ctx, stop := chromedp.NewExecAllocator(context.Background(),
		chromedp.ExecPath(path), chromedp.UserDataDir(t.TempDir()),
		chromedp.NoFirstRun, chromedp.NoDefaultBrowserCheck, chromedp.Headless, chromedp.DisableGPU, chromedp.NoSandbox,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true),
		chromedp.Flag("disable-dev-shm-usage", true), chromedp.Flag("hide-scrollbars", true))
	first, closeFirst := chromedp.NewContext(ctx)
	if err := chromedp.Do(first); err != nil {
		t.Fatalf("start the browser: %v", err)
	}
	t.Cleanup(func() {
		if err := chromedp.Cancel(first); err != nil {
			t.Errorf("close the browser: %v", err)
		}
		closeFirst()
		stop()
	})
	return first
}

// browserVisitor uses the page as it is drawn.
type browserVisitor struct {
	tab     context.Context
	address string
	screen  screen
}

// newBrowserVisitor opens a tab, which fails the test for whatever the page complains of.
func newBrowserVisitor(t *testing.T, browser context.Context, address string, s screen) *browserVisitor {
	t.Helper()
	tab, closeTab := chromedp.NewContext(browser)
	complained := make(chan struct{})
	t.Cleanup(func() {
		if err := chromedp.Cancel(tab); err != nil {
			t.Errorf("close the tab: %v", err)
		}
		closeTab()
		<-complained
	})
	messages := chromedp.Console(tab)
	go func() {
		defer close(complained)
		for m, err := range messages {
			if err != nil {
				return // the tab is closed
			}
			if m.IsException() || m.Type == "error" {
				t.Errorf("the page complains: %s", m)
			}
		}
	}()
	mobile := chromedp.EmulateLandscape
	if s.width < s.height {
		mobile = chromedp.EmulateMobile
	}
	if err := chromedp.Do(tab, chromedp.EmulateViewport(s.width, s.height, mobile, chromedp.EmulateScale(cmp.Or(s.scale, 1))), chromedp.Navigate(address)); err != nil {
		t.Fatalf("open the page: %v", err)
	}
	return &browserVisitor{tab: tab, address: address, screen: s}
}

func (v *browserVisitor) under(context.Context) context.Context { return v.tab }

func (v *browserVisitor) be(ctx context.Context, person, chat int64, thread int) error {
	place := fmt.Sprintf("#chat/%d", chat)
	if thread != 0 {
		place += fmt.Sprintf("/%d", thread)
	}
	if err := chromedp.Do(ctx, chromedp.Navigate(fmt.Sprintf("%s/?as=%d%s", v.address, person, place))); err != nil {
		return err
	}
	// An address that differs by what follows # alone loads nothing.
	return v.poll(ctx, fmt.Sprintf(`document.querySelector('.person[aria-checked="true"]')?.dataset.id === '%d' && location.hash === %q`, person, place))
}

func (v *browserVisitor) press(ctx context.Context, sample string) error {
	return v.inPanel(ctx, `.sample[data-name="`+sample+`"]`)
}

func (v *browserVisitor) strike(ctx context.Context, fault string) error {
	if err := v.poll(ctx, `(() => { const f = document.getElementById('faults'); f.open = true; return !f.hidden; })()`); err != nil {
		return err
	}
	return v.inPanel(ctx, `.fault[data-name="`+fault+`"]:not([aria-disabled="true"], [aria-busy="true"])`)
}

// inPanel clicks something in the runtimes' panel. Where that is out of sight, a button
// opens it.
func (v *browserVisitor) inPanel(ctx context.Context, selector string) error {
	return v.poll(ctx, `(() => {
		const wanted = document.querySelector(`+jsText(selector)+`);
		if (!wanted) return false;
		if (wanted.checkVisibility({visibilityProperty: true})) { wanted.click(); return true; }
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
	})()`, jsText(card), jsText(button)))
}

func (v *browserVisitor) sees(ctx context.Context, text string) error {
	return v.poll(ctx, `[...document.querySelectorAll('.message:not(.own)')].some((m) => m.textContent.includes(`+jsText(text)+`))`)
}

func (v *browserVisitor) asked(ctx context.Context, text string) error {
	return v.poll(ctx, `[...document.querySelectorAll('.message:not(.own)')].some((m) => m.textContent.includes(`+jsText(text)+`)
		&& [...m.querySelectorAll('.key')].some((k) => k.textContent.startsWith('Reject')))`)
}

func (v *browserVisitor) told(ctx context.Context, text string) error {
	return v.poll(ctx, `[...document.querySelectorAll('.toast, dialog[open] #alert-text')].some((m) => m.textContent.includes(`+jsText(text)+`))`)
}

func (v *browserVisitor) part(ctx context.Context, name, state string) error {
	return v.poll(ctx, fmt.Sprintf(`[...document.querySelectorAll('.part')].some((p) => p.textContent.startsWith(%s))`, jsText(name+" "+state)))
}

func (v *browserVisitor) happened(ctx context.Context, text string) error {
	return v.poll(ctx, `document.getElementById('happenings').textContent.includes(`+jsText(text)+`)`)
}

func (v *browserVisitor) decision(ctx context.Context, sample string) (string, error) {
	return chromedp.Run(ctx, chromedp.Poll[string](
		`document.querySelector('.entry[data-step="answered"][data-id^="demo-`+sample+`-"]')?.dataset.decision`))
}

// picture saves what can be seen, once all has come to rest.
func (v *browserVisitor) picture(ctx context.Context, file string) error {
	if err := v.poll(ctx, `document.getAnimations().every((a) => a.effect.getComputedTiming().iterations === Infinity)`); err != nil {
		return err
	}
	png, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Clean(file), png, 0o644)
}

// poll waits until an expression is true.
func (v *browserVisitor) poll(ctx context.Context, expression string) error {
	_, err := chromedp.Run(ctx, chromedp.Poll[bool](expression))
	return err
}

// jsText writes a text as one of JavaScript's.
func jsText(text string) string {
	data, err := json.Marshal(text)
	if err != nil {
		panic("unreachable: a text is always JSON: " + err.Error())
	}
	return strings.ReplaceAll(string(data), "</", `<\/`)
}
