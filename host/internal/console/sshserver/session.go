package sshserver

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"golang.org/x/crypto/ssh"

	"ctl.internal/host/internal/console/engine"
	"ctl.internal/host/internal/console/history"
	"ctl.internal/internal/console"
)

// session is one channel: a shell, or one line.
type session struct {
	conn  *conn
	ch    ssh.Channel
	env   map[string]string
	shell *engine.Session
	lines *history.List
	ended sync.Once

	mu        sync.Mutex
	pty       *ptyRequest
	resize    func(width, height int)
	interrupt func() // ends the running command, nil when none runs
}

// Payloads of the session requests of RFC 4254, sections 6.2 to 6.10.
type (
	ptyRequest struct {
		Term                          string
		Columns, Rows, PixelX, PixelY uint32
		Modes                         string
	}
	windowChange      struct{ Columns, Rows, PixelX, PixelY uint32 }
	envRequest        struct{ Name, Value string }
	execRequest       struct{ Line string }
	signalRequest     struct{ Name string }
	exitStatusRequest struct{ Status uint32 }
)

// serveSession reads the requests of a channel until it closes.
func (c *conn) serveSession(ctx context.Context, ch ssh.Channel, reqs <-chan *ssh.Request) {
	defer ch.Close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &session{conn: c, ch: ch, env: map[string]string{}}
	var wg sync.WaitGroup
	started := false
	for r := range reqs {
		ok := false
		var line execRequest
		begin := false
		switch r.Type {
		case "env":
			ok = !started && s.setEnv(r.Payload)
		case "pty-req":
			ok = !started && s.setPTY(r.Payload)
		case "window-change":
			ok = s.setWindow(r.Payload)
		case "signal":
			ok = s.handleSignal(r.Payload)
		case "shell", "exec":
			ok = !started && (r.Type == "shell" || ssh.Unmarshal(r.Payload, &line) == nil)
			begin = ok
		}
		if r.WantReply {
			r.Reply(ok, nil) // before anything runs: a short command closes the channel
		}
		if begin {
			started = true
			wg.Go(func() { s.exitStatus(s.runShell(ctx, r.Type == "exec", line.Line)) })
		}
	}
	cancel()
	wg.Wait()
}

func (s *session) setEnv(payload []byte) bool {
	var e envRequest
	known := []string{console.EnvFormat, console.EnvBatch, console.EnvKeepOn, console.EnvWidth}
	if ssh.Unmarshal(payload, &e) != nil || len(e.Value) > 4096 || !slices.Contains(known, e.Name) {
		return false
	}
	s.env[e.Name] = e.Value
	return true
}

func (s *session) setPTY(payload []byte) bool {
	var p ptyRequest
	if ssh.Unmarshal(payload, &p) != nil {
		return false
	}
	s.mu.Lock()
	s.pty = &p
	s.mu.Unlock()
	return true
}

func (s *session) setWindow(payload []byte) bool {
	var w windowChange
	if ssh.Unmarshal(payload, &w) != nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pty == nil {
		return false
	}
	s.pty.Columns, s.pty.Rows = w.Columns, w.Rows
	if s.resize != nil {
		s.resize(s.sizeLocked())
	}
	return true
}

// terminalSize is that of the terminal, within what an editor can work with.
func (s *session) terminalSize() (width, height int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sizeLocked()
}

func (s *session) width() int {
	w, _ := s.terminalSize()
	return w
}

func (s *session) sizeLocked() (width, height int) {
	if s.pty == nil {
		return 0, 0
	}
	bound := func(n uint32, d int) int {
		if n == 0 {
			return d
		}
		return int(min(max(n, 8), 2000))
	}
	return bound(s.pty.Columns, 80), bound(s.pty.Rows, 24)
}

// handleSignal ends the running command, as Ctrl-C does in a terminal.
func (s *session) handleSignal(payload []byte) bool {
	var sig signalRequest
	if ssh.Unmarshal(payload, &sig) != nil ||
		sig.Name != "INT" && sig.Name != "TERM" && sig.Name != "HUP" {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.interrupt != nil {
		s.interrupt()
	}
	return true
}

func (s *session) runShell(ctx context.Context, exec bool, line string) console.Code {
	format := s.env[console.EnvFormat]
	if format != "" && format != "text" && format != "json" {
		fmt.Fprintf(s.ch.Stderr(), "error: the format is text or json, not %q\n", format)
		return console.Usage
	}
	who, err := s.conn.currentCaller(ctx)
	if err != nil {
		return console.Denied
	}
	name := who.User
	if s.lines, err = s.conn.srv.cfg.Histories.For(name); err != nil {
		s.conn.srv.cfg.Log.Warn("the console's history", "user", name, "error", err)
	}
	shell := s.conn.srv.cfg.Shell
	if s.conn.limited {
		shell = s.conn.srv.cfg.Own
	}
	s.shell = shell.Session(who, s.lines, format)
	s.shell.Files = remoteFiles{s.conn.srv.cfg.Files}
	if s.conn.local {
		s.shell.Files = localFiles{s.conn.srv.cfg.Files, s.conn}
	}
	switch tty := s.pty != nil; {
	case exec && tty:
		return s.terminalLine(ctx, line)
	case exec:
		return s.plainLine(ctx, line)
	case tty:
		return s.runInteractive(ctx)
	}
	return s.runBatch(ctx)
}

// runLine runs a line in a context that a signal or Ctrl-C ends.
func (s *session) runLine(ctx context.Context, line string, std engine.IO) console.Code {
	who, err := s.conn.currentCaller(ctx)
	if err != nil {
		fmt.Fprintln(std.Stderr, "error: this user may not use the console any more")
		s.conn.ssh.Close()
		return console.Denied
	}
	s.shell.SetCaller(who)
	defer s.conn.beginCommand()()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.setInterrupt(cancel)
	defer s.setInterrupt(nil)
	return s.shell.Run(ctx, line, std)
}

func (s *session) setInterrupt(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.interrupt = f
}

// exitStatus informs the client how it ended, once.
func (s *session) exitStatus(code console.Code) {
	s.ended.Do(func() {
		s.ch.SendRequest("exit-status", false, ssh.Marshal(exitStatusRequest{Status: uint32(code)}))
		s.ch.Close()
	})
}
