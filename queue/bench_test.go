package queue_test

import (
	"strconv"
	"testing"

	"github.com/redis/go-redis/v9"

	"countersign/store/storetest"
)

// BenchmarkIntake takes a thousand requests off a stream.
func BenchmarkIntake(b *testing.B) {
	const entries = 1000
	for _, s := range storetest.Servers(b) {
		b.Run(s.Name(), func(b *testing.B) {
			h := newBench(b, s)
			round := 0
			for b.Loop() {
				b.StopTimer()
				round++
				_, err := s.Client().Pipelined(b.Context(), func(p redis.Pipeliner) error {
					for i := range entries {
						id := strconv.Itoa(round) + "-" + strconv.Itoa(i)
						p.XAdd(b.Context(), &redis.XAddArgs{
							Stream: s.Keys().Requests(),
							Values: []any{"type", "approval.requested", "data", storetest.Request(id)},
						})
					}
					return nil
				})
				must(b, err)
				b.StartTimer()
				for taken := 0; taken < entries; {
					taken += h.step()
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(entries*b.N), "µs/entry")
		})
	}
}
