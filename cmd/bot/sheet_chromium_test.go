package main

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"countersign/simulator"
	"countersign/simulator/page"
	"countersign/telegram"
)

// sheetPatience is how long a busy machine may take with all of it.
const sheetPatience = 10 * time.Minute

// quietRuntimes are none: there is only Ann to look.
type quietRuntimes struct{ page.Runtimes }

func (quietRuntimes) People() []page.Person {
	return []page.Person{{ID: demoAnn, Name: "Ann", Role: "owner"}}
}
func (quietRuntimes) Samples() []page.Sample { return nil }

func (quietRuntimes) Log(uint64) ([]page.Entry, <-chan struct{}) { return nil, nil }

// TestSheet sends twelve telling cards as the bot would, and wants the server to take
// each as it was drawn. Where there is a browser, the chat page shows them at phone
// width, light and dark; pictures and the contact sheet docs/cards.jpg go into the
// folder that COUNTERSIGN_SHOTS names.
func TestSheet(t *testing.T) {
	sim := simulator.New(simulator.Options{Now: time.Now})
	t.Cleanup(func() { _ = sim.Close() })
	api, shown := httptest.NewServer(sim), httptest.NewServer(page.New(sim, quietRuntimes{}, nil))
	t.Cleanup(api.Close)
	t.Cleanup(shown.Close)
	client, err := telegram.New(telegram.Config{Token: sim.Token(), APIURL: api.URL, Timeout: sheetPatience})
	if err != nil {
		t.Fatal(err)
	}
	ann, olga := sim.AddUser(demoAnn, "Ann"), sim.AddUser(demoOlga, "Olga")
	ann.Start()
	sim.AddSupergroup(demoPayments, "Payments", ann, olga)
	ctx, cancel := context.WithTimeout(t.Context(), sheetPatience)
	defer cancel()
	all := newPoser(time.Now()).poses()
	sent := make([][]int, len(all))
	for i, p := range all {
		sent[i] = sendPose(ctx, t, client, sim, p)
	}
	for _, r := range sim.Refusals() {
		t.Errorf("refused: %+v", r)
	}
	path := findBrowser(t)
	if path == "" {
		return
	}
	v := newBrowserVisitor(t, openBrowser(t, path), shown.URL, screen{name: "sheet", width: 390, height: 2400})
	ctx, cancel = context.WithTimeout(v.tab, sheetPatience)
	defer cancel()
	pictures := map[string][][]string{"light": make([][]string, len(all)), "dark": make([][]string, len(all))}
	at := int64(0)
	for i, p := range all {
		if p.chat() != at {
			at = p.chat()
			if err := v.be(ctx, demoAnn, at, 0); err != nil {
				t.Fatalf("open chat %d: %v", at, err)
			}
		}
		for theme := range pictures {
			pictures[theme][i] = v.photograph(ctx, t, theme, p, sent[i])
		}
	}
	v.writeSheet(ctx, t, all, pictures)
}

// sendPose sends what a pose shows, and wants it to arrive as it was drawn.
func sendPose(ctx context.Context, t *testing.T, client *telegram.Client, sim *simulator.Server, p pose) []int {
	t.Helper()
	var ids []int
	for _, m := range p.shows {
		out := telegram.Outgoing{Chat: p.chat(), HTML: m.HTML, Plain: m.Plain}
		if len(ids) > 0 {
			out.ReplyTo = ids[0]
		}
		for _, row := range m.Keyboard {
			var buttons []telegram.Button
			for _, b := range row {
				buttons = append(buttons, telegram.Button{Text: b.Text, Data: b.Data, Style: b.Style})
			}
			out.Keyboard = append(out.Keyboard, buttons)
		}
		got, err := client.Send(ctx, out)
		if err != nil {
			t.Fatalf("%s: %v", p.name, err)
		}
		ids = append(ids, got.MessageID)
		posts := sim.BotMessages(out.Chat)
		if last := posts[len(posts)-1]; last.Text != strings.TrimSpace(m.Plain) {
			t.Errorf("%s arrived as\n%s\nwant\n%s", p.name, last.Text, m.Plain)
		}
	}
	return ids
}

// photograph wants the page to show the messages of a pose, and where pictures are
// wanted gives them, as data URLs.
func (v *browserVisitor) photograph(ctx context.Context, t *testing.T, theme string, p pose, messages []int) []string {
	t.Helper()
	var urls []string
	for i, id := range messages {
		ready := fmt.Sprintf(`(() => {
			document.documentElement.dataset.theme = %q;
			const m = document.querySelector('.message[data-id="%d"]');
			m?.scrollIntoView({block: 'center', behavior: 'instant'});
			let log = m?.parentElement; // near its end the page holds on to the end, so go there at once
			while (log && log.scrollHeight <= log.clientHeight) log = log.parentElement;
			if (log && log.scrollHeight - log.clientHeight - log.scrollTop < 300) log.scrollTop = log.scrollHeight;
			return !!m && document.getAnimations().every((a) => a.effect.getComputedTiming().iterations === Infinity);
		})()`, theme, id)
		if err := v.poll(ctx, ready); err != nil {
			t.Fatalf("%s: see message %d: %v", p.name, id, err)
		}
		if os.Getenv("COUNTERSIGN_SHOTS") == "" {
			continue
		}
		png, err := chromedp.Run(ctx, chromedp.Screenshot(fmt.Sprintf(`.message[data-id="%d"]`, id)))
		if err != nil {
			t.Fatalf("%s: %v", p.name, err)
		}
		keepPicture(t, fmt.Sprintf("card-%s-%s-%d.png", p.name, theme, i+1), png)
		urls = append(urls, "data:image/png;base64,"+base64.StdEncoding.EncodeToString(png))
	}
	return urls
}

// writeSheet puts all pictures on one.
func (v *browserVisitor) writeSheet(ctx context.Context, t *testing.T, all []pose, pictures map[string][][]string) {
	t.Helper()
	if os.Getenv("COUNTERSIGN_SHOTS") == "" {
		return
	}
	var b strings.Builder
	b.WriteString(`<meta charset="utf-8"><style>
		body { margin: 0; font: 600 15px system-ui, sans-serif }
		section { padding: 20px; columns: 6; column-gap: 18px }
		.light { background: #dfe7ee; color: #223 } .dark { background: #0e1621; color: #cdd6df }
		figure { margin: 0 0 18px; break-inside: avoid } figcaption { margin: 0 0 4px 6px } img { display: block; width: 100% }
	</style>`)
	for _, theme := range []string{"light", "dark"} {
		fmt.Fprintf(&b, `<section class="%s">`, theme)
		for i, p := range all {
			fmt.Fprintf(&b, `<figure><figcaption>%d. %s</figcaption>`, i+1, p.caption)
			for _, url := range pictures[theme][i] {
				fmt.Fprintf(&b, `<img src="%s">`, url)
			}
			b.WriteString("</figure>")
		}
		b.WriteString("</section>")
	}
	path := filepath.Join(t.TempDir(), "sheet.html")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(1900, 1200), chromedp.Navigate("file://"+path)); err != nil {
		t.Fatalf("open the sheet: %v", err)
	}
	picture, err := chromedp.Run(ctx, chromedp.FullScreenshot(82))
	if err != nil {
		t.Fatalf("picture of the sheet: %v", err)
	}
	keepPicture(t, "cards.jpg", picture)
}

// keepPicture saves a picture where COUNTERSIGN_SHOTS says, if it does.
func keepPicture(t *testing.T, name string, picture []byte) {
	t.Helper()
	dir := os.Getenv("COUNTERSIGN_SHOTS")
	if dir == "" {
		return
	}
	if err := os.WriteFile(filepath.Join(dir, name), picture, 0o644); err != nil {
		t.Error(err)
	}
}
