package deploy_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"countersign/simulator"
)

// restarts is how often a replica is stopped and started again under load.
const restarts = 6

// While two replicas are restarted one after the other, whatever is asked gets one card,
// and every tap counts: nobody has to tap twice, by polling as by webhook.
func TestRollingRestart(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"polling", "webhook"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			if s == nil {
				return
			}
			s.prepare()
			s.ann.Start()
			r := &rolling{site: s, environ: []string{
				"COUNTERSIGN_HTTP_LISTEN=127.0.0.1:0", "COUNTERSIGN_TELEGRAM_LIMITS_PER_SECOND=0",
				"COUNTERSIGN_TELEGRAM_LIMITS_CHAT_PER_SECOND=0",
			}}
			if mode == "webhook" {
				r.crosses()
			}
			for i := range r.bots {
				r.starts(i)
			}
			r.run()
			r.judge()
		})
	}
}

// A rolling is a load on two replicas that are restarted.
type rolling struct {
	*site
	environ []string
	bots    [2]*process
	hooks   [2]string // where each listens for webhooks; empty when polling

	over    atomic.Bool
	mu      sync.Mutex // guards what follows
	asked   []string
	longest time.Duration // from a tap to what it does
}

// starts starts a replica.
func (r *rolling) starts(i int) {
	r.t.Helper()
	environ := r.environ
	if r.hooks[i] != "" {
		environ = append(environ[:len(environ):len(environ)], "COUNTERSIGN_TELEGRAM_WEBHOOK_LISTEN="+r.hooks[i])
	}
	r.bots[i] = r.bot(fmt.Sprintf("bot-%d", i), environ...)
}

// crosses puts a balancer before the replicas, which passes an update on to one after
// the other, and to the other where one does not take it.
func (r *rolling) crosses() {
	for i := range r.hooks {
		r.hooks[i] = freeAddress(r.t)
	}
	var n atomic.Int64
	balancer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, in *http.Request) {
		body, err := io.ReadAll(in.Body)
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		first := int(n.Add(1))
		for i := range r.hooks {
			out, err := http.NewRequestWithContext(in.Context(), http.MethodPost, "http://"+r.hooks[(first+i)%len(r.hooks)]+"/hook", bytes.NewReader(body))
			if err != nil {
				break
			}
			out.Header = in.Header.Clone()
			answer, err := http.DefaultClient.Do(out)
			if err != nil {
				continue
			}
			_ = answer.Body.Close()
			w.WriteHeader(answer.StatusCode)
			return
		}
		w.WriteHeader(http.StatusBadGateway)
	}))
	r.t.Cleanup(balancer.Close)
	r.environ = append(r.environ, "COUNTERSIGN_TELEGRAM_MODE=webhook", "COUNTERSIGN_TELEGRAM_WEBHOOK_PUBLIC_URL="+balancer.URL+"/hook")
}

// run restarts the replicas in turn while people go on being asked, and taps while they
// do.
func (r *rolling) run() {
	ctx, cancel := context.WithTimeout(r.t.Context(), 2*patience)
	defer cancel()
	const workers = 4
	faults := make(chan error, workers)
	for w := range workers {
		go func() {
			var err error
			for n := 0; err == nil && !r.over.Load(); n++ {
				err = r.goes(ctx, fmt.Sprintf("w%d-%d", w, n))
			}
			faults <- err
		}()
	}
	for n := range restarts {
		before := r.count()
		i := n % len(r.bots)
		if err := r.bots[i].stop(); err != nil {
			r.t.Errorf("bot-%d did not stop cleanly: %v\n%s", i, err, r.log(fmt.Sprintf("bot-%d", i)))
		}
		r.starts(i)
		r.until(func() bool { return r.count() > before || ctx.Err() != nil }) // there is load on either
	}
	r.over.Store(true)
	for range workers {
		if err := <-faults; err != nil {
			r.t.Errorf("%v; the bots say\n%s\n%s", err, r.log("bot-0"), r.log("bot-1"))
		}
	}
}

func (r *rolling) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.asked)
}

// goes asks, and has Ann approve with one tap on the action and one on Yes.
func (r *rolling) goes(ctx context.Context, id string) error {
	data := fmt.Sprintf(`{"approval_id":%q,"tool":"x","arguments":{},"card":{"title":"Do %s"}}`, id, id)
	err := r.redis.Client().XAdd(ctx, &redis.XAddArgs{
		Stream: "{approvals}:requests", Values: []any{"type", "approval.requested", "data", data},
	}).Err()
	if err != nil {
		return err
	}
	card, err := r.sim.WaitMessage(ctx, annID, func(m simulator.Message) bool { return strings.Contains(m.Text, "Do "+id+"\n") })
	if err != nil {
		return fmt.Errorf("%s: no card: %w", id, err)
	}
	begun := time.Now()
	r.ann.Tap(card, "Do "+id)
	question, err := r.sim.WaitEdit(ctx, card, func(m simulator.Message) bool { _, ok := m.Button("Yes"); return ok })
	if err != nil {
		return fmt.Errorf("%s: the first tap is lost: %w", id, err)
	}
	r.took(time.Since(begun))
	// A Yes counts only once the question is known to be in sight.
	for known := false; !known; {
		if known, err = r.redis.Client().HExists(ctx, "{approvals}:bot:approval:"+id, "step_shown").Result(); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: the question is never known to be shown: %w", id, ctx.Err())
		case <-time.After(time.Millisecond):
		}
	}
	begun = time.Now()
	r.ann.Tap(question, "Yes")
	if _, err := r.sim.WaitEdit(ctx, question, func(m simulator.Message) bool { return strings.Contains(m.Text, "Approved by Ann") }); err != nil {
		return fmt.Errorf("%s: the Yes is lost: %w", id, err)
	}
	r.took(time.Since(begun))
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked = append(r.asked, id)
	return nil
}

func (r *rolling) took(d time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.longest = max(r.longest, d)
}

// judge counts cards and answers.
func (r *rolling) judge() {
	t := r.t
	t.Helper()
	answers := map[string]int{}
	entries, err := r.redis.Client().XRange(t.Context(), "{approvals}:answers", "-", "+").Result()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if text, _ := e.Values["data"].(string); strings.Contains(text, `"decision":"approved"`) {
			answers[fmt.Sprint(e.Values["subject"])]++
		}
	}
	messages := r.sim.BotMessages(annID)
	for _, id := range r.asked {
		cards := 0
		for _, m := range messages {
			if strings.Contains(m.Text, "Do "+id+"\n") {
				cards++
			}
		}
		if cards != 1 || answers[id] != 1 {
			t.Errorf("%s has %d cards and %d answers, want one of each", id, cards, answers[id])
		}
	}
	if len(r.asked) < restarts || len(answers) != len(r.asked) {
		t.Errorf("%d were asked and %d answered, over %d restarts", len(r.asked), len(answers), restarts)
	}
	t.Logf("%d approvals over %d restarts; the longest from a tap to what it does: %v", len(r.asked), restarts, r.longest.Round(time.Millisecond))
}
