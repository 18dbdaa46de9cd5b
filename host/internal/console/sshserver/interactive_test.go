package sshserver_test

import (
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"
)

// typist is a terminal with somebody at it.
type typist struct {
	screenReader
	io.WriteCloser
	*ssh.Session
}

func (s *started) sit(t *testing.T, rows, columns int) *typist {
	t.Helper()
	ses, err := s.local(t, nil).NewSession()
	if err != nil {
		t.Fatal(err)
	}
	if err := ses.RequestPty("xterm", rows, columns, nil); err != nil {
		t.Fatal(err)
	}
	in, _ := ses.StdinPipe()
	out, _ := ses.StdoutPipe()
	if err := ses.Shell(); err != nil {
		t.Fatal(err)
	}
	return &typist{screenReader{r: out}, in, ses}
}

func (p *typist) keys(s string) { io.WriteString(p.WriteCloser, s) }

const (
	prompt = "local@ctl> "
	ctrlC  = "\x03"
	ctrlD  = "\x04"
	ctrlR  = "\x12"
	up     = "\x1b[A"
)

func (p *typist) end(t *testing.T, want int) {
	t.Helper()
	code := 0
	err := p.Session.Wait()
	if e, ok := err.(*ssh.ExitError); ok {
		code = e.ExitStatus()
	} else if err != nil {
		t.Errorf("ended with %v", err)
	}
	if code != want {
		t.Errorf("exit code %d, want %d", code, want)
	}
}

func TestDialogue(t *testing.T) {
	s := start(t, nil)
	p := s.sit(t, 24, 80)
	p.until(t, prompt)

	p.keys("fea\tin\tctl-sw\ta\t\r") // completes to feature:install ctl-switch-all
	p.until(t, "ctl-switch-all")
	p.until(t, prompt)
	p.keys("feature:list -i\r")
	p.until(t, "Started")
	p.until(t, prompt)

	p.keys("test:w\t") // two candidates are shown, the line stays
	p.until(t, "test:wait  wait until Ctrl-C")
	p.until(t, prompt+"test:w")
	p.keys("ait\r")
	<-s.Commands.Running
	p.keys(ctrlC)
	p.until(t, prompt)
	p.keys("a line not wanted" + ctrlC)
	p.until(t, prompt)

	p.keys("test:login --user x\r")
	p.until(t, "Password: ")
	p.keys("ge heim\r")
	if seen := p.until(t, "x gave 7 characters"); strings.Contains(seen, "heim") {
		t.Errorf("the password was echoed: %q", seen)
	}
	p.until(t, prompt)
	p.keys("test:login --user x\r")
	p.until(t, "Password: ")
	p.keys("half" + ctrlC)
	p.until(t, prompt)
	p.keys("test:login --user x --password geheim\r")
	p.until(t, "6 characters")
	p.until(t, prompt)

	p.keys(up + "\r") // the line with the secret is not there; the one before it is
	p.until(t, "Password: ")
	p.keys("1\r")
	p.until(t, "1 characters")
	p.until(t, prompt)
	p.keys("list" + ctrlR + "\r")
	p.until(t, "Started")
	p.until(t, prompt)
	p.keys(ctrlR + "zall") // narrows down with each letter
	p.until(t, "(failed reverse-i-search) zall: ")
	p.keys("\x7f\x7f\x7f\x7flist" + ctrlR) // there is none older
	p.until(t, "(failed reverse-i-search) list: ")
	p.keys("\x07") // Ctrl-G
	p.until(t, prompt)

	p.keys("test:work\r")
	p.until(t, "working 1/2 (50%)\r\x1b[Kdone\r\n")
	p.until(t, prompt)
	p.keys("test:fail denied\r")
	p.until(t, "error: not for local\r\n")
	p.until(t, prompt)
	p.keys("feature\r")
	p.until(t, "local@ctl(feature)> ")
	p.keys(ctrlD)
	p.end(t, 0)

	b, err := os.ReadFile(filepath.Join(s.Home, "data", "history", "local.history"))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"feature:install ctl-switch-all", "feature:list -i", "test:wait", "test:login --user x", "feature:list -i", "test:work", "test:fail denied", "feature", ""}
	if got := strings.Split(string(b), "\n"); !reflect.DeepEqual(got, want) {
		t.Errorf("the history has %q", got)
	}
}

func TestLastCodeIsTheSessions(t *testing.T) {
	s := start(t, nil)
	p := s.sit(t, 24, 80)
	p.until(t, prompt)
	p.keys("test:fail denied\r")
	p.until(t, prompt)
	p.keys(ctrlD)
	p.end(t, 4)
}

func TestPager(t *testing.T) {
	s := start(t, nil)
	p := s.sit(t, 10, 80)
	p.until(t, prompt)
	p.keys("test:many | more\r")
	if first := p.until(t, "--More--"); !strings.HasSuffix(first, "\r\n8\r\n9\r\n") {
		t.Errorf("first screen %q", first)
	}
	p.keys("\r")
	if next := p.until(t, "--More--"); !strings.HasSuffix(next, "\x1b[K10\r\n") {
		t.Errorf("one line more: %q", next)
	}
	p.keys(" ")
	if next := p.until(t, "--More--"); !strings.HasSuffix(next, "18\r\n19\r\n") {
		t.Errorf("one screen more: %q", next)
	}
	if err := p.WindowChange(30, 80); err != nil {
		t.Fatal(err)
	}
	p.keys("q")
	p.until(t, prompt)
	p.keys("test:many | more\r")
	p.until(t, "--More--")
	p.keys(ctrlC)
	p.until(t, prompt)
	p.keys("exit\r")
	p.end(t, 0)
}

func TestInitScript(t *testing.T) {
	s := start(t, nil)
	os.MkdirAll(filepath.Join(s.Home, "etc"), 0o755)
	os.WriteFile(filepath.Join(s.Home, "etc", "shell.init.script"), []byte("# mine\nalias hello='echo good day'\n"), 0o644)
	p := s.sit(t, 24, 80)
	p.until(t, prompt)
	p.keys("hello\r")
	p.until(t, "good day\r\n")
	p.until(t, prompt)
	p.keys("exit\r")
	p.end(t, 0)
}

func TestLineInATerminal(t *testing.T) {
	s := start(t, nil)
	ses, err := s.local(t, nil).NewSession()
	if err != nil {
		t.Fatal(err)
	}
	ses.RequestPty("xterm", 24, 80, nil)
	in, _ := ses.StdinPipe()
	out, _ := ses.StdoutPipe()
	if err := ses.Start("test:login --user x"); err != nil {
		t.Fatal(err)
	}
	p := &typist{screenReader{r: out}, in, ses}
	p.until(t, "Password: ")
	p.keys("abc\r")
	p.until(t, "x gave 3 characters to local\r\n")
	p.end(t, 0)
}

// A controller that stops ends the sessions of those who sit there.
func TestServerStopsUnderASession(t *testing.T) {
	s := start(t, nil)
	p := s.sit(t, 24, 80)
	p.until(t, prompt)
	p.keys("test:wait\r")
	<-s.Commands.Running
	s.stop()
	if err := p.Session.Wait(); err == nil {
		t.Error("the session ended as if all were well")
	}
}
