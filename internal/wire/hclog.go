package wire

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"log/slog"

	"github.com/hashicorp/go-hclog"
)

// LevelTrace is hclog's lowest level, below slog's.
const LevelTrace = slog.LevelDebug - 4

// HCLog returns a logger for libraries that log with go-hclog, go-plugin above all, which writes to log. What
// it logs has at most the level most.
func HCLog(log *slog.Logger, most slog.Level) hclog.Logger { return &hcLogger{log: log, most: most} }

// hcLogger is an hclog.Logger over a slog.Logger. Its level is that of the slog.Logger, so SetLevel does nothing.
type hcLogger struct {
	log  *slog.Logger
	most slog.Level
	name string
	args []any // of With
}

func slogLevel(l hclog.Level) slog.Level {
	switch l {
	case hclog.Trace:
		return LevelTrace
	case hclog.Debug:
		return slog.LevelDebug
	case hclog.Warn:
		return slog.LevelWarn
	case hclog.Error:
		return slog.LevelError
	}
	return slog.LevelInfo
}

func (h *hcLogger) Log(level hclog.Level, msg string, args ...any) {
	if level == hclog.Off {
		return
	}
	for i, a := range args {
		if f, ok := a.(hclog.Format); ok && len(f) > 0 { // hclog.Fmt
			args = append([]any{}, args...)
			args[i] = fmt.Sprintf(fmt.Sprint(f[0]), f[1:]...)
		}
	}
	if h.name != "" {
		args = append(args[:len(args):len(args)], "module", h.name)
	}
	h.log.Log(context.Background(), min(slogLevel(level), h.most), msg, args...)
}

func (h *hcLogger) Trace(msg string, args ...any) { h.Log(hclog.Trace, msg, args...) }
func (h *hcLogger) Debug(msg string, args ...any) { h.Log(hclog.Debug, msg, args...) }
func (h *hcLogger) Info(msg string, args ...any)  { h.Log(hclog.Info, msg, args...) }
func (h *hcLogger) Warn(msg string, args ...any)  { h.Log(hclog.Warn, msg, args...) }
func (h *hcLogger) Error(msg string, args ...any) { h.Log(hclog.Error, msg, args...) }

func (h *hcLogger) is(l hclog.Level) bool {
	return h.log.Enabled(context.Background(), min(slogLevel(l), h.most))
}

func (h *hcLogger) IsTrace() bool { return h.is(hclog.Trace) }
func (h *hcLogger) IsDebug() bool { return h.is(hclog.Debug) }
func (h *hcLogger) IsInfo() bool  { return h.is(hclog.Info) }
func (h *hcLogger) IsWarn() bool  { return h.is(hclog.Warn) }
func (h *hcLogger) IsError() bool { return h.is(hclog.Error) }

// GetLevel returns the lowest level that is logged.
func (h *hcLogger) GetLevel() hclog.Level {
	for l := hclog.Trace; l <= hclog.Error; l++ {
		if h.is(l) {
			return l
		}
	}
	return hclog.Off
}

func (h *hcLogger) SetLevel(hclog.Level) {}

func (h *hcLogger) ImpliedArgs() []any { return h.args }

func (h *hcLogger) With(args ...any) hclog.Logger {
	return &hcLogger{h.log.With(args...), h.most, h.name, append(h.args[:len(h.args):len(h.args)], args...)}
}

func (h *hcLogger) Name() string { return h.name }

func (h *hcLogger) Named(name string) hclog.Logger {
	if h.name != "" {
		name = h.name + "." + name
	}
	return h.ResetNamed(name)
}

func (h *hcLogger) ResetNamed(name string) hclog.Logger {
	return &hcLogger{h.log, h.most, name, h.args}
}

func (h *hcLogger) StandardLogger(o *hclog.StandardLoggerOptions) *log.Logger {
	return log.New(h.StandardWriter(o), "", 0)
}

func (h *hcLogger) StandardWriter(o *hclog.StandardLoggerOptions) io.Writer {
	if o == nil {
		o = &hclog.StandardLoggerOptions{}
	}
	return lineLogger{h, *o}
}

// lineLogger logs each Write as one message, with the level in [brackets] before it if that is asked for.
type lineLogger struct {
	log     *hcLogger
	options hclog.StandardLoggerOptions
}

func (l lineLogger) Write(p []byte) (int, error) {
	text, level := bytes.TrimSpace(p), hclog.Info
	if word, rest, ok := bytes.Cut(text, []byte("] ")); ok && word[0] == '[' && (l.options.InferLevels || l.options.ForceLevel != hclog.NoLevel) {
		if named := hclog.LevelFromString(string(word[1:])); named != hclog.NoLevel {
			text, level = rest, named
		}
	}
	if l.options.ForceLevel != hclog.NoLevel {
		level = l.options.ForceLevel
	}
	l.log.Log(level, string(text))
	return len(p), nil
}
