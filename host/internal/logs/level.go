package logs

import (
	"fmt"
	"log/slog"
	"strings"
)

// Levels beyond those of slog. Off lets nothing pass.
const (
	Trace = slog.Level(-8)
	Fatal = slog.Level(12)
	Off   = slog.Level(1 << 20)
)

var levels = []struct {
	name  string
	level slog.Level
}{{"OFF", Off}, {"TRACE", Trace}, {"DEBUG", slog.LevelDebug}, {"INFO", slog.LevelInfo},
	{"WARN", slog.LevelWarn}, {"ERROR", slog.LevelError}, {"FATAL", Fatal}}

// Default is the name that takes a logger's own level away.
const Default = "DEFAULT"

// LevelNames are the names that Set takes, Default last.
func LevelNames() []string {
	var names []string
	for _, l := range levels {
		names = append(names, l.name)
	}
	return append(names, Default)
}

// ParseLevel reads a level's name in any case; Default is not a level.
func ParseLevel(name string) (slog.Level, error) {
	for _, l := range levels {
		if strings.EqualFold(name, l.name) {
			return l.level, nil
		}
	}
	return 0, fmt.Errorf(
		"%q is not a log level; the levels are %s",
		name,
		strings.Join(LevelNames(), " "),
	)
}

// LevelName is the name of the highest named level not above l.
func LevelName(l slog.Level) string {
	best := "TRACE"
	for _, n := range levels[1:] {
		if l >= n.level {
			best = n.name
		}
	}
	if l >= Off {
		return "OFF"
	}
	return best
}
