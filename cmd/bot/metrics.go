package main

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"countersign/queue"
	"countersign/store"
	"countersign/telegram"
)

// metrics are what is measured beside the events that [health] counts. They are safe
// for concurrent use. What each one means stands in docs/metrics.md.
type metrics struct {
	now      func() time.Time
	requests *prometheus.CounterVec
	dead     *prometheus.CounterVec
	waits    *prometheus.CounterVec
	calls    *prometheus.CounterVec
	call     *prometheus.HistogramVec
	card     prometheus.Histogram
	tap      prometheus.Histogram

	// Of the queue, read from Redis when somebody asks.
	answers   *prometheus.CounterVec
	refusals  *prometheus.CounterVec
	answer    *prometheus.HistogramVec
	open      prometheus.Gauge
	oldest    prometheus.Gauge
	audit     prometheus.Gauge
	unchained prometheus.Gauge

	stale prometheus.Gauge
	store *store.Store // set before anybody asks

	mu    sync.Mutex // guards entry
	entry string     // the last answer counted; "" until Redis has told the time
}

func newMetrics(now func() time.Time, registry *prometheus.Registry) *metrics {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "countersign_" + name, Help: help}, labels)
		registry.MustRegister(c)
		return c
	}
	histogram := func(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
		h := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "countersign_" + name, Help: help, Buckets: buckets}, labels)
		registry.MustRegister(h)
		return h
	}
	gauge := func(name, help string) prometheus.Gauge {
		g := prometheus.NewGauge(prometheus.GaugeOpts{Name: "countersign_" + name, Help: help})
		registry.MustRegister(g)
		return g
	}
	quick := []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}
	long := []float64{1, 5, 15, 30, 60, 120, 300, 600, 1800, 3600, 4 * 3600, 24 * 3600, 7 * 24 * 3600}
	return &metrics{
		now:      now,
		requests: counter("requests_total", "Requests taken in, by what became of them then.", "outcome"),
		dead:     counter("dead_total", "Entries set aside as dead, by reason.", "reason"),
		waits:    counter("waits_total", "Cards that had to wait for their turn, by cause.", "cause"),
		calls:    counter("telegram_calls_total", "Calls of the Bot API, by method and result.", "method", "result"),
		call:     histogram("telegram_call_seconds", "How long calls of the Bot API took.", quick, "method"),
		card:     histogram("card_seconds", "From a request's opening to its card.", quick).WithLabelValues().(prometheus.Histogram),
		tap:      histogram("tap_seconds", "From a tap's arrival to its effect in Redis.", quick).WithLabelValues().(prometheus.Histogram),
		answers:  counter("answers_total", "Answers in the queue since this process started, whoever gave them.", "decision", "surface"),
		refusals: counter("refusals_total", "Of these the refusals, by the code that their reason begins with.", "code"),
		answer:   histogram("answer_seconds", "From a request's opening to its answer.", long, "decision"),
		open:     gauge("open", "Open approvals."), oldest: gauge("oldest_open_seconds", "Age of the oldest open approval."),
		audit: gauge("audit_seq", "Number of the newest audit entry."), unchained: gauge("audit_unchained", "Audit lines not yet chained."),
		stale: gauge("metrics_stale", "1 where the numbers of the queue could not be read anew, else 0."),
	}
}

// begin says that answers count from now on, by Redis's clock.
func (m *metrics) begin(now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.entry = strconv.FormatInt(now.UnixMilli()-1, 10) + "-18446744073709551615" // the last that can be before now
}

// took takes note of an event of the intake.
func (m *metrics) took(event, reason string) {
	switch event {
	case queue.EventOpened, queue.EventPassed, queue.EventRefused, queue.EventLapsed:
		m.requests.WithLabelValues(event).Inc()
	case queue.EventDead:
		m.dead.WithLabelValues(reason).Inc()
	}
}

// called takes note of a call of the Bot API.
func (m *metrics) called(method string) func(error) {
	begun := m.now()
	return func(err error) {
		result := "ok"
		if err != nil {
			result = telegram.Transport.String()
			if e := (*telegram.Error)(nil); errors.As(err, &e) {
				result = e.Kind.String()
			}
		}
		m.calls.WithLabelValues(method, result).Inc()
		if method != "getUpdates" { // which waits for updates
			m.call.WithLabelValues(method).Observe(m.now().Sub(begun).Seconds())
		}
	}
}

func (m *metrics) carded(openedAt time.Time) { m.card.Observe(max(0, m.now().Sub(openedAt).Seconds())) }

func (m *metrics) tapped(since time.Time) { m.tap.Observe(max(0, m.now().Sub(since).Seconds())) }

const (
	refreshWithin = 2 * time.Second
	answersPage   = 1000
	answersPages  = 50 // of one refresh; the rest is counted at the next
)

// of says whose queue is measured, and how the lease stands.
func (m *metrics) of(s *store.Store, registry *prometheus.Registry, lease func() time.Duration) {
	m.store = s
	registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "countersign_lease", Help: "1 where this process polls and sends, else 0.",
	}, func() float64 {
		if lease() > 0 {
			return 1
		}
		return 0
	}))
}

// renew reads what is measured of the queue anew, and says so where it cannot.
func (m *metrics) renew(ctx context.Context) {
	if m.store == nil {
		return
	}
	if m.refresh(ctx, m.store) != nil {
		m.stale.Set(1)
		return
	}
	m.stale.Set(0)
}

// refresh reads what is measured of the queue. Where Redis cannot be read, what was
// known last stays.
func (m *metrics) refresh(ctx context.Context, s *store.Store) error {
	ctx, cancel := context.WithTimeout(ctx, refreshWithin)
	defer cancel()
	open, oldest, err := s.Waiting(ctx)
	if err != nil {
		return err
	}
	m.open.Set(float64(open))
	age := 0.0
	if !oldest.IsZero() {
		now, err := s.Now(ctx)
		if err != nil {
			return err
		}
		age = now.Sub(oldest).Seconds()
	}
	m.oldest.Set(age)
	head, err := s.AuditHead(ctx)
	if err != nil {
		return err
	}
	m.audit.Set(float64(head.End.Seq))
	m.unchained.Set(float64(head.Unchained))
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.entry == "" {
		return nil
	}
	for range answersPages {
		answers, last, err := s.AnsweredSince(ctx, m.entry, answersPage)
		if err != nil {
			return err
		}
		for _, a := range answers {
			m.count(a)
		}
		if last == m.entry {
			return nil
		}
		m.entry = last
	}
	return nil
}

func (m *metrics) count(a store.Answered) {
	m.answers.WithLabelValues(a.Decision, a.Surface).Inc()
	if a.Decision == "refused" {
		m.refusals.WithLabelValues(codeOf(a.Reason)).Inc()
	}
	if a.Took >= 0 {
		m.answer.WithLabelValues(a.Decision).Observe(a.Took.Seconds())
	}
}

// codeOf is the code that a refusal's reason begins with.
func codeOf(reason string) string {
	code, _, _ := strings.Cut(reason, ":")
	switch code {
	case "invalid", "too_large", "unroutable", "unreachable", "tampered", "unsealed":
		return code
	}
	return "other"
}
