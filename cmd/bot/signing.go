package main

import (
	"context"
	"fmt"
	"time"

	"countersign/approval"
	"countersign/config"
)

// signingKeys are the keys of the configuration, nil where there are none.
func signingKeys(cfg config.Config) (*approval.Keys, error) {
	if cfg.Audit.SigningKey.Empty() {
		return nil, nil
	}
	keys, err := approval.ParseKeys([]byte(cfg.Audit.SigningKey.Reveal()))
	if err != nil {
		return nil, fmt.Errorf("audit.signing_key: %w", err)
	}
	return keys, nil
}

// sealedSetting remembers that every open approval was looked at since a key
// was configured.
const sealedSetting = "sealed"

// unsealed has every open approval looked at once after the first key was configured:
// those from before it bear no seal, and are refused.
func (a *App) unsealed(ctx context.Context) error {
	want := "" // what opens without a key has to be looked at once there is one again
	if !a.config().Audit.SigningKey.Empty() {
		want = "yes"
	}
	for {
		done, err := a.store.Setting(ctx, sealedSetting)
		if err == nil && done == want {
			return nil
		}
		if err == nil && want != "" {
			err = a.store.TouchOpen(ctx)
		}
		if err == nil {
			err = a.store.SetSetting(ctx, sealedSetting, want)
		}
		if err == nil || ctx.Err() != nil {
			return nil
		}
		a.opts.Log.Warn().Err(err).Msg("approvals from before the first key are not refused yet; trying again")
		if !wait(ctx, 10*time.Second) {
			return nil
		}
	}
}
