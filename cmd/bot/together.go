package main

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"
)

// together runs parts at once. The first that fails ends the others; the error
// is the first one. A panic is an error, too.
func together(ctx context.Context, parts ...func(context.Context) error) error {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	errs := make(chan error, len(parts))
	for _, part := range parts {
		go func() {
			err := recovered(ctx, part)
			if err != nil {
				end(err)
			}
			errs <- err
		}()
	}
	var first error
	for range parts {
		if err := <-errs; err != nil && first == nil {
			first = err
		}
	}
	return first
}

// together runs parts of the bot at once; one that panics is begun anew.
func (a *App) together(ctx context.Context, parts ...func(context.Context) error) error {
	steady := make([]func(context.Context) error, len(parts))
	for i, part := range parts {
		steady[i] = func(ctx context.Context) error { return a.steadily(ctx, part) }
	}
	return together(ctx, steady...)
}

// panicPause is how long a part that panicked is left alone.
const panicPause = time.Second

// steadily runs a part, and begins it anew where it panics: that is like a kill
// in its midst, after which everything it does may be done again.
func (a *App) steadily(ctx context.Context, part func(context.Context) error) error {
	for {
		err := recovered(ctx, part)
		var fault *panicked
		if !errors.As(err, &fault) {
			return err
		}
		a.health.count("panics")
		a.opts.Log.Error().Err(err).Bytes("stack", fault.stack).Msg("a part of the bot panicked; it is begun anew")
		if !wait(ctx, panicPause) {
			return nil
		}
	}
}

// A panicked is a panic of one part.
type panicked struct {
	value any
	stack []byte
}

// Error gives the value that it panicked with.
func (p *panicked) Error() string { return fmt.Sprintf("panic: %v", p.value) }

// recovered runs a part and makes an error of a panic in it.
func recovered(ctx context.Context, part func(context.Context) error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &panicked{value: v, stack: debug.Stack()}
		}
	}()
	return part(ctx)
}
