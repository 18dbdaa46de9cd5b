package sshserver_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"
	"golang.org/x/crypto/ssh"

	"ctl.internal/host/internal/console/consoletest"
	"ctl.internal/host/internal/console/sshserver"
	"ctl.internal/internal/console"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// started is a console that serves until the test ends.
type started struct {
	*consoletest.Console
	tcp  string
	stop func()
}

func start(t *testing.T, change func(*sshserver.Config)) *started {
	t.Helper()
	home, err := os.MkdirTemp("", "console") // t.TempDir makes paths too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(home) })
	c, err := consoletest.New(home, nil, change)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Server.ListenLocal(c.Socket()); err != nil {
		t.Fatal(err)
	}
	addr, err := c.Server.ListenTCP("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	c.Shutdown = cancel
	done := make(chan error, 1)
	go func() { done <- c.Server.Serve(ctx) }()
	stop := sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	t.Cleanup(stop)
	return &started{c, addr.String(), stop}
}

// local connects over the socket; ask answers questions, nil = as OpenSSH does.
func (s *started) local(t *testing.T, ask func(console.Prompt) string) *ssh.Client {
	t.Helper()
	raw, err := net.Dial("unix", s.Socket())
	if err != nil {
		t.Fatal(err)
	}
	c, chans, reqs, err := ssh.NewClientConn(raw, "local", &ssh.ClientConfig{HostKeyCallback: ssh.InsecureIgnoreHostKey()})
	if err != nil {
		t.Fatal(err)
	}
	none := make(chan *ssh.Request)
	close(none)
	go func() {
		for r := range reqs {
			var p console.Prompt
			if ask == nil || r.Type != console.PromptRequest || ssh.Unmarshal(r.Payload, &p) != nil {
				if r.WantReply {
					r.Reply(false, nil)
				}
				continue
			}
			r.Reply(true, ssh.Marshal(console.Answer{Line: ask(p)}))
		}
	}()
	client := ssh.NewClient(c, chans, none)
	t.Cleanup(func() { client.Close() })
	return client
}

// remote connects over TCP.
func (s *started) remote(t *testing.T, user string, auth ...ssh.AuthMethod) (*ssh.Client, error) {
	t.Helper()
	c, err := ssh.Dial("tcp", s.tcp, &ssh.ClientConfig{User: user, Auth: auth, HostKeyCallback: ssh.InsecureIgnoreHostKey()})
	if err == nil {
		t.Cleanup(func() { c.Close() })
	}
	return c, err
}

// execute runs a line and returns output, errors and exit code.
func execute(t *testing.T, c *ssh.Client, line, stdin string) (string, string, int) {
	t.Helper()
	s, err := c.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var out, errs bytes.Buffer
	s.Stdout, s.Stderr = &out, &errs
	feed(t, s, stdin)
	err = s.Run(line)
	var e *ssh.ExitError
	switch {
	case err == nil:
		return out.String(), errs.String(), 0
	case errors.As(err, &e):
		return out.String(), errs.String(), e.ExitStatus()
	}
	t.Errorf("%s: the session ended without a code: %v", line, err)
	return "", "", -1
}

// feed writes to a session's input. Session.Stdin would make it an error that a
// command ends without having read everything.
func feed(t *testing.T, s *ssh.Session, text string) {
	t.Helper()
	w, err := s.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		io.WriteString(w, text)
		w.Close()
	}()
}

// screenReader collects what a terminal shows and waits for text in it.
type screenReader struct {
	r    io.Reader
	seen string
}

// until reads on until the text has come, after what earlier calls waited for.
func (s *screenReader) until(t *testing.T, text string) string {
	t.Helper()
	b := make([]byte, 4096)
	for {
		if before, after, ok := strings.Cut(s.seen, text); ok {
			s.seen = after
			return before
		}
		n, err := s.r.Read(b)
		s.seen += string(b[:n])
		if err != nil && !strings.Contains(s.seen, text) {
			t.Fatalf("waiting for %q: %v; the screen has %q", text, err, s.seen)
		}
	}
}
