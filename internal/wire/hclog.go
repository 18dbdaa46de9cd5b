package wire

import (
	"context"
	"fmt"
	"io"
	"log/slog"

	"github.com/hashicorp/go-hclog"
)

// LevelTrace is hclog's lowest level, below slog's.
const LevelTrace = slog.LevelDebug - 4

// HCLog returns a logger for libraries that log with go-hclog, go-plugin above all, which writes to log. What
// it logs has at most the level most.
func HCLog(log *slog.Logger, most slog.Level) hclog.Logger {
	s := slogSink{log, most}
	lowest := hclog.Trace
	for lowest < hclog.Off && !log.Enabled(context.Background(), s.slogLevel(lowest)) {
		lowest++
	}
	l := hclog.NewInterceptLogger(&hclog.LoggerOptions{
		Output: io.Discard,
		Level:  lowest,
	})
	l.RegisterSink(s)
	return l
}

// slogSink takes what hclog loggers log.
type slogSink struct {
	log  *slog.Logger
	most slog.Level
}

func (s slogSink) slogLevel(l hclog.Level) slog.Level {
	named, ok := map[hclog.Level]slog.Level{
		hclog.Trace: LevelTrace,
		hclog.Debug: slog.LevelDebug,
		hclog.Warn:  slog.LevelWarn,
		hclog.Error: slog.LevelError,
	}[l]
	if !ok {
		named = slog.LevelInfo
	}
	return min(named, s.most)
}

// Accept implements hclog.SinkAdapter.
func (s slogSink) Accept(name string, level hclog.Level, msg string, args ...any) {
	if level == hclog.Off {
		return
	}
	for i, a := range args {
		f, ok := a.(hclog.Format)
		if ok && len(f) > 0 { // hclog.Fmt
			args[i] = fmt.Sprintf(fmt.Sprint(f[0]), f[1:]...)
		}
	}
	if name != "" {
		args = append(args, "module", name)
	}
	s.log.Log(context.Background(), s.slogLevel(level), msg, args...)
}
