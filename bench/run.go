package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// A run is one call of this program.
type run struct {
	options
	*results
	out   io.Writer
	stage *stage // with nothing in it when a measurement begins
	full  *stage // with many approvals open; nil unless wanted
}

// bench measures everything and writes what came of it.
func bench(ctx context.Context, o options, out io.Writer) (err error) {
	dir, err := os.MkdirTemp("", "bench")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	program := o.bot
	if program == "" {
		if program, err = build(ctx, dir); err != nil {
			return err
		}
	}
	r := &run{options: o, results: newResults(), out: out}
	if info, err := os.Stat(program); err == nil {
		r.add(binary, theBot, float64(info.Size())/(1<<20))
	}
	if r.stage, err = newStage(ctx, filepath.Join(dir, "empty"), o.redis, program); err != nil {
		return err
	}
	defer r.stage.close()
	if o.wants("full") {
		defer func() {
			if r.full != nil {
				r.full.close()
			}
		}()
		if err := r.fill(ctx, filepath.Join(dir, "full"), program); err != nil {
			return err
		}
	}
	for i := range o.rounds {
		r.say("round %d of %d", i+1, o.rounds)
		if err := r.round(ctx, i); err != nil {
			return err
		}
	}
	fmt.Fprintf(out, "\n%s\n%s", machine(ctx, r.stage), table(r.results))
	if o.docs {
		return writeDocs("docs", machine(ctx, r.stage), r.results)
	}
	return nil
}

// say tells whoever waits how far it is.
func (r *run) say(format string, a ...any) { fmt.Fprintf(r.out, format+"\n", a...) }

// round measures everything once.
func (r *run) round(ctx context.Context, i int) error {
	parts := []struct {
		name string
		do   func(context.Context, int) error
	}{
		{"intake", r.intakes},
		{"slow", r.slowly},
		{"paced", r.atPace},
		{"full", r.whileFull},
		{"start", r.starting},
		{"sweep", r.sweeping},
	}
	for _, p := range parts {
		if !r.wants(p.name) {
			continue
		}
		if err := p.do(ctx, i); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return nil
}

func everybody() []contender { return []contender{theFloor, theBot, theUsual} }

func (r *run) intakes(ctx context.Context, _ int) error {
	for _, c := range everybody() {
		rate, err := r.stage.intake(ctx, c, r.waiting, 0)
		if err != nil {
			return err
		}
		r.add(intakeFast, c, rate)
		r.say("  %s: %s cards/s", c, number(rate))
	}
	return nil
}

// far is the time to the API that stands for the network.
const far = 40 * time.Millisecond

func (r *run) slowly(ctx context.Context, _ int) error {
	for _, c := range everybody() {
		n := r.slowWaiting
		if c == theUsual {
			n = r.slowObvious
		}
		rate, err := r.stage.intake(ctx, c, n, far)
		if err != nil {
			return err
		}
		r.add(intakeSlow, c, rate)
		r.say("  %s: %s cards/s with 40 ms to the API", c, number(rate))
	}
	return nil
}

func (r *run) atPace(ctx context.Context, _ int) error {
	for _, c := range everybody() {
		if err := r.pace(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// pace has one contender live approvals at pace, with nothing else open.
func (r *run) pace(ctx context.Context, c contender) error {
	if err := r.stage.rdb.FlushAll(ctx).Err(); err != nil {
		return err
	}
	p, err := r.stage.paced(ctx, c, 0, r.paced)
	if err != nil {
		return err
	}
	r.latencies(toCard, c, p.card)
	r.latencies(toAnswer, c, p.answer)
	r.latencies(toToast, c, p.toast)
	r.add(cpuOf, c, p.cpu)
	r.add(redisCPU, c, p.redisCPU)
	r.say("  %s: card %s, answer %s, tap answered %s ms (p50); %s CPU s per 1,000, Redis %s", c,
		number(percentile(p.card, 0.5)), number(percentile(p.answer, 0.5)), number(percentile(p.toast, 0.5)),
		number(p.cpu), number(p.redisCPU))
	return nil
}

// whileFull measures the bot beside many open approvals, and beside none where nothing
// else did so in this round: one is held against the other.
func (r *run) whileFull(ctx context.Context, i int) error {
	if !r.wants("paced") {
		if err := r.pace(ctx, theBot); err != nil {
			return err
		}
	}
	p, err := r.full.paced(ctx, theBot, r.open+i*r.paced, r.paced)
	if err != nil {
		return err
	}
	r.latencies(fullCard, theBot, p.card)
	r.latencies(fullAnswer, theBot, p.answer)
	r.latencies(fullToast, theBot, p.toast)
	r.add(memoryBack, theBot, p.memory)
	r.say("  with %d open: card %s, answer %s, tap answered %s ms (p50), %s MiB", r.open,
		number(percentile(p.card, 0.5)), number(percentile(p.answer, 0.5)), number(percentile(p.toast, 0.5)), number(p.memory))
	return nil
}

func (r *run) starting(ctx context.Context, _ int) error {
	for _, c := range everybody() {
		var polls []float64
		for range r.starts {
			toFirst, idle, err := r.stage.start(ctx, c)
			if err != nil {
				return err
			}
			polls = append(polls, toFirst)
			r.add(memoryIdle, c, idle)
		}
		r.add(toPoll, c, median(polls))
		r.say("  %s: first poll after %s ms", c, number(median(polls)))
	}
	return nil
}

func (r *run) sweeping(ctx context.Context, _ int) error {
	rate, err := r.stage.lapsing(ctx, r.lapsing)
	if err != nil {
		return err
	}
	r.add(lapses, theBot, rate)
	r.say("  a sweep: %s lapses/s", number(rate))
	return nil
}
