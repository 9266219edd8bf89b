package queue_test

import (
	"context"
	"errors"
	"net"
	"sync/atomic"

	"github.com/redis/go-redis/v9"
)

var errSevered = errors.New("severed by the test")

// severed fails one command while it is on, before it reaches the server.
type severed struct {
	command string
	on      atomic.Bool
	refused atomic.Int64
}

func (h *severed) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) { return next(ctx, network, addr) }
}

func (h *severed) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if h.on.Load() && cmd.Name() == h.command {
			h.refused.Add(1)
			cmd.SetErr(errSevered)
			return errSevered
		}
		return next(ctx, cmd)
	}
}

// Of several commands sent at once it fails that one alone.
func (h *severed) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		var err error
		rest := make([]redis.Cmder, 0, len(cmds))
		for _, cmd := range cmds {
			if h.on.Load() && cmd.Name() == h.command {
				h.refused.Add(1)
				cmd.SetErr(errSevered)
				err = errSevered
				continue
			}
			rest = append(rest, cmd)
		}
		return errors.Join(err, next(ctx, rest))
	}
}
