package sshserver

import (
	"context"
	"errors"
	"io"
	"sync"

	"golang.org/x/term"

	"ctl.internal/host/internal/console/engine"
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
	screen *screen
	asking sync.Mutex // one question at a time
}

// open makes the terminal of a session; the function it returns waits for its end,
// which comes when the channel closes.
func (s *session) open() (*terminal, func()) {
	t := &terminal{session: s}
	t.keys = newKeyboard(s.conn.touch, func() {
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
	t.screen = &screen{w: t.edit, width: func() int { w, _ := s.size(); return w }}
	t.edit.SetSize(s.size())
	s.mu.Lock()
	s.resize = func(w, h int) { t.edit.SetSize(w, h) }
	s.mu.Unlock()
	done := make(chan struct{})
	go func() {
		defer close(done)
		t.keys.pump(s.ch)
	}()
	return t, func() {
		s.ch.Close()
		<-done
	}
}

func (t *terminal) io() engine.IO {
	w, _ := t.size()
	return engine.IO{Stdout: t.screen, Stderr: t.screen, Width: w, Terminal: t}
}

// Prompt asks the user. Nothing of it comes into the history.
func (t *terminal) Prompt(ctx context.Context, text string, echo bool) (string, error) {
	t.asking.Lock()
	defer t.asking.Unlock()
	t.screen.finish()
	text = console.Printable(text)
	line, interrupted, err := t.keys.line(ctx, func() (string, error) {
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
func (t *terminal) Progress(p commands.Progress) { t.screen.show(progress(p)) }

// terminalLine runs one line in a terminal: ssh -t HOST 'line'.
func (s *session) terminalLine(ctx context.Context, line string) console.Code {
	t, wait := s.open()
	code := s.runLine(ctx, line, t.io())
	t.screen.finish()
	s.exitStatus(code)
	wait()
	return code
}

// noHistory is the history of a question.
type noHistory struct{}

func (noHistory) Add(string)    {}
func (noHistory) Len() int      { return 0 }
func (noHistory) At(int) string { panic("an empty history has no entries") }
