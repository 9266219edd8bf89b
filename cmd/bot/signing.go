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

// sealedSetting remembers that every open approval was looked at since the first key
// was configured.
const sealedSetting = "sealed"

// unsealed has every open approval looked at once after the first key was configured:
// those from before it bear no seal, and are refused.
func (a *App) unsealed(ctx context.Context) error {
	if a.config().Audit.SigningKey.Empty() {
		return nil
	}
	for {
		done, err := a.store.Setting(ctx, sealedSetting)
		if err == nil && done != "" {
			return nil
		}
		if err == nil {
			err = a.store.TouchOpen(ctx)
		}
		if err == nil {
			err = a.store.SetSetting(ctx, sealedSetting, "yes")
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
