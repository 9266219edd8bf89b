package main

import (
	"context"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"countersign/config"
	"countersign/delivery"
	"countersign/queue"
	"countersign/telegram"
)

// A measured is what a metric is, and by what it is told apart.
type measured struct{ Type, Labels string }

var (
	documentedMetric = regexp.MustCompile("(?m)^\\| `(countersign_[a-z_]+)` \\| (\\w+) \\| ?([^|]*)\\|")
	exportedType     = regexp.MustCompile(`(?m)^# TYPE (\S+) (\S+)$`)
	exportedSample   = regexp.MustCompile(`(?m)^(countersign_[a-z_]+?)(?:_bucket|_sum|_count)?(?:\{(.*)\})? (\S+)$`)
	labelOf          = regexp.MustCompile(`([a-z]+)="`)
)

// TestMetrics has the bot measure one of everything, and wants what it exports to be what
// docs/metrics.md says, both ways, and to count right.
func TestMetrics(t *testing.T) {
	inBubble(t, func(w *bubble) {
		r := w.run("bot-1", &life{})
		w.ask("a1", "iris", time.Hour)
		w.ask("a2", "iris", time.Hour)
		w.ask("a3", "iris", 30*time.Second)
		w.ask("a4", "away", time.Hour)
		w.ask("a5", "iris", time.Hour)
		_, err := w.client.Request(context.Background(), queue.Request{NoCheck: true, Data: []byte(
			`{"approval_id":"a6","runtime":"trusted","tool":"note","arguments":{},"effect":"write","card":{"title":"Note it"}}`)})
		w.ok(err)
		w.ok(w.rdb.XAdd(context.Background(), &redis.XAddArgs{Stream: "{approvals}:requests", Values: []string{"type", "nothing"}}).Err())
		w.confirms("a1")
		w.ann.Tap(w.has(5*time.Second, annID, "a2", "Reject"), "Reject")
		w.says(5*time.Second, annID, "a2", "Rejected")
		w.pass(time.Minute)
		page := r.page("/metrics")
		text, err := os.ReadFile("../../docs/metrics.md")
		w.ok(err)
		documented := map[string]measured{}
		for _, m := range documentedMetric.FindAllStringSubmatch(string(text), -1) {
			labels := strings.Fields(strings.NewReplacer("`", "", ",", "").Replace(m[3]))
			slices.Sort(labels)
			documented[m[1]] = measured{m[2], strings.Join(labels, ",")}
		}
		if diff := cmp.Diff(documented, exportedBy(page)); diff != "" {
			w.Errorf("docs/metrics.md and what is exported (-documented +exported):\n%s", diff)
		}
		for _, line := range []string{
			`countersign_requests_total{outcome="opened"} 4`,
			`countersign_requests_total{outcome="refused"} 1`,
			`countersign_requests_total{outcome="passed"} 1`,
			`countersign_dead_total{reason="unknown_type"} 1`,
			`countersign_answers_total{decision="approved",surface="telegram"} 1`,
			`countersign_answers_total{decision="approved",surface="policy"} 1`,
			`countersign_answers_total{decision="rejected",surface="telegram"} 1`,
			`countersign_answers_total{decision="lapsed",surface="sweeper"} 1`,
			`countersign_answers_total{decision="refused",surface="intake"} 1`,
			`countersign_refusals_total{code="unroutable"} 1`,
			`countersign_answer_seconds_count{decision="lapsed"} 1`,
			`countersign_open 1`, `countersign_card_seconds_count 4`, `countersign_tap_seconds_count 3`,
			`countersign_lease 1`, `countersign_metrics_stale 0`,
			`countersign_telegram_calls_total{method="answerCallbackQuery",result="ok"} 3`,
		} {
			if !strings.Contains(page, "\n"+line+"\n") {
				name, _, _ := strings.Cut(line, "{")
				w.Errorf("want %s, there is:\n%s", line, strings.Join(regexp.MustCompile(`(?m)^`+name+`.*$`).FindAllString(page, -1), "\n"))
			}
		}
		if again := r.page("/metrics"); !strings.Contains(again, `countersign_answers_total{decision="rejected",surface="telegram"} 1`) {
			w.Error("an answer is counted twice")
		}
	}, func(c *config.Config) {
		c.Telegram.Limits = config.Limits{ChatPerSecond: 1}
		c.Routes = append([]config.RouteRule{{Match: config.Match{Runtime: "away"}, Quorum: 1}}, c.Routes...)
		c.Policies = []config.Policy{{Match: config.Match{Runtime: "trusted"}, AutoApproveTools: []string{"note"}, Notify: config.NotifyNone}}
	})
}

// page is what the bot serves.
func (r *running) page(path string) string {
	page := httptest.NewRecorder()
	r.health.handler().ServeHTTP(page, httptest.NewRequest(http.MethodGet, path, nil))
	return page.Body.String()
}

func exportedBy(page string) map[string]measured {
	types, labels := map[string]string{}, map[string]map[string]bool{}
	for _, m := range exportedType.FindAllStringSubmatch(page, -1) {
		types[m[1]] = m[2]
	}
	for _, m := range exportedSample.FindAllStringSubmatch(page, -1) {
		name := m[1]
		if labels[name] == nil {
			labels[name] = map[string]bool{}
		}
		for _, l := range labelOf.FindAllStringSubmatch(m[2], -1) {
			if l[1] != "le" {
				labels[name][l[1]] = true
			}
		}
	}
	all := map[string]measured{}
	for name, kind := range types {
		all[name] = measured{kind, strings.Join(slices.Sorted(maps.Keys(labels[name])), ",")}
	}
	return all
}

// TestReady has /readyz say each fault in words, and that it is over.
func TestReady(t *testing.T) {
	t.Parallel()
	h := newHealth(time.Now)
	ready := func(code int, want string) {
		t.Helper()
		page := httptest.NewRecorder()
		h.handler().ServeHTTP(page, httptest.NewRequest(http.MethodGet, "/readyz", nil))
		if got := strings.TrimSpace(page.Body.String()); page.Code != code || got != want {
			t.Errorf("%d %q, want %d %q", page.Code, got, code, want)
		}
	}
	const holds, standsBy = "ready: holds the lease, so it polls and sends", "ready: stands by, another process polls and sends"
	const neither = "lease: it neither holds it nor stands by"
	standing := delivery.Neither
	h.standing = func() delivery.Standing { return standing }
	ready(http.StatusServiceUnavailable, neither)
	standing = delivery.Holding
	ready(http.StatusOK, holds)
	h.redis(redis.ErrClosed)
	ready(http.StatusServiceUnavailable, "redis: Redis cannot be reached")
	h.polled(telegram.PollHealth{Kind: telegram.Conflict, Reason: "another program polls with this token"})
	standing = delivery.Neither
	ready(http.StatusServiceUnavailable, "redis: Redis cannot be reached\ntelegram: another program polls with this token\n"+neither)
	h.redis(nil)
	standing = delivery.StandingBy
	ready(http.StatusServiceUnavailable, "telegram: another program polls with this token")
	h.polled(telegram.PollHealth{OK: true})
	h.warn("telegram", "a webhook is set")
	ready(http.StatusOK, standsBy+"\ntelegram: a webhook is set")
}

// TestReadyOfTwo has two bots say which of them leads, the second after the first is
// gone, and neither once Redis is away for as long as a lease lasts.
func TestReadyOfTwo(t *testing.T) {
	t.Parallel()
	inBubble(t, func(w *bubble) {
		var away atomic.Bool
		a := w.run("a", &life{})
		w.pass(time.Second)
		b := w.run("b", &life{at: func(name string) ending {
			if away.Load() && !isCall(name) {
				return fails
			}
			return goesOn
		}, fault: errDead})
		w.pass(5 * time.Second)
		says := func(r *running, want string) {
			t.Helper()
			if got := r.page("/readyz"); !strings.Contains(got, want) {
				t.Errorf("%q, want %q", got, want)
			}
		}
		says(a, "ready: holds the lease")
		says(b, "ready: stands by")
		away.Store(true)
		w.pass(10 * time.Second)
		says(b, "lease: it neither holds it nor stands by")
		away.Store(false)
		w.pass(10 * time.Second)
		says(b, "ready: stands by")
		a.stop()
		w.pass(5 * time.Second)
		says(b, "ready: holds the lease")
		away.Store(true)
		w.pass(20 * time.Second)
		says(b, "lease: it neither holds it nor stands by")
	})
}
