package sweeper

import (
	"context"
	"fmt"
	"time"

	"countersign/approval"
)

// How often the audit is chained, and how often it is said where its chain ends.
const (
	chainEvery  = time.Second
	anchorEvery = time.Hour
)

// chain chains the audit until ctx ends. It says where the chain ends once it is all
// chained, and then hourly, so that the log holds what no one who may write Redis can
// take back.
func (s *Sweeper) chain(ctx context.Context) {
	tick := time.NewTicker(chainEvery)
	defer tick.Stop()
	failures, said := 0, anchorEvery
	for {
		end, err := s.chainAll(ctx)
		switch {
		case err == nil && said >= anchorEvery:
			s.cfg.Log.Info().Int64("seq", end.Seq).Str("hash", end.Prev()).Msg("the audit's chain ends here")
			said = 0
			fallthrough
		case err == nil:
			failures = 0
			if s.cfg.Chained != nil {
				s.cfg.Chained(end.Seq)
			}
		case ctx.Err() == nil:
			if failures%60 == 0 {
				s.cfg.Log.Error().Err(err).Msg("the audit is not chained; the next round goes on")
			}
			failures++
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			said += chainEvery
		}
	}
}

// chainAll chains what there is, and returns where the chain ends.
func (s *Sweeper) chainAll(ctx context.Context) (end approval.Anchor, err error) {
	defer func() {
		if v := recover(); v != nil {
			s.cfg.Count("panics")
			err = fmt.Errorf("%w: %v", errPanicked, v)
		}
	}()
	for {
		n, end, err := s.cfg.Store.Chain(ctx)
		if err != nil || n == 0 {
			return end, err
		}
	}
}
