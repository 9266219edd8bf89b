package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"countersign/config"
	"countersign/policy"
	"countersign/store"
)

// policiesSetting remembers the policies that owners know of.
const policiesSetting = "policies"

// announceAgain is how long a failed try is left alone.
const announceAgain = 10 * time.Second

// knownPolicies are those that owners know of. Change counts how often they
// changed, so that a notice has a name of its own.
type knownPolicies struct {
	Change   int
	Policies []policy.Policy
}

// announce tells the owners what the policies let pass that they did not before,
// once for all replicas, be it after a reload or a new start.
func (a *App) announce(ctx context.Context) error {
	for {
		var again <-chan time.Time
		if err := a.compare(ctx); err != nil && ctx.Err() == nil {
			a.opts.Log.Warn().Err(err).Msg("owners were not told yet of what the policies newly let pass")
			again = time.After(announceAgain)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-a.reloaded:
		case <-again:
		}
	}
}

// compare compares the policies with those that owners know of. The notices are
// named by what they say, so that a kill half way, or another replica, doubles none,
// and a further change after such a kill is told, too.
func (a *App) compare(ctx context.Context) error {
	cfg := a.config()
	now := compared(cfg)
	text, err := a.store.Setting(ctx, policiesSetting)
	if err != nil {
		return err
	}
	var known knownPolicies
	first := text == ""
	if !first {
		if err := json.Unmarshal([]byte(text), &known); err != nil {
			a.opts.Log.Warn().Err(err).Msg("the policies that owners know of cannot be read; they are told of all")
		}
	}
	next, err := json.Marshal(knownPolicies{Change: known.Change + 1, Policies: now})
	if err != nil {
		return err
	}
	if same, err := json.Marshal(knownPolicies{Change: known.Change, Policies: now}); err != nil || string(same) == text {
		return err
	}
	if what := policy.Looser(known.Policies, now); !first && len(what) > 0 {
		a.opts.Log.Warn().Strs("looser", what).Msg("the policies let more pass than the owners know of; they are told")
		said := sha256.Sum256([]byte(strings.Join(what, "\n")))
		for _, owner := range owners(cfg) {
			n := store.Notice{
				ID: fmt.Sprintf("looser:%d:%x:%d", known.Change+1, said[:8], owner), Kind: store.Looser, Chat: owner, What: what,
			}
			if _, err := a.store.NewNotice(ctx, n, 0); err != nil {
				return err
			}
		}
	}
	return a.store.SetSetting(ctx, policiesSetting, string(next))
}

// changed logs what a reload made looser, and has the owners told.
func (a *App) changed(before, after *config.Config) {
	if what := policy.Looser(compared(before), compared(after)); len(what) > 0 {
		a.opts.Log.Warn().Strs("looser", what).Msg("the policies let more pass now")
	}
	select {
	case a.reloaded <- struct{}{}:
	default: // it is about to look
	}
}
