package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"countersign/approval"
	"countersign/config"
	"countersign/policy"
	"countersign/store"
)

// knownSetting remembers the configuration that owners know of.
const knownSetting = "policies" // of which it was once

// announceAgain is how long a failed try is left alone.
const announceAgain = 10 * time.Second

// A known is what owners know of. Change counts how often it changed, so that a
// notice has a name of its own.
type known struct {
	Change   int
	Policies []policy.Policy
	Rights   *config.Rights `json:",omitempty"` // nil: never compared yet
}

// knowing is what owners know of who were told of a configuration.
func knowing(c *config.Config, change int) known {
	rights := c.Rights()
	return known{Change: change, Policies: compared(c), Rights: &rights}
}

// looser says what a configuration allows that an older one did not, for people and
// for the audit.
func looser(before, after known) (what []string, audited []approval.Loosening) {
	if before.Rights != nil {
		for _, l := range config.Looser(*before.Rights, *after.Rights) {
			what = append(what, l.What)
			audited = append(audited, approval.Loosening{Code: l.Code, Of: l.Of})
		}
	}
	for _, said := range policy.Looser(before.Policies, after.Policies) {
		what = append(what, said)
		audited = append(audited, approval.Loosening{Code: "policy", Of: sha256Of([]byte(said))})
	}
	return what, audited
}

// announce remembers each configuration that a reload brings, where that did not
// work out at the reload itself.
func (a *App) announce(ctx context.Context) error {
	var again <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-a.reloaded:
		case <-again:
		}
		again = nil
		a.reloads.Lock()
		err := a.compare(ctx, a.config())
		a.reloads.Unlock()
		if err != nil && ctx.Err() == nil {
			a.opts.Log.Warn().Err(err).Msg("it could not be remembered yet which configuration the owners know of")
			again = time.After(announceAgain)
		}
	}
}

// compare compares a configuration with the one that owners know of, and writes what
// it newly allows into the audit and tells the owners of it, together and once for all
// replicas, be it before a reload or at a new start. At the very first start there is
// nothing to compare with.
func (a *App) compare(ctx context.Context, cfg *config.Config) error {
	for {
		text, err := a.store.Setting(ctx, knownSetting)
		if err != nil {
			return err
		}
		var before known
		if text != "" {
			if err := json.Unmarshal([]byte(text), &before); err != nil {
				a.opts.Log.Warn().Err(err).Msg("the configuration that owners know of cannot be read; they are told of all policies")
				before = known{}
			}
		}
		m := store.Memory{Name: knownSetting, Read: text}
		next, err := encoded(knowing(cfg, before.Change))
		if err != nil || next == text {
			return err
		}
		after := knowing(cfg, before.Change+1)
		if m.Now, err = encoded(after); err != nil {
			return err
		}
		var what []string
		if text != "" {
			if what, err = a.news(&m, before, after, cfg); err != nil {
				return err
			}
		}
		if done, err := a.store.Remember(ctx, m); err != nil || done {
			if done && len(what) > 0 {
				a.opts.Log.Warn().Strs("looser", what).Msg("the configuration allows more than the owners knew of; it is in the audit, and they are told")
			}
			return err
		}
	}
}

// news lays what is newly allowed into m. It is told to whoever is an owner, and to
// whoever was one: of a change of owners they are the ones to know.
func (a *App) news(m *store.Memory, before, after known, cfg *config.Config) ([]string, error) {
	what, audited := looser(before, after)
	if len(what) == 0 {
		return nil, nil
	}
	m.Audit = &approval.Loosened{Looser: audited}
	for _, side := range []struct {
		to *string
		of known
	}{{&m.Audit.Before, before}, {&m.Audit.After, after}} {
		side.of.Change = 0 // which is no part of what is allowed
		text, err := encoded(side.of)
		if err != nil {
			return nil, err
		}
		*side.to = sha256Of([]byte(text))
	}
	told := owners(cfg)
	if before.Rights != nil {
		told = append(told, owners(&config.Config{People: before.Rights.People})...)
	}
	slices.Sort(told)
	said := sha256.Sum256([]byte(strings.Join(what, "\n")))
	for _, owner := range slices.Compact(told) {
		m.Notices = append(m.Notices, store.Notice{
			ID: fmt.Sprintf("looser:%d:%x:%d", after.Change, said[:8], owner), Kind: store.Looser, Chat: owner, What: what,
		})
	}
	return what, nil
}

func encoded(k known) (string, error) {
	text, err := json.Marshal(k)
	return string(text), err
}

func sha256Of(text []byte) string {
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:])
}
