package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"time"

	"countersign/config"
)

// drawnSetting remembers what of the configuration all open cards were looked at with.
const drawnSetting = "drawn"

// drawAgain is how long a failed try is left alone.
const drawAgain = 10 * time.Second

// drawnBy is a digest of what of a configuration cards depend on, beside the rows.
func drawnBy(c *config.Config) (string, error) {
	of := struct {
		People   []config.Person
		Confirm  config.Confirm
		Replies  config.Replies
		Redact   config.Switch
		Timezone string
	}{slices.Clone(c.People), c.Confirm, c.Replies, c.Redact, c.Timezone}
	for i := range of.People {
		of.People[i].Name = "" // which stands on no card that is open
	}
	slices.SortFunc(of.People, func(a, b config.Person) int { return cmp.Compare(a.ID, b.ID) })
	text, err := json.Marshal(of)
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), err
}

// drawAnew follows up a configuration that changed, while this process leads: every
// open card is looked at once where what cards depend on is not what it was when they were looked
// at last, be it by a reload or while no bot ran. Else a start does not touch them,
// however many they are.
func (a *App) drawAnew(ctx context.Context) error {
	for {
		err := a.drawnWith(ctx, a.config())
		var again <-chan time.Time
		if err != nil && ctx.Err() == nil {
			a.opts.Log.Warn().Err(err).Msg("open cards were not drawn anew after the configuration changed; trying again")
			again = time.After(drawAgain)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-a.redraw:
		case <-again:
		}
	}
}

func (a *App) drawnWith(ctx context.Context, c *config.Config) error {
	want, err := drawnBy(c)
	if err != nil {
		return err
	}
	last, err := a.store.Setting(ctx, drawnSetting)
	if err != nil || last == want {
		return err
	}
	// Until all are marked they may have been drawn in part: to go back is a change as well.
	if err := a.store.SetSetting(ctx, drawnSetting, ""); err != nil {
		return err
	}
	if err := a.store.TouchOpen(ctx); err != nil {
		return err
	}
	return a.store.SetSetting(ctx, drawnSetting, want)
}
