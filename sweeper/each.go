package sweeper

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// errorsKept bounds how many failures of one sweep are told of.
const errorsKept = 10

// each does something for every item, a few at once, and returns what failed.
// An item that fails is passed over; nothing more is begun once ctx has ended,
// or where nothing is alive to do it with.
func each[T any](ctx context.Context, alive func(context.Context) bool, items []T, do func(context.Context, T) error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var failed failures
	var wg sync.WaitGroup
	next := make(chan T)
	for range min(sweepAtOnce, len(items)) {
		wg.Go(func() {
			for item := range next {
				if err := guarded(ctx, item, do); err != nil {
					failed.add(err)
					if !alive(ctx) {
						stop()
					}
				}
			}
		})
	}
feeding:
	for _, item := range items {
		select {
		case next <- item:
		case <-ctx.Done():
			failed.add(context.Cause(ctx))
			break feeding
		}
	}
	close(next)
	wg.Wait()
	return errors.Join(failed.kept...)
}

// errPanicked is the error where handling one item panicked.
var errPanicked = errors.New("a sweep panicked")

// guarded makes an error of a panic, which in a goroutine of its own nobody else
// could catch.
func guarded[T any](ctx context.Context, item T, do func(context.Context, T) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", errPanicked, p)
		}
	}()
	return do(ctx, item)
}

// failures keeps the first few errors.
type failures struct {
	mu   sync.Mutex // guards kept
	kept []error
}

func (f *failures) add(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.kept) < errorsKept {
		f.kept = append(f.kept, err)
	}
}
