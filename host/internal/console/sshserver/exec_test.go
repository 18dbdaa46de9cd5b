package sshserver_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/crypto/ssh"

	"ctl.internal/internal/console"
)

func TestExec(t *testing.T) {
	s := start(t, nil)
	c := s.local(t, nil)
	for _, x := range []struct {
		line, stdin, out, errs string
		code                   int
	}{
		{"feature:list | grep -c ctl", "", "4\n", "", 0},
		{"test:cat | tac", "a\nb\n", "b\na\n", "", 0},
		{"test:fail denied", "", "", "error: not for local\n", 4},
		{"test:fail internal", "", "", "error: it failed [2J\n", 1},
		{"test:login --user x", "geheim\n", "x gave 6 characters to local\n", "Password: ", 0},
		{"test:login --user x", "", "", "the input has ended", 5},
		{"test:both", "data\n", "data\nanswer \"\"\n", "its input is data: run it in a terminal", 5},
		{"test:both --first", "yes\ndata\n", "answer \"yes\"\n", "so it is no data", 5},
		{"test:both --first", strings.Repeat("yes\n", 50<<10), "answer \"\"\n", "which are data and no answer", 5},
		{"test:many | head -1", "", "1\n", "", 0},
		{"test:work", "", "done\n", "", 0},
		{"nonsense", "", "", "there is no command nonsense", 3},
	} {
		out, errs, code := execute(t, c, x.line, x.stdin)
		if out != x.out || !strings.Contains(errs, x.errs) || code != x.code {
			t.Errorf("%s: code %d, out %q, err %q", x.line, code, out, errs)
		}
	}
	if a := s.Audited(); len(a) != 12 || a[0].Caller.User != "local" || a[2].Code != 4 {
		t.Errorf("audited %+v", a)
	}
}

func TestOneLineKnowsTheWidthOfTheTerminal(t *testing.T) {
	c := start(t, nil).local(t, nil)
	for columns, want := range map[string]int{"": 1 << 20, "40": 40, "many": 1 << 20, "-1": 1 << 20} {
		ses, err := c.NewSession()
		if err != nil {
			t.Fatal(err)
		}
		if err := ses.Setenv(console.EnvWidth, columns); err != nil {
			t.Fatal(err)
		}
		out, err := ses.Output("help shell")
		if err != nil {
			t.Fatal(err)
		}
		widest := 0
		for l := range strings.Lines(string(out)) {
			widest = max(widest, utf8.RuneCountInString(strings.TrimSuffix(l, "\n")))
		}
		if widest > want || widest < 30 || want > 40 && widest <= 40 {
			t.Errorf("with %q columns a line of %d:\n%s", columns, widest, out)
		}
	}
}

func TestPromptGoesToTheClient(t *testing.T) {
	s := start(t, nil)
	var asked console.Prompt
	c := s.local(t, func(p console.Prompt) string { asked = p; return "sesam" })
	out, _, code := execute(t, c, "test:login --user x", "not this")
	if out != "x gave 5 characters to local\n" || code != 0 || asked.Text != "Password: " || asked.Echo {
		t.Errorf("code %d, out %q, asked %+v", code, out, asked)
	}
}

func TestBatch(t *testing.T) {
	s := start(t, nil)
	for _, x := range []struct {
		name, in, keepOn string
		out, errs        string
		code             int
	}{
		{"ends well", "echo a\n\n# no\nfeature\nlist -i\n", "", "a\nNo features installed\n", "", 0},
		{"stops", "echo a\ntest:fail denied\necho b", "", "a\n", "error: setup.ctl:2: the command failed (exit code 4); nothing after it was run\n", 4},
		{"keeps going", "test:fail denied\necho b\ntest:fail", "1", "b\n", "setup.ctl:3: the command failed (exit code 1)", 4},
		{"exit", "exit\necho no", "", "", "", 0},
		{"no answers from the script", "test:login --user x\nsecret", "", "", "setup.ctl:1:", 5},
		{"too long", strings.Repeat("x", 70000), "", "", "longer than 65536 bytes", 2},
	} {
		t.Run(x.name, func(t *testing.T) {
			ses, err := s.local(t, nil).NewSession()
			if err != nil {
				t.Fatal(err)
			}
			ses.Setenv(console.EnvBatch, "setup.ctl")
			if x.keepOn != "" {
				ses.Setenv(console.EnvKeepOn, x.keepOn)
			}
			var out, errs strings.Builder
			ses.Stdout, ses.Stderr = &out, &errs
			feed(t, ses, x.in)
			if err := ses.Shell(); err != nil {
				t.Fatal(err)
			}
			code := 0
			if err := ses.Wait(); err != nil {
				code = err.(*ssh.ExitError).ExitStatus()
			}
			if out.String() != x.out || !strings.Contains(errs.String(), x.errs) || code != x.code {
				t.Errorf("code %d, out %q, err %q", code, out.String(), errs.String())
			}
		})
	}
}

func TestSignalEndsTheCommand(t *testing.T) {
	s := start(t, nil)
	ses, err := s.local(t, nil).NewSession()
	if err != nil {
		t.Fatal(err)
	}
	if err := ses.Start("test:wait"); err != nil {
		t.Fatal(err)
	}
	<-s.Commands.Running
	if err := ses.Signal(ssh.SIGINT); err != nil {
		t.Fatal(err)
	}
	err = ses.Wait()
	if e, ok := err.(*ssh.ExitError); !ok || e.ExitStatus() != 130 {
		t.Errorf("ended with %v", err)
	}
}

// A client that goes away takes its command with it; goleak sees one that stays.
func TestClosedConnectionEndsTheCommand(t *testing.T) {
	s := start(t, nil)
	c := s.local(t, nil)
	ses, err := c.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	if err := ses.Start("test:wait"); err != nil {
		t.Fatal(err)
	}
	<-s.Commands.Running
	c.Close()
	s.stop()
	if a := s.Audited(); len(a) != 1 || a[0].Code != 130 {
		t.Errorf("audited %+v", a)
	}
}

func TestRequestsThatAreRefused(t *testing.T) {
	s := start(t, nil)
	c := s.local(t, nil)
	if _, _, err := c.OpenChannel("direct-tcpip", nil); err == nil {
		t.Error("forwarding was allowed")
	}
	ses, err := c.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	if ses.Setenv("LD_PRELOAD", "x") == nil {
		t.Error("any variable was taken")
	}
	if ses.RequestSubsystem("sftp") == nil {
		t.Error("a subsystem was given")
	}
	ses.Setenv(console.EnvFormat, "xml")
	err = ses.Run("echo x")
	if e, ok := err.(*ssh.ExitError); !ok || e.ExitStatus() != 2 {
		t.Errorf("a wrong format ended with %v", err)
	}
	for range 8 { // the session that ended may still count
		if _, err = c.NewSession(); err != nil {
			break
		}
	}
	if err == nil {
		_, err = c.NewSession()
	}
	if err == nil {
		t.Error("the sessions of a connection have no limit")
	}
}

// Who stops the controller learns that it was done.
func TestShutdownAnswers(t *testing.T) {
	s := start(t, nil)
	out, errs, code := execute(t, s.local(t, nil), "system:shutdown -f", "")
	if out != "the controller stops\n" || errs != "" || code != 0 {
		t.Errorf("code %d, out %q, err %q", code, out, errs)
	}
	s.stop()
}

// Who reads the help of a command has changed nothing, whatever the command would do.
func TestHelpIsNoChange(t *testing.T) {
	s := start(t, nil)
	c := s.local(t, nil)
	for _, line := range []string{
		"test:work --help",
		"test:work --help | grep -c Usage",
		"test:work",
		"test:work --help | test:cat",
	} {
		execute(t, c, line, "")
	}
	var got []bool
	for _, a := range s.Audited() {
		got = append(got, a.Helps)
	}
	if want := []bool{true, true, false, false}; !slices.Equal(got, want) {
		t.Errorf("only help: %v, want %v", got, want)
	}
}
