package main

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
)

func newReaderOf(text string) *bufio.Reader { return bufio.NewReader(strings.NewReader(text)) }

// The contenders of this program show owner and runtime what the bot shows them: a card,
// a question on the first tap, an answer on both streams and a card without buttons on
// the second, and every tap answered.
func TestContendersGiveTheResult(t *testing.T) {
	for name, play := range map[string]func(ctx context.Context, rdb *redis.Client, api string) error{
		"floor":   func(ctx context.Context, rdb *redis.Client, api string) error { return newFloor(rdb, api).run(ctx) },
		"obvious": obvious,
	} {
		t.Run(name, func(t *testing.T) {
			rdb := dial(miniredis.RunT(t).Addr())
			defer rdb.Close()
			s := &stage{rdb: rdb}
			const n = 3
			l := newLives(0, n)
			var a *api
			taps := make(chan deed, 20*n)
			watch := l.watch(func(id, data string, message int64) { a.tap(id, data, message) })
			a, err := newAPI(t.Context(), 1, 0, func(d deed) {
				if d.what == deedAnswer {
					taps <- d
				}
				watch(d)
			})
			if err != nil {
				t.Fatal(err)
			}
			if err := s.publish(t.Context(), 0, n, time.Time{}); err != nil {
				t.Fatal(err)
			}
			ctx, end := context.WithCancel(t.Context())
			done := make(chan error, 2)
			go func() { done <- play(ctx, rdb, a.url()) }()
			go func() { done <- l.answers(ctx, rdb) }()
			bound := time.NewTimer(30 * time.Second)
			defer bound.Stop()
			select {
			case <-l.over:
			case err := <-done:
				t.Fatal(err)
			case <-bound.C:
				t.Fatalf("%d of %d came to no end", l.left, n)
			}
			end()
			for range 2 {
				if err := <-done; err != nil && !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
			}
			if len(taps) != 2*n {
				t.Errorf("%d answers to %d taps", len(taps), 2*n)
			}
			for i := range n {
				if got := rdb.XLen(t.Context(), keyAnswer+idOf(i)).Val(); got != 1 {
					t.Errorf("%s has %d answers", idOf(i), got)
				}
				if got := rdb.HGet(t.Context(), keyRow+idOf(i), "state").Val(); got != "approved" {
					t.Errorf("%s is %s", idOf(i), got)
				}
			}
			if got := rdb.XLen(t.Context(), keyAnswers).Val(); got != n {
				t.Errorf("%d answers", got)
			}
		})
	}
}

// What a process uses is read of the right one.
func TestProcessTells(t *testing.T) {
	p, err := begin(t.Context(), "/bin/sh", "-c", "while :; do :; done")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = p.cmd.Process.Kill(); <-p.ended }()
	for giveUp := time.Now().Add(time.Minute); ; {
		used, err := p.cpu()
		if err != nil {
			t.Fatal(err)
		}
		if used >= 0.05 {
			break
		}
		if time.Now().After(giveUp) {
			t.Fatalf("%v s of CPU after a minute", used)
		}
		after(t.Context(), 10*time.Millisecond)
	}
	if mib, err := p.memory(); err != nil || mib <= 0 || mib > 100 {
		t.Errorf("memory: %v MiB, %v", mib, err)
	}
}

// Contenders run as processes before a real redis-server. It runs where a redis-server is on
// the PATH.
func TestIntakeOfTheFloor(t *testing.T) {
	server, err := exec.LookPath("redis-server")
	if err != nil {
		if os.Getenv("COUNTERSIGN_REQUIRE_REDIS") != "" {
			t.Fatal(err)
		}
		return
	}
	s, err := newStage(t.Context(), t.TempDir(), server, "")
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	s.self = os.Args[0]
	if got := s.rdb.ConfigGet(t.Context(), "appendfsync").Val()["appendfsync"]; got != "everysec" {
		t.Errorf("appendfsync %s", got)
	}
	rate, err := s.intake(t.Context(), theFloor, 50, 0)
	if err != nil || rate <= 0 {
		t.Errorf("%v cards/s, %v", rate, err)
	}
}

// TestMain lets the test program be the floor, as this program is in a run.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == roleFloor {
		os.Exit(command(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

func TestOptions(t *testing.T) {
	for only, want := range map[string]string{"": "intake slow paced", "i": "intake", "i,p": "intake paced", "slow": "slow"} {
		o := options{only: only}
		var got []string
		for _, part := range []string{"intake", "slow", "paced"} {
			if o.wants(part) {
				got = append(got, part)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("-only %q measures %v, want %s", only, got, want)
		}
	}
}
