package telegram_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"countersign/telegram"
)

// poll is one call of getUpdates as the script saw it.
type poll struct {
	Offset int64
	At     time.Duration // since the start
}

// step answers one poll.
type step func(ctx context.Context) ([]telegram.RawUpdate, error)

func gives(ids ...int64) step {
	return func(context.Context) ([]telegram.RawUpdate, error) {
		var updates []telegram.RawUpdate
		for _, id := range ids {
			updates = append(updates, telegram.RawUpdate{ID: id})
		}
		return updates, nil
	}
}

func fails(e telegram.Error) step {
	return func(context.Context) ([]telegram.RawUpdate, error) { return nil, &e }
}

// hangs is a long poll with no update before the run ends.
func hangs(ctx context.Context) ([]telegram.RawUpdate, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// script is a Source that answers step by step, and then hangs.
type script struct {
	begun time.Time
	steps []step
	polls []poll
}

func (s *script) Updates(ctx context.Context, offset int64, _ time.Duration, _ int) ([]telegram.RawUpdate, error) {
	s.polls = append(s.polls, poll{offset, time.Since(s.begun)})
	if len(s.steps) == 0 {
		return hangs(ctx)
	}
	next := s.steps[0]
	s.steps = s.steps[1:]
	return next(ctx)
}

// sinkFunc is a Sink.
type sinkFunc func(ctx context.Context, updates []telegram.RawUpdate) error

func (f sinkFunc) Handle(ctx context.Context, updates []telegram.RawUpdate) error {
	return f(ctx, updates)
}

func takesAll(context.Context, []telegram.RawUpdate) error { return nil }

// run polls for an hour of the bubble's time and returns what Run returned.
func run(t *testing.T, cfg telegram.PollerConfig) error {
	t.Helper()
	cfg.Now = time.Now
	if cfg.Jitter == nil {
		cfg.Jitter = func() float64 { return 0.5 }
	}
	if cfg.Sink == nil {
		cfg.Sink = sinkFunc(takesAll)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	return telegram.NewPoller(cfg).Run(ctx)
}

func TestPollerConfirmsOnlyWhatIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := &script{begun: time.Now(), steps: []step{gives(10, 11), gives(10, 11), gives(12), gives(), gives(3), gives(3)}}
		var taken [][]int64
		var saved []int64
		refuse := map[int]bool{1: true, 4: true} // by the number of the batch
		batches := 0
		err := run(t, telegram.PollerConfig{
			Client: source,
			Load:   func(context.Context) (int64, error) { return 10, nil },
			Save: func(_ context.Context, offset int64) error {
				saved = append(saved, offset)
				return errors.New("a lost offset does no harm")
			},
			Sink: sinkFunc(func(_ context.Context, updates []telegram.RawUpdate) error {
				batches++
				if refuse[batches] {
					return errors.New("no room")
				}
				var ids []int64
				for _, u := range updates {
					ids = append(ids, u.ID)
				}
				taken = append(taken, ids)
				return nil
			}),
		})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([][]int64{{10, 11}, {12}, {3}}, taken); diff != "" {
			t.Errorf("taken (-want +got):\n%s", diff)
		}
		// What was not kept is asked for again. The ids begin anew, lower, after 12.
		const refused, empty = 375 * time.Millisecond, 200 * time.Millisecond
		want := []poll{
			{10, 0},
			{10, refused},
			{12, refused},
			{13, refused},
			{13, refused + empty},
			{13, 2*refused + empty},
			{4, 2*refused + empty},
		}
		if diff := cmp.Diff(want, source.polls); diff != "" {
			t.Errorf("polls (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]int64{12, 13, 4}, saved); diff != "" {
			t.Errorf("saved (-want +got):\n%s", diff)
		}
	})
}

// Chance does not shorten the wait after a conflict below 3 s.
func TestPollerLeastWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := &script{begun: time.Now(), steps: []step{fails(telegram.Error{Kind: telegram.Conflict})}}
		if err := run(t, telegram.PollerConfig{Client: source, Jitter: func() float64 { return 0 }}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]poll{{0, 0}, {0, 3 * time.Second}}, source.polls); diff != "" {
			t.Errorf("polls (-want +got):\n%s", diff)
		}
	})
}

func TestPollerWaits(t *testing.T) {
	for _, tt := range []struct {
		name  string
		steps []step
		want  []time.Duration // the times of the polls
	}{
		{
			"network trouble: longer and longer, and from the beginning after a success",
			[]step{
				fails(telegram.Error{Kind: telegram.Transport}), fails(telegram.Error{Kind: telegram.Server}),
				gives(1), fails(telegram.Error{Kind: telegram.Transport}),
			},
			[]time.Duration{0, 375 * time.Millisecond, 1125 * time.Millisecond, 1125 * time.Millisecond, 1500 * time.Millisecond},
		},
		{
			"a conflict: at least 3 s",
			[]step{fails(telegram.Error{Kind: telegram.Conflict}), fails(telegram.Error{Kind: telegram.Conflict})},
			[]time.Duration{0, 3 * time.Second, 9 * time.Second},
		},
		{
			"too many: as long as asked for",
			[]step{fails(telegram.Error{Kind: telegram.TooMany, RetryAfter: 77 * time.Second}), fails(telegram.Error{Kind: telegram.TooMany})},
			[]time.Duration{0, 77 * time.Second, 78 * time.Second},
		},
		{
			"empty answers at once: spaced",
			[]step{gives(), gives(), gives(5)},
			[]time.Duration{0, 200 * time.Millisecond, 400 * time.Millisecond, 400 * time.Millisecond},
		},
		{
			"updates that cannot be confirmed: spaced",
			[]step{gives(0), gives(0)},
			[]time.Duration{0, 200 * time.Millisecond, 400 * time.Millisecond},
		},
		{
			"a failure of no known type",
			[]step{func(context.Context) ([]telegram.RawUpdate, error) { return nil, io.EOF }},
			[]time.Duration{0, 375 * time.Millisecond},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				source := &script{begun: time.Now(), steps: tt.steps}
				if err := run(t, telegram.PollerConfig{Client: source}); err != nil {
					t.Fatal(err)
				}
				var got []time.Duration
				for _, p := range source.polls {
					got = append(got, p.At)
				}
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("polls at (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// An hour of trouble neither asks often nor logs much.
func TestPollerInALongOutage(t *testing.T) {
	for _, kind := range []telegram.Kind{telegram.Conflict, telegram.Server, telegram.Transport} {
		t.Run(kind.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log bytes.Buffer
				polls := 0
				err := run(t, telegram.PollerConfig{
					Client: sourceFunc(func() ([]telegram.RawUpdate, error) {
						polls++
						return nil, &telegram.Error{Kind: kind, Method: "getUpdates"}
					}),
					Log: zerolog.New(&log),
				})
				if err != nil {
					t.Fatal(err)
				}
				if polls < 100 || polls > 200 {
					t.Errorf("%d polls in an hour, want 100 to 200", polls)
				}
				if lines := strings.Count(log.String(), "\n"); lines < 10 || lines > 120 {
					t.Errorf("%d log lines in an hour, want 10 to 120", lines)
				}
			})
		})
	}
}

// Trouble that comes and goes does not log each time, either.
func TestPollerFlapping(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		source := &script{begun: time.Now()}
		for id := range int64(100) {
			source.steps = append(source.steps, fails(telegram.Error{Kind: telegram.Transport, Method: "getUpdates"}), gives(id+1))
		}
		if err := run(t, telegram.PollerConfig{Client: source, Log: zerolog.New(&log)}); err != nil {
			t.Fatal(err)
		}
		want := `{"level":"warn","cause":"transport","error":"telegram getUpdates: transport","message":"polling failed; trying again"}
{"level":"info","cause":"recovered","message":"updates come again"}
{"level":"warn","cause":"transport","error":"telegram getUpdates: transport","unsaid":79,"message":"polling failed; trying again"}
{"level":"info","cause":"recovered","unsaid":79,"message":"updates come again"}
`
		if diff := cmp.Diff(want, log.String()); diff != "" {
			t.Errorf("log (-want +got):\n%s", diff)
		}
	})
}

func TestPollerHealth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var health []string
		refuse := true
		err := run(t, telegram.PollerConfig{
			Client: &script{begun: time.Now(), steps: []step{
				fails(telegram.Error{Kind: telegram.Conflict, Method: "getUpdates", Code: 409}), gives(1), gives(1),
				fails(telegram.Error{Kind: telegram.Unauthorized, Method: "getUpdates", Code: 401}),
			}},
			Sink: sinkFunc(func(context.Context, []telegram.RawUpdate) error {
				defer func() { refuse = false }()
				if refuse {
					return errors.New("no room")
				}
				return nil
			}),
			OnHealth: func(h telegram.PollHealth) {
				health = append(health, fmt.Sprint(h.OK, " ", h.Kind, " ", h.Reason))
			},
		})
		if err == nil || !strings.Contains(err.Error(), "@BotFather") {
			t.Errorf("Run = %v, want an error with a remedy", err)
		}
		if e := failure(t, err); e.Kind != telegram.Unauthorized {
			t.Errorf("kind = %v, want unauthorized", e.Kind)
		}
		want := []string{
			"false conflict telegram getUpdates: conflict (409)",
			"false none updates cannot be taken: no room",
			"true none ",
			"false unauthorized telegram getUpdates: unauthorized (401)",
		}
		if diff := cmp.Diff(want, health); diff != "" {
			t.Errorf("health (-want +got):\n%s", diff)
		}
	})
}

func TestPollerStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var log bytes.Buffer
		poller := telegram.NewPoller(telegram.PollerConfig{
			Client: &script{begun: time.Now(), steps: []step{gives(1)}},
			Log:    zerolog.New(&log), Now: time.Now, Jitter: func() float64 { return 0 },
			Sink: sinkFunc(func(ctx context.Context, _ []telegram.RawUpdate) error {
				<-ctx.Done() // the stop comes while a batch is handled
				return ctx.Err()
			}),
			OnHealth: func(h telegram.PollHealth) { t.Errorf("a stop is no news of health: %+v", h) },
		})
		ended := make(chan error)
		go func() { ended <- poller.Run(ctx) }()
		synctest.Wait()
		begun := time.Now()
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Run = %v, want nil", err)
		}
		if took := time.Since(begun); took != 0 {
			t.Errorf("stopped after %v, want at once", took)
		}
		if log.Len() > 0 {
			t.Errorf("a stop was logged: %s", &log)
		}
	})
}

// A batch that was kept while the stop came is not asked for again by the next run.
func TestPollerSavesWhileStopping(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var saved []int64
		err := telegram.NewPoller(telegram.PollerConfig{
			Client: &script{begun: time.Now(), steps: []step{gives(7)}}, Now: time.Now,
			Sink: sinkFunc(func(context.Context, []telegram.RawUpdate) error {
				cancel()
				return nil
			}),
			Save: func(ctx context.Context, offset int64) error {
				saved = append(saved, offset)
				return ctx.Err()
			},
		}).Run(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]int64{8}, saved); diff != "" {
			t.Errorf("saved (-want +got):\n%s", diff)
		}
	})
}

// The poller and the client together, over a transport.
func TestPollerOverHTTP(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var bodies []string
		c := newClient(t, transport(func(r *http.Request) (*http.Response, error) {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				return nil, err
			}
			bodies = append(bodies, string(body))
			if len(bodies) == 1 {
				return reply(200, `{"ok":true,"result":[{"update_id":6,"poison":1},{"update_id":7}]}`), nil
			}
			return reply(404, `{"ok":false,"error_code":404,"description":"Not Found"}`), nil
		}))
		err := run(t, telegram.PollerConfig{Client: c})
		if e := failure(t, err); e.Kind != telegram.Unauthorized {
			t.Errorf("Run = %v, want unauthorized", err)
		}
		checkSecret(t, err.Error())
		const rest = `"limit":50,"timeout":25,"allowed_updates":["message","callback_query","my_chat_member"]}`
		if diff := cmp.Diff([]string{`{` + rest, `{"offset":8,` + rest}, bodies); diff != "" {
			t.Errorf("bodies (-want +got):\n%s", diff)
		}
	})
}

// sourceFunc is a Source that answers every poll in the same way.
type sourceFunc func() ([]telegram.RawUpdate, error)

func (f sourceFunc) Updates(context.Context, int64, time.Duration, int) ([]telegram.RawUpdate, error) {
	return f()
}
