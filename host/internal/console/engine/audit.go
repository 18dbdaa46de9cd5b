package engine

import (
	"context"
	"log/slog"
	"time"
)

// AuditTo returns an Audit that writes to a log's handler, whatever the levels are
// set to: log:set must not hide what is done with it.
func AuditTo(h slog.Handler) func(context.Context, Audited) {
	return func(ctx context.Context, a Audited) {
		r := slog.NewRecord(time.Now(), slog.LevelInfo, "command", 0)
		r.AddAttrs(slog.String("user", a.Caller.User), slog.String("address", a.Caller.Address), slog.String("request", a.Caller.RequestID),
			slog.String("line", a.Line), slog.Int("code", int(a.Code)), slog.String("took", a.Duration.Round(time.Microsecond).String()))
		_ = h.Handle(ctx, r) // a log that cannot be written has nobody to tell
	}
}
