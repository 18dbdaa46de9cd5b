package sshserver

import (
	"context"
	"errors"
	"io"
	"os"

	"golang.org/x/term"

	"ctl.internal/internal/console"
)

// maxInitScript bounds etc/shell.init.script, in bytes.
const maxInitScript = 1 << 20

// interactive is the dialogue: prompt, line, command, until exit or Ctrl-D. It
// ends with the code of the last command.
func (s *session) interactive(ctx context.Context) console.Code {
	t, wait := s.open()
	stop := context.AfterFunc(ctx, func() { s.ch.Close() })
	defer stop()
	t.edit.History = &keep{session: s}
	comp := &completer{session: s, ctx: ctx, edit: t.edit, keys: t.keys}
	t.edit.AutoCompleteCallback = comp.key
	if g := s.conn.srv.cfg.Greeting; g != "" {
		io.WriteString(t.screen, g)
	}
	s.initScript(ctx, t)
	code := console.OK
	for !s.shell.Done() && ctx.Err() == nil {
		t.screen.finish()
		t.edit.SetPrompt(s.shell.Prompt())
		line, interrupted, err := t.keys.line(ctx, t.edit.ReadLine)
		if err != nil && !errors.Is(err, term.ErrPasteIndicator) {
			io.WriteString(t.screen, "\n")
			break
		}
		if interrupted {
			continue
		}
		t.edit.SetPrompt("")
		code = s.runLine(ctx, line, t.io())
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
	f, err := os.Open(file)
	if err != nil {
		if !errors.Is(err, os.ErrNotExist) {
			s.conn.srv.cfg.Log.Warn("the shell's init script", "error", err)
		}
		return
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxInitScript))
	if err == nil {
		s.runLine(ctx, string(b), t.io())
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

func (k *keep) Len() int        { return k.lines.Len() }
func (k *keep) At(i int) string { return k.lines.At(i) }
