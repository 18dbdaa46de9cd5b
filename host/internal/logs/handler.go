package logs

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"

	"ctl.internal/internal/wire/onward"
)

// handler is one logger. The JSON handler inside writes a record with a single
// Write, so that sink can pair the line with the record it came from.
type handler struct {
	reg   *Registry
	name  string
	level *atomic.Int64
	inner slog.Handler
}

// Enabled reports whether the logger's level lets a record pass.
func (h handler) Enabled(_ context.Context, l slog.Level) bool {
	return int64(l) >= h.level.Load()
}

// Handle writes a record to the file, the console and the ring.
func (h handler) Handle(ctx context.Context, rec slog.Record) error {
	if id := onward.TraceOf(ctx); id != "" {
		rec = rec.Clone()
		rec.AddAttrs(slog.String(onward.LogKey, id))
	}
	h.reg.out.Lock()
	defer h.reg.out.Unlock()
	h.reg.current = Entry{
		Time:    rec.Time,
		Level:   rec.Level,
		Logger:  h.name,
		Message: rec.Message,
	}
	return h.inner.Handle(ctx, rec)
}

// WithAttrs returns a handler that adds attributes.
func (h handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	h.inner = h.inner.WithAttrs(attrs)
	return h
}

// WithGroup returns a handler that opens a group.
func (h handler) WithGroup(name string) slog.Handler {
	h.inner = h.inner.WithGroup(name)
	return h
}

// sink takes the finished line; Registry.out is held.
type sink struct{ reg *Registry }

// Write passes a line on. A disk that is full must not fail the caller who logs.
func (s sink) Write(line []byte) (int, error) {
	e := s.reg.current
	e.JSON = strings.TrimSuffix(string(line), "\n")
	e.Message = strings.Clone(e.Message) // it may be a part of something large
	s.reg.ring.addEntry(e)
	if s.reg.file != nil {
		_, err := s.reg.file.Write(line)
		if err != nil {
			s.divertRecord(line, err)
		}
		s.reg.failing = err
	}
	return len(line), nil
}

// divertRecord keeps a record that the file did not take where somebody may see it.
func (s sink) divertRecord(line []byte, why error) {
	if s.reg.instead == nil {
		return
	}
	if s.reg.failing == nil {
		fmt.Fprintf(s.reg.instead, "the log takes no more records, they follow here: %v\n", why)
	}
	_, _ = s.reg.instead.Write(line)
}

// Redacted is written for a value that must not be.
const Redacted = "**********"

// secretNames are parts of attribute names whose values are never written,
// whoever logs them: the last line of defence, not the first.
var secretNames = []string{"password", "passwd", "secret", "token", "community", "authorization", "credential", "private_key", "privatekey"}

// replaceAttr writes the names of levels, and masks secrets.
func replaceAttr(groups []string, a slog.Attr) slog.Attr {
	if len(groups) == 0 && a.Key == slog.LevelKey {
		if l, ok := a.Value.Any().(slog.Level); ok {
			return slog.String(slog.LevelKey, LevelName(l))
		}
	}
	key := strings.ToLower(a.Key)
	if slices.ContainsFunc(secretNames, func(n string) bool {
		return strings.Contains(key, n)
	}) {
		return slog.String(a.Key, Redacted)
	}
	return a
}
