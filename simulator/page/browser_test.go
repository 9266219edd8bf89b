package page_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// patience bounds what a test waits for in a browser, on a machine with much else to do.
const patience = 2 * time.Minute

// A size is that of a window.
type size struct {
	name          string
	width, height int64
}

var (
	phone = size{"phone", 390, 844}
	desk  = size{"desk", 1280, 800}
)

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

// openBrowser starts a browser, for tabs that share it.
func openBrowser(t *testing.T, path string) context.Context {
	t.Helper()
	ctx, stop := chromedp.NewExecAllocator(context.Background(),
		chromedp.ExecPath(path), chromedp.UserDataDir(t.TempDir()),
		chromedp.NoFirstRun, chromedp.NoDefaultBrowserCheck, chromedp.Headless, chromedp.DisableGPU, chromedp.NoSandbox,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true),
		chromedp.Flag("disable-dev-shm-usage", true))
	browser, closeBrowser := chromedp.NewContext(ctx)
	t.Cleanup(func() {
		if err := chromedp.Cancel(browser); err != nil {
			t.Errorf("close the browser: %v", err)
		}
		closeBrowser()
		stop()
	})
	if err := chromedp.Do(browser); err != nil {
		t.Fatalf("start the browser: %v", err)
	}
	return browser
}

// A tab shows the page to one person in a window of its own.
type tab struct {
	t   *testing.T
	ctx context.Context
}

// openTab shows the page at an address below its root. Whatever the page complains about
// fails the test.
func openTab(t *testing.T, browser context.Context, h http.Handler, s size, at string) tab {
	t.Helper()
	server := httptest.NewServer(h)
	ctx, closeTab := chromedp.NewContext(browser, chromedp.WithNewBrowserContext())
	complained := make(chan struct{})
	t.Cleanup(func() {
		if err := chromedp.Cancel(ctx); err != nil {
			t.Errorf("close the tab: %v", err)
		}
		closeTab()
		<-complained
		server.CloseClientConnections() // the stream would hold up Close
		server.Close()
	})
	messages := chromedp.Console(ctx)
	go func() {
		defer close(complained)
		for m, err := range messages {
			if err != nil {
				return // the tab is closed
			}
			// What the server declines is told to the person; the browser notes it besides.
			if m.IsException() || m.Type == "error" && !strings.Contains(m.String(), "409 (Conflict)") {
				t.Errorf("the page complains: %s", m)
			}
		}
	}()
	kind := chromedp.EmulateLandscape
	if s.width < s.height {
		kind = chromedp.EmulateMobile
	}
	limited, cancel := context.WithTimeout(ctx, patience)
	t.Cleanup(cancel)
	if err := chromedp.Do(limited, chromedp.EmulateViewport(s.width, s.height, kind, chromedp.EmulateTouch), chromedp.Navigate(server.URL+"/"+at)); err != nil {
		t.Fatalf("open the page: %v", err)
	}
	b := tab{t, limited}
	b.until(`document.querySelectorAll('.chat').length > 0`)
	return b
}

// do runs a script.
func (b tab) do(script string) {
	b.t.Helper()
	if _, err := chromedp.Run(b.ctx, chromedp.Evaluate[chromedp.Void]("(() => { "+script+"; })()")); err != nil {
		b.t.Fatalf("%s: %v", script, err)
	}
}

// until waits until an expression is true.
func (b tab) until(expression string) {
	b.t.Helper()
	if _, err := chromedp.Run(b.ctx, chromedp.Poll[bool](expression, chromedp.WithPollingTimeout(0))); err != nil {
		b.t.Fatalf("it never holds that %s: %v", expression, err)
	}
}

// text returns what an expression is.
func (b tab) text(expression string) string {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[string](expression))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// keys presses keys, where the focus is.
func (b tab) keys(keys string, modifiers ...kb.Modifier) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, chromedp.KeyEvent(keys, chromedp.KeyModifiers(modifiers...))); err != nil {
		b.t.Fatalf("press %q: %v", keys, err)
	}
}

// key presses Enter or the key of a letter, without the character that keys sends besides:
// it would be typed wherever the focus has gone.
func (b tab) key(name string) {
	b.t.Helper()
	code := int64(strings.ToUpper(name)[0])
	if name == "Enter" {
		code = '\r'
	}
	for _, kind := range []input.DispatchKeyEventType{input.DispatchKeyEventTypeRawKeyDown, input.DispatchKeyEventTypeKeyUp} {
		p := input.DispatchKeyEventParams{Type: kind, Key: name, Code: name, WindowsVirtualKeyCode: code}
		if _, err := chromedp.Call(b.ctx, input.DispatchKeyEvent, p); err != nil {
			b.t.Fatalf("press %s: %v", name, err)
		}
	}
}

// swipe draws a finger to the left over what a selector finds.
func (b tab) swipe(selector string, far float64) {
	b.t.Helper()
	box, err := chromedp.Run(b.ctx, chromedp.Evaluate[struct{ X, Y float64 }](`(() => {
		const r = document.querySelector('`+selector+`').getBoundingClientRect();
		return {X: r.right - 30, Y: r.top + Math.min(20, r.height / 2)};
	})()`))
	if err != nil {
		b.t.Fatalf("find %s: %v", selector, err)
	}
	touch := func(kind input.DispatchTouchEventType, points ...*input.TouchPoint) {
		b.t.Helper()
		if points == nil {
			points = []*input.TouchPoint{}
		}
		if _, err := chromedp.Call(b.ctx, input.DispatchTouchEvent, input.DispatchTouchEventParams{Type: kind, TouchPoints: points}); err != nil {
			b.t.Fatalf("%s: %v", kind, err)
		}
	}
	touch("touchStart", &input.TouchPoint{X: box.X, Y: box.Y})
	for step := 1.0; step <= 8; step++ {
		touch("touchMove", &input.TouchPoint{X: box.X - far*step/8, Y: box.Y})
	}
	touch("touchEnd")
}
