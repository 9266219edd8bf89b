package delivery_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"countersign/delivery"
	"countersign/store/storetest"
	"countersign/telegram"
)

// A sink takes every call at once, and says when it has taken enough.
type sink struct {
	sent atomic.Int64
	want int64
	done chan struct{} // closed with the call wanted
}

func (s *sink) take() int {
	n := s.sent.Add(1)
	if n == s.want {
		close(s.done)
	}
	return int(n)
}

func (s *sink) Send(context.Context, telegram.Outgoing) (telegram.Sent, error) {
	return telegram.Sent{MessageID: s.take()}, nil
}

func (s *sink) Edit(context.Context, int64, int, telegram.Outgoing) error { return nil }

func (s *sink) Reach(context.Context, int64) error { return nil }

// BenchmarkCards draws 1,000 new cards with nothing to wait for but Redis.
func BenchmarkCards(b *testing.B) {
	const cards = 1000
	for _, s := range storetest.Servers(b) {
		b.Run(s.Name(), func(b *testing.B) {
			st := storetest.NewStore(b, s)
			for b.Loop() {
				b.StopTimer()
				run := rand.Text()
				for i := range cards {
					storetest.Open(b, st, storetest.Request(fmt.Sprintf("%s.%d", run, i)))
				}
				to := &sink{want: cards, done: make(chan struct{})}
				log := zerolog.New(io.Discard)
				w := &world{TB: b}
				w.present = drawing()
				leader := delivery.NewLeader(st, run, time.Now, log)
				r := delivery.NewReconciler(delivery.Config{
					Store: st, Bot: to, Pace: delivery.NewPace(delivery.Limits{}, time.Now), Leader: leader,
					Present: w.presentNow, Log: log, Count: func(string, ...string) {},
				})
				ctx, cancel := context.WithCancel(b.Context())
				done := make(chan error, 1)
				b.StartTimer()
				go func() { done <- leader.Run(ctx, r.Run) }()
				<-to.done
				b.StopTimer()
				cancel()
				if err := <-done; err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
			b.ReportMetric(float64(cards)*float64(b.N)/b.Elapsed().Seconds(), "cards/s")
		})
	}
}
