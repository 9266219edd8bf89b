package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"time"
)

// keptFor is how long approvals stay open that are kept between runs: less than the
// longest that a request may ask for.
const keptFor = 160 * time.Hour

// appended is the folder in which a redis-server keeps its append-only file.
const appended = "appendonlydir"

// fill sets the stage with many approvals open: it has the bot take them in, or takes
// those that an earlier run has kept.
func (r *run) fill(ctx context.Context, dir, program string) error {
	kept := filepath.Join(r.filled, appended)
	if _, err := os.Stat(kept); r.filled != "" && err == nil {
		r.say("%d approvals open: as kept in %s", r.open, r.filled)
		if err := os.CopyFS(filepath.Join(dir, appended), os.DirFS(kept)); err != nil {
			return err
		}
		if r.full, err = newStage(ctx, dir, r.redis, program); err != nil {
			return err
		}
		return r.full.holds(ctx, r.open)
	}
	var err error
	if r.full, err = newStage(ctx, dir, r.redis, program); err != nil {
		return err
	}
	until := time.Time{}
	if r.filled != "" {
		until = time.Now().Add(keptFor)
	}
	r.say("%d approvals open: taking them in", r.open)
	mib, err := r.full.fill(ctx, r.open, until)
	if err != nil {
		return err
	}
	r.add(memoryFull, theBot, mib)
	if r.filled == "" {
		return nil
	}
	return r.full.keep(ctx, kept)
}

// holds wants so many approvals to be open, and has the server count as the one that the
// bot knows: cards are all drawn anew where Redis was started anew, which is not what is
// to be measured.
func (s *stage) holds(ctx context.Context, n int) error {
	open, err := s.rdb.ZCard(ctx, keyDeadlines).Result()
	if err != nil {
		return err
	}
	if open != int64(n) {
		return fmt.Errorf("%d approvals are open in what was kept, want %d", open, n)
	}
	info, err := s.rdb.Info(ctx, "server").Result()
	if err != nil {
		return err
	}
	m := regexp.MustCompile(`run_id:(\S+)`).FindStringSubmatch(info)
	if m == nil {
		return errors.New("the server does not tell which run it is")
	}
	return s.rdb.HSet(ctx, keySettings, "server", m[1]).Err()
}

// keep copies what Redis holds to a folder, written anew so that it loads quickly.
func (s *stage) keep(ctx context.Context, to string) error {
	if err := s.rewritten(ctx); err != nil { // by itself, as it grew
		return err
	}
	if err := s.rdb.BgRewriteAOF(ctx).Err(); err != nil {
		return err
	}
	if err := s.rewritten(ctx); err != nil {
		return err
	}
	return os.CopyFS(to, os.DirFS(filepath.Join(s.dir, appended)))
}

// rewritten waits until the append-only file is not being written anew.
func (s *stage) rewritten(ctx context.Context) error {
	running := regexp.MustCompile(`aof_rewrite_(in_progress|scheduled):1`)
	for {
		info, err := s.rdb.Info(ctx, "persistence").Result()
		if err != nil || !running.MatchString(info) {
			return err
		}
		after(ctx, 100*time.Millisecond)
	}
}
