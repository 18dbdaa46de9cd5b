// Package logs is the controller's standard log: JSON lines in log/ctl.log with
// rotation, levels per logger name that change at run time, and the newest
// records in memory for log:display and log:tail. Metrics are not here: see the
// admin listener in package server.
package logs

import (
	"cmp"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"gopkg.in/natefinch/lumberjack.v2"
)

// Root is the logger whose level all others inherit.
const Root = "ROOT"

// Options of a registry.
type Options struct {
	File     string                // empty = no file
	MaxSize  int                   // of the file before it is rotated, in MiB; 0 = 20
	Keep     int                   // rotated files that are kept; 0 = 5
	Buffer   int                   // newest records kept in memory; 0 = 2000
	Level    slog.Level            // of ROOT
	Levels   map[string]slog.Level // of further loggers
	Fallback io.Writer             // gets what File does not take, and why, when not nil
}

// Registry makes loggers and holds their levels. It is safe for concurrent use.
type Registry struct {
	ring *ring

	mu      sync.Mutex
	set     map[string]slog.Level    // levels that were set
	loggers map[string]*atomic.Int64 // effective level of each logger in use

	out     sync.Mutex     // one record at a time, see handler
	file    io.WriteCloser // nil: there is none, or it is closed
	instead io.Writer      // Options.Fallback
	failing error          // why the last record went there; nil = it did not
	current Entry
	handler slog.Handler
}

// New makes a registry and opens its file.
func New(o Options) *Registry {
	r := &Registry{
		ring:    newRing(cmp.Or(o.Buffer, 2000)),
		instead: o.Fallback,
		set:     map[string]slog.Level{Root: o.Level},
		loggers: map[string]*atomic.Int64{},
	}
	maps.Copy(r.set, o.Levels)
	if o.File != "" {
		r.file = &lumberjack.Logger{
			Filename:   o.File,
			MaxSize:    cmp.Or(o.MaxSize, 20),
			MaxBackups: cmp.Or(o.Keep, 5),
		}
	}
	r.handler = slog.NewJSONHandler(
		sink{r},
		&slog.HandlerOptions{
			Level:       Trace,
			ReplaceAttr: replaceAttr,
		},
	)
	return r
}

// Failed is why the file did not take the last record; nil = it did.
func (r *Registry) Failed() error {
	r.out.Lock()
	defer r.out.Unlock()
	return r.failing
}

// Logger returns the logger of a name. Names are hierarchical, such as
// org.ctl.aaa or plugin.switch: a logger without a level of its own has that of
// the nearest one above it.
func (r *Registry) Logger(name string) *slog.Logger {
	if name == "" {
		name = Root
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	level, ok := r.loggers[name]
	if !ok {
		level = new(atomic.Int64)
		level.Store(int64(r.effectiveLevel(name)))
		r.loggers[name] = level
	}
	return slog.New(handler{
		reg:   r,
		name:  name,
		level: level,
		inner: r.handler.WithAttrs([]slog.Attr{slog.String("logger", name)}),
	})
}

// effectiveLevel is called with mu held.
func (r *Registry) effectiveLevel(name string) slog.Level {
	for {
		if l, ok := r.set[name]; ok {
			return l
		}
		i := strings.LastIndexByte(name, '.')
		if i < 0 {
			return r.set[Root]
		}
		name = name[:i]
	}
}

// Set gives a logger, whether in use or not, a level by name (see LevelNames);
// Default takes it away again. ROOT always has one: Default makes it INFO.
func (r *Registry) Set(name, level string) error {
	if name == "" {
		name = Root
	}
	if err := checkName(name); err != nil {
		return err
	}
	l, err := ParseLevel(level)
	unset := strings.EqualFold(level, Default)
	if err != nil && !unset {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case unset && name == Root:
		r.set[Root] = slog.LevelInfo
	case unset:
		delete(r.set, name)
	default:
		r.set[name] = l
	}
	for n, level := range r.loggers {
		level.Store(int64(r.effectiveLevel(n)))
	}
	return nil
}

// checkName keeps the table of levels to names that a logger can have.
func checkName(name string) error {
	ok := len(name) <= 200 && !strings.HasPrefix(name, ".") && !strings.HasSuffix(name, ".") && !strings.Contains(name, "..")
	for _, c := range name {
		ok = ok && c > ' ' && c < 0x7f
	}
	if !ok {
		return fmt.Errorf(
			"%q is not a logger's name such as org.ctl.aaa, plugin.switch or ROOT",
			name,
		)
	}
	return nil
}

// Get returns the effective level of a logger by name.
func (r *Registry) Get(name string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return LevelName(r.effectiveLevel(name))
}

// Setting is a logger that has a level of its own.
type Setting struct {
	Logger string `json:"logger"`
	Level  string `json:"level"`
}

// List returns the levels that are set, ROOT first.
func (r *Registry) List() []Setting {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := []Setting{{Root, LevelName(r.set[Root])}}
	for _, name := range slices.Sorted(maps.Keys(r.set)) {
		if name != Root {
			out = append(out, Setting{name, LevelName(r.set[name])})
		}
	}
	return out
}

// Names returns the loggers in use and those with a level, for completion.
func (r *Registry) Names() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	names := slices.AppendSeq(slices.Collect(maps.Keys(r.loggers)), maps.Keys(r.set))
	slices.Sort(names)
	return slices.Compact(names)
}

// Close closes the file. Records logged later are kept in memory only.
func (r *Registry) Close() error {
	r.out.Lock()
	defer r.out.Unlock()
	if r.file == nil {
		return nil
	}
	f := r.file
	r.file = nil
	return f.Close()
}
