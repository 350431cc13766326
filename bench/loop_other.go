//go:build !linux

package bench

import (
	"context"
	"net"
	"time"
)

func (e *engine) run(ctx context.Context, conns []net.Conn, warmup, duration time.Duration) error {
	return e.runPortable(ctx, conns, warmup, duration)
}
