package process

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
)

// logSink carries a plugin's lines into the host's log, at most so many a second,
// and keeps the last ones.
type logSink struct {
	mu      sync.Mutex
	handler slog.Handler
	limit   *rate.Limiter // lines
	bytes   *rate.Limiter
	read    *rate.Limiter  // lines that are looked at; of more of them only the number is kept
	dropped int            // lines that were not reported yet
	lost    *atomic.Uint64 // all of them
	dying   bool           // a Go trace has begun: what follows are errors
	tail    [tailLines]string
	next    int
}

const (
	tailLines = 40
	// A plugin may log so many bytes a second in the long run, and so many at once.
	bytesPerSecond = 64 << 10
	bytesAtOnce    = 1 << 20
	// maxTailLine is what is kept of a line for people.
	maxTailLine = 512
)

func newLogSink(s Spec) *logSink {
	lines, lost := s.LogRate, cmp.Or(s.LogLost, &atomic.Uint64{})
	return &logSink{
		handler: s.Logger.Handler(),
		limit:   rate.NewLimiter(rate.Limit(lines), 2*lines),
		bytes:   rate.NewLimiter(bytesPerSecond, bytesAtOnce),
		read:    rate.NewLimiter(rate.Limit(10*lines), 20*lines),
		lost:    lost,
	}
}

// addAttrs adds attributes to all that comes from now on.
func (s *logSink) addAttrs(attrs ...slog.Attr) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.handler = s.handler.WithAttrs(attrs)
}

// logStderr takes a line of the error stream.
func (s *logSink) logStderr(b []byte, cut int) {
	if s.isFlooded(b) {
		return
	}
	l := parseLine(b)
	s.mu.Lock()
	defer s.mu.Unlock()
	if !l.Structured {
		s.dying = s.dying || beginsPanic(l.Message)
		if s.dying {
			l.Level = slog.LevelError
		}
	}
	s.putLine(l, len(b), cut)
}

// logStdout takes a line that should not have been written.
func (s *logSink) logStdout(b []byte, cut int) {
	if s.isFlooded(b) {
		return
	}
	l := logLine{
		Level:   slog.LevelWarn,
		Message: parseLine(b).Message,
	}
	if l.Message == "" {
		l.Message = string(b)
	}
	l.Attrs = []slog.Attr{slog.String("stream", "stdout")}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.putLine(l, len(b), cut)
}

// isFlooded drops and counts a line of a plugin that writes so many that decoding them would cost memory and time: but not
// the last words of a Go program.
func (s *logSink) isFlooded(b []byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dying || s.read.Allow() || beginsPanic(string(b[:min(len(b), len("fatal error: "))])) {
		return false
	}
	s.dropped++
	s.lost.Add(1)
	return true
}

func (s *logSink) putLine(l logLine, size, cut int) {
	if l.Message == "" && len(l.Attrs) == 0 {
		return
	}
	s.rememberLine(l)
	ctx := context.Background()
	if !s.handler.Enabled(ctx, l.Level) {
		return
	}
	now := time.Now()
	if !s.limit.AllowN(now, 1) || !s.bytes.AllowN(now, size) {
		s.dropped++
		s.lost.Add(1)
		return
	}
	s.reportDropped(now)
	r := slog.NewRecord(now, l.Level, l.Message, 0)
	if l.Logger != "" {
		r.AddAttrs(slog.String("module", l.Logger))
	}
	if cut > 0 {
		r.AddAttrs(slog.Int("bytes_cut", cut))
	}
	r.AddAttrs(l.Attrs...)
	_ = s.handler.Handle(ctx, r) // a log that cannot be written is not the plugin's business
}

// reportDropped reports what the limit has swallowed.
func (s *logSink) reportDropped(now time.Time) {
	if s.dropped == 0 {
		return
	}
	r := slog.NewRecord(
		now,
		slog.LevelWarn,
		"the plugin logs faster than the limit; lines were dropped",
		0,
	)
	r.AddAttrs(slog.Int("dropped", s.dropped))
	s.dropped = 0
	_ = s.handler.Handle(context.Background(), r)
}

func (s *logSink) rememberLine(l logLine) {
	m := l.Message
	for _, a := range l.Attrs {
		m += fmt.Sprintf(" %s=%v", a.Key, a.Value)
		if len(m) > maxTailLine {
			break
		}
	}
	if len(m) > maxTailLine {
		m = strings.ToValidUTF8(m[:maxTailLine], "") + "…"
	}
	s.tail[s.next%tailLines] = m
	s.next++
}

// lastLines returns the last lines, oldest first.
func (s *logSink) lastLines() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reportDropped(time.Now())
	var out []string
	for i := max(0, s.next-tailLines); i < s.next; i++ {
		out = append(out, s.tail[i%tailLines])
	}
	return out
}

// maxLine is what is kept of a line, in bytes; the rest of a longer one is counted only.
const maxLine = 8 << 10

// lineWriter calls f for each line that is written to it, without its end. cut is how many bytes of the line are
// missing. The slice is valid during the call only.
type lineWriter struct {
	f   func(line []byte, cut int)
	buf []byte
	cut int
}

func (w *lineWriter) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		part, rest, ended := bytes.Cut(p, []byte{'\n'})
		room := min(len(part), maxLine-len(w.buf))
		w.buf = append(w.buf, part[:room]...)
		w.cut += len(part) - room
		if ended {
			w.endLine()
		}
		p = rest
	}
	return n, nil
}

func (w *lineWriter) endLine() {
	w.f(bytes.TrimRight(w.buf, "\r"), w.cut)
	w.buf, w.cut = w.buf[:0], 0
}

// readLines calls f for each line of r, as lineWriter does, until r ends.
func readLines(r io.Reader, f func(line []byte, cut int)) {
	w := &lineWriter{f: f}
	_, _ = io.Copy(w, r) // why it ended does not matter
	if len(w.buf) > 0 {
		w.endLine()
	}
}
