package process

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"unicode"

	"ctl.internal/internal/wire"
)

// logLine is one log record of a plugin.
type logLine struct {
	Level   slog.Level
	Message string
	Logger  string // hclog's module
	Attrs   []slog.Attr
	// Structured is false for plain text.
	Structured bool
}

// parseLine reads one line, without its end: JSON of log/slog or hclog, or plain text. It never fails. Plain text has
// level Info unless it says otherwise.
func parseLine(b []byte) logLine {
	b = bytes.TrimSpace(b)
	if len(b) > 1 && b[0] == '{' {
		var m map[string]any
		d := json.NewDecoder(bytes.NewReader(b))
		d.UseNumber()
		if d.Decode(&m) == nil && !d.More() {
			return fromJSON(m)
		}
	}
	return fromText(printableText(string(b)))
}

// fromJSON takes the keys of slog or, failing those, of hclog. A key whose value
// has another type than it should is an attribute like any other: hosts have died
// of such lines.
func fromJSON(m map[string]any) logLine {
	l := logLine{Level: slog.LevelInfo, Structured: true}
	take := func(keys ...string) string {
		for _, k := range keys {
			if s, ok := m[k].(string); ok {
				delete(m, k)
				return s
			}
		}
		return ""
	}
	if lv, ok := parseLevel(take("level", "@level")); ok {
		l.Level = lv
	}
	l.Message = printableText(take("msg", "@message", "message"))
	l.Logger = printableText(take("@module", "logger"))
	delete(m, "time") // the host's is that of the line
	delete(m, "@timestamp")
	for _, k := range slices.Sorted(maps.Keys(m)) {
		l.Attrs = append(l.Attrs, slog.Any(attributeName(k), m[k]))
	}
	return l
}

// hostKeys are members of a line that say when, where and of whom it is. The host alone writes them: most readers take
// the last of two members with one name.
var hostKeys = []string{slog.TimeKey, slog.LevelKey, slog.MessageKey, slog.SourceKey, "logger", "plugin", "pid", "version", "module", "stream", "bytes_cut", "dropped"}

// attributeName is the name under which an attribute of a plugin is logged.
func attributeName(s string) string {
	s = printableText(s)
	if slices.Contains(hostKeys, strings.ToLower(s)) {
		return "plugin_" + s
	}
	return s
}

func fromText(s string) logLine {
	l := logLine{Level: slog.LevelInfo, Message: s}
	if rest, ok := strings.CutPrefix(s, "["); ok {
		if word, msg, ok := strings.Cut(rest, "]"); ok {
			if lv, ok := parseLevel(word); ok {
				l.Level, l.Message = lv, strings.TrimSpace(msg)
			}
		}
	}
	if beginsPanic(s) {
		l.Level = slog.LevelError
	}
	return l
}

// beginsPanic reports whether a plain line starts the trace of a dying Go program,
// of which every further line is an error too.
func beginsPanic(s string) bool {
	return strings.HasPrefix(s, "panic: ") || strings.HasPrefix(s, "fatal error: ")
}

func parseLevel(s string) (slog.Level, bool) {
	switch strings.ToLower(strings.TrimSpace(s)) {
	case "":
		return 0, false
	case "trace":
		return wire.LevelTrace, true
	case "warning":
		return slog.LevelWarn, true
	case "err", "fatal", "critical":
		return slog.LevelError, true
	}
	var l slog.Level
	if l.UnmarshalText([]byte(strings.TrimSpace(s))) != nil {
		return 0, false
	}
	return l, true
}

// printableText replaces what is not seen as it is: control characters and marks of direction, which would let a plugin draw
// on the operator's terminal, separators of lines, and bytes that are no UTF-8.
func printableText(s string) string {
	s = strings.ToValidUTF8(s, "�")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t', r == '\u00a0':
			return ' '
		case !unicode.IsPrint(r):
			return '�'
		}
		return r
	}, s)
}
