package plugin

import (
	"context"
	"log/slog"
	"sync/atomic"
)

// countDropped counts the lines of a plugin that the limit of its log dropped: package process logs how many they were,
// as the attribute "dropped".
type countDropped struct {
	slog.Handler
	n *atomic.Uint64
}

// Handle implements slog.Handler.
func (c countDropped) Handle(ctx context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "dropped" && a.Value.Kind() == slog.KindInt64 && a.Value.Int64() > 0 {
			c.n.Add(uint64(a.Value.Int64()))
		}
		return true
	})
	return c.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (c countDropped) WithAttrs(attrs []slog.Attr) slog.Handler {
	return countDropped{c.Handler.WithAttrs(attrs), c.n}
}

// WithGroup implements slog.Handler.
func (c countDropped) WithGroup(name string) slog.Handler {
	return countDropped{c.Handler.WithGroup(name), c.n}
}
