package sshserver

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"sync"

	"golang.org/x/term"

	"ctl.internal/host/internal/console/engine"
	"ctl.internal/host/internal/home"
	"ctl.internal/internal/console"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
)

// terminal is the user's screen and keyboard; it is the commands.Terminal and the
// filter.Pager of what he runs.
type terminal struct {
	*session
	keys   *keyboard
	edit   *term.Terminal
	screen *console.StatusLine
	asking sync.Mutex // one question at a time
}

// openTerminal makes the terminal of a session; the function it returns waits for its end,
// which comes when the channel closes.
func (s *session) openTerminal() (*terminal, func()) {
	t := &terminal{session: s}
	t.keys = newKeyboard(s.conn.noteActivity, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.interrupt != nil {
			s.interrupt()
		}
	})
	t.edit = term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{t.keys, s.ch}, "")
	t.screen = &console.StatusLine{Out: t.edit, Width: t.width}
	t.edit.SetSize(s.terminalSize())
	s.mu.Lock()
	s.resize = func(w, h int) { t.edit.SetSize(w, h) }
	s.mu.Unlock()
	done := make(chan struct{})
	go func() {
		defer close(done)
		t.keys.pumpInput(s.ch)
	}()
	return t, func() {
		s.ch.Close()
		<-done
	}
}

func (t *terminal) engineIO() engine.IO {
	return engine.IO{
		Stdout:   t.screen,
		Stderr:   t.screen,
		Width:    t.width(),
		Terminal: t,
	}
}

// Prompt asks the user. Nothing of it comes into the history.
func (t *terminal) Prompt(ctx context.Context, text string, echo bool) (string, error) {
	t.asking.Lock()
	defer t.asking.Unlock()
	t.screen.Finish()
	text = console.Printable(text)
	line, interrupted, err := t.keys.readLine(ctx, func() (string, error) {
		if !echo {
			return t.edit.ReadPassword(text)
		}
		history, complete := t.edit.History, t.edit.AutoCompleteCallback
		t.edit.History, t.edit.AutoCompleteCallback = noHistory{}, nil
		defer func() { t.edit.History, t.edit.AutoCompleteCallback = history, complete }()
		t.edit.SetPrompt(text)
		defer t.edit.SetPrompt("")
		return t.edit.ReadLine()
	})
	switch {
	case interrupted:
		return "", context.Canceled
	case ctx.Err() != nil:
		return "", ctx.Err()
	case errors.Is(err, term.ErrPasteIndicator):
	case err != nil:
		return "", fault.New(fault.Unavailable, "the input has ended")
	}
	return line, nil
}

// Progress shows the state of long work below the output.
func (t *terminal) Progress(p commands.Progress) {
	t.screen.Show(toWireProgress(p))
}

// terminalLine runs one line in a terminal: ssh -t HOST 'line'.
func (s *session) terminalLine(ctx context.Context, line string) console.Code {
	t, wait := s.openTerminal()
	code := s.runLine(ctx, line, t.engineIO())
	t.screen.Finish()
	s.exitStatus(code)
	wait()
	return code
}

// noHistory is the history of a question.
type noHistory struct{}

func (noHistory) Add(string) {}
func (noHistory) Len() int   { return 0 }
func (noHistory) At(int) string {
	panic("an empty history has no entries")
}

// maxInitScript bounds etc/shell.init.script, in bytes.
const maxInitScript = 1 << 20

// runInteractive is the dialogue: prompt, line, command, until exit or Ctrl-D. It
// ends with the code of the last command.
func (s *session) runInteractive(ctx context.Context) console.Code {
	t, wait := s.openTerminal()
	stop := context.AfterFunc(ctx, func() { s.ch.Close() })
	defer stop()
	t.edit.History = &keep{session: s}
	comp := &completer{
		session: s,
		ctx:     ctx,
		edit:    t.edit,
		keys:    t.keys,
	}
	t.edit.AutoCompleteCallback = comp.handleKey
	if g := s.conn.srv.cfg.Greeting; g != "" {
		io.WriteString(t.screen, g)
	}
	s.initScript(ctx, t)
	code := console.OK
	for !s.shell.Done() && ctx.Err() == nil {
		t.screen.Finish()
		t.edit.SetPrompt(s.shell.Prompt())
		line, interrupted, err := t.keys.readLine(ctx, t.edit.ReadLine)
		if err != nil && !errors.Is(err, term.ErrPasteIndicator) {
			io.WriteString(t.screen, "\n")
			break
		}
		if interrupted {
			continue
		}
		t.edit.SetPrompt("")
		code = s.runLine(ctx, line, t.engineIO())
	}
	s.exitStatus(code)
	wait()
	return code
}

// initScript runs what the operator wants in every session: aliases above all.
func (s *session) initScript(ctx context.Context, t *terminal) {
	file := s.conn.srv.cfg.InitScript
	if file == "" {
		return
	}
	b, err := home.ReadBounded(file, maxInitScript)
	switch {
	case err == nil:
		s.runLine(ctx, string(b), t.engineIO())
	case !errors.Is(err, fs.ErrNotExist):
		s.conn.srv.cfg.Log.Warn("the shell's init script", "error", err)
	}
}

// keep is the editor's history: the user's, without the lines that carry a secret.
type keep struct{ *session }

func (k *keep) Add(line string) {
	if k.shell.Sensitive(line) {
		return
	}
	if err := k.lines.Add(line); err != nil {
		k.conn.srv.cfg.Log.Warn("the console's history cannot be kept", "error", err)
	}
}

func (k *keep) Len() int { return len(k.lines.Lines()) }

// At returns a line counted from the newest, which is 0. Another session may have removed it since Len.
func (k *keep) At(i int) string {
	lines := k.lines.Lines()
	if i >= len(lines) {
		return ""
	}
	return lines[len(lines)-1-i]
}
