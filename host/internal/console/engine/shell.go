// Package engine is the shell without a terminal: it finds the commands of a line
// in the command tables, checks what was given to them, runs pipelines, and
// answers completion and help. Package syntax reads the line, filter holds the
// text filters, sshserver gives it a terminal.
package engine

import (
	"cmp"
	"context"
	"crypto/rand"
	"log/slog"
	"sync"
	"time"

	"ctl.internal/host/internal/console/filter"
	"ctl.internal/internal/console"
	"ctl.internal/sdk/caller"
	"ctl.internal/sdk/commands"
)

// shellScope is the scope of the shell's own commands; their bare names win
// everywhere.
const shellScope = "shell"

// Audited is one pipeline that ran, its secrets masked.
type Audited struct {
	Caller   caller.Caller
	Line     string
	Code     console.Code
	Duration time.Duration
	Reads    bool // it changes nothing
	Helps    bool // it shows the help of commands, and runs none
}

// Config is what a Shell is made of.
type Config struct {
	Sources []Source
	// Missing names the features that would bring a command, if any would.
	Missing func(command string) []string
	// Refuse returns why a command that changes something may not run now; nil = all may.
	Refuse func(command string) error
	// Audit is called after each pipeline; nil = no audit.
	Audit func(context.Context, Audited)
	Log   *slog.Logger // nil = discarded
	// NewRequestID names one run of a command in logs and to plugins; nil = random.
	NewRequestID func() string
}

// Shell is what all sessions share.
type Shell struct{ cfg Config }

// New makes a Shell.
func New(cfg Config) *Shell {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Missing == nil {
		cfg.Missing = func(string) []string { return nil }
	}
	if cfg.NewRequestID == nil {
		cfg.NewRequestID = rand.Text
	}
	return &Shell{cfg}
}

// History is the lines a user typed before, oldest first.
type History interface {
	Lines() []string
	Clear() error
}

// Session is one user's dialogue: the subshell it is in, its aliases, its format.
type Session struct {
	shell   *Shell
	caller  caller.Caller
	history History
	format  string
	// Files are those that the commands may reach, set before the first; nil: none.
	Files Files

	mu      sync.Mutex // stages of a pipeline run at the same time
	scope   string
	aliases map[string]string
	done    bool
}

// Session begins a session. history may be nil; format is "text" when empty.
func (s *Shell) Session(who caller.Caller, history History, format string) *Session {
	format = cmp.Or(format, "text")
	return &Session{
		shell:   s,
		caller:  who,
		history: history,
		format:  format,
		aliases: map[string]string{},
	}
}

// Scope is the subshell the session is in, empty at the top.
func (s *Session) Scope() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.scope
}

// Done reports that the dialogue is to end.
func (s *Session) Done() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.done
}

// Prompt is what stands before the cursor.
func (s *Session) Prompt() string {
	name := s.currentCaller().User + "@ctl"
	if scope := s.Scope(); scope != "" {
		name += "(" + scope + ")"
	}
	return name + "> "
}

// currentIndex is the table as of now; one line is checked against one table.
func (s *Session) currentIndex() *index {
	tables := [][]commands.Command{s.builtinCommands(), filter.Commands(shellScope)}
	for _, table := range s.shell.cfg.Sources {
		tables = append(tables, table())
	}
	return newIndex(tables...)
}

// SetCaller changes what the user may do, to what holds now.
func (s *Session) SetCaller(who caller.Caller) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.caller = who
}

func (s *Session) currentCaller() caller.Caller {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.caller
}
