package main

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"countersign/delivery"
	"countersign/queue"
	"countersign/telegram"
)

// health knows how the bot is. It is safe for concurrent use.
type health struct {
	now      func() time.Time
	registry *prometheus.Registry
	events   *prometheus.CounterVec
	rulings  *prometheus.CounterVec
	lastPoll prometheus.Gauge
	metrics  *metrics
	standing func() delivery.Standing // set before anybody asks

	mu     sync.Mutex // guards the rest
	redOf  map[string]string
	warnOf map[string]string
}

func newHealth(now func() time.Time) *health {
	h := &health{
		now:      now,
		registry: prometheus.NewRegistry(),
		events: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "countersign_events_total", Help: "What happened, by event and detail.",
		}, []string{"event", "detail"}),
		rulings: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "countersign_policy_decisions_total", Help: "Requests that passed or were asked, by the policy's reason and the risk.",
		}, []string{"decision", "reason", "tier"}),
		lastPoll: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "countersign_last_poll_timestamp_seconds", Help: "When Telegram was last polled with success.",
		}),
		redOf: map[string]string{}, warnOf: map[string]string{},
		standing: func() delivery.Standing { return delivery.Neither },
	}
	h.registry.MustRegister(h.events, h.rulings, h.lastPoll)
	h.metrics = newMetrics(now, h.registry)
	return h
}

// count counts an event.
func (h *health) count(event string, labels ...string) {
	if event == "waits" {
		h.metrics.waits.WithLabelValues(labels...).Inc()
		return
	}
	h.events.WithLabelValues(event, strings.Join(labels, "_")).Inc()
}

// ruled takes note of what the policies made of a request.
func (h *health) ruled(r queue.Ruling) {
	decision := "ask"
	if r.Pass {
		decision = "pass"
	}
	h.rulings.WithLabelValues(decision, cmp.Or(r.Reason, "unknown"), cmp.Or(r.Shown, "none")).Inc()
}

// polled takes note of a poll.
func (h *health) polled(p telegram.PollHealth) {
	if p.OK {
		h.lastPoll.Set(float64(p.At.UnixMilli()) / 1000)
		h.set("telegram", "")
		return
	}
	h.count("poll_failures", p.Kind.String())
	h.set("telegram", p.Reason)
}

// redis takes note of whether Redis can be reached.
func (h *health) redis(err error) {
	if err != nil {
		h.set("redis", "Redis cannot be reached")
		return
	}
	h.set("redis", "")
}

func (h *health) set(part, reason string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.redOf[part] = reason
}

// warn takes note of what somebody should look at, though the bot is ready; "" of
// nothing.
func (h *health) warn(part, reason string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.warnOf[part] = reason
}

// red says what is wrong, "" if nothing is.
func (h *health) red() string {
	_, red := h.ready()
	return red
}

// ready says how the bot stands to the lease, and what is wrong; red is "" if nothing
// is.
func (h *health) ready() (words, red string) {
	switch h.standing() {
	case delivery.Holding:
		words = "ready: holds the lease, so it polls and sends"
	case delivery.StandingBy:
		words = "ready: stands by, another process polls and sends"
	case delivery.Neither:
		red = "lease: it neither holds it nor stands by"
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return words, strings.TrimSpace(reasons(h.redOf) + "\n" + red)
}

// warned says what somebody should look at, "" if nothing.
func (h *health) warned() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return reasons(h.warnOf)
}

// reasons are one line for each part that has one.
func reasons(of map[string]string) string {
	var lines []string
	for _, part := range []string{"redis", "telegram"} {
		if of[part] != "" {
			lines = append(lines, part+": "+of[part])
		}
	}
	return strings.Join(lines, "\n")
}

// handler serves /healthz, /readyz and /metrics. No request changes anything.
func (h *health) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "alive") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		words, red := h.ready()
		if red != "" {
			http.Error(w, red, http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, strings.TrimSpace(words+"\n"+h.warned()))
	})
	serve := promhttp.HandlerFor(h.registry, promhttp.HandlerOpts{})
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, r *http.Request) {
		h.metrics.renew(r.Context())
		serve.ServeHTTP(w, r)
	})
	return mux
}

// serveHTTP serves health and metrics where the configuration says.
func (a *App) serveHTTP(ctx context.Context) error {
	address := a.config().HTTP.Listen
	if address == "" {
		return nil
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("http.listen: %w", err)
	}
	return serve(ctx, listener, a.health.handler(), "http.listen")
}
