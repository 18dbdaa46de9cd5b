package shell_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"ctl.internal/host/internal/encrypt"
	"ctl.internal/host/internal/encrypt/shell"
	"ctl.internal/sdk/commands"
)

type service struct {
	called string
	err    error
}

func (s *service) Rotate(context.Context) (encrypt.Report, error) {
	s.called = "rotate"
	return encrypt.Report{Renewed: 7}, s.err
}

func (s *service) Pass(context.Context) (encrypt.Report, error) {
	s.called = "pass"
	return encrypt.Report{Left: map[string]int{"abcd": 2}}, s.err
}

func (s *service) Forget(context.Context) ([]string, encrypt.Report, error) {
	s.called = "forget"
	return []string{"abcd"}, encrypt.Report{}, s.err
}

func (s *service) Info(context.Context) (encrypt.Info, error) {
	return encrypt.Info{Key: "beef", Retired: []string{"abcd"}, Pending: true}, s.err
}

func (s *service) SealText(plain string) (string, error) { return "{sealed}" + plain, s.err }

type terminal struct {
	answer string
	echoed bool
}

func (t *terminal) Prompt(_ context.Context, _ string, echo bool) (string, error) {
	t.echoed = t.echoed || echo
	return t.answer, nil
}

func (t *terminal) Progress(commands.Progress) {}

func run(t *testing.T, s *service, name, option, answer string) (string, error) {
	t.Helper()
	cmd, ok := commands.Find(shell.Commands(s), name)
	if !ok {
		t.Fatal("no command ", name)
	}
	var out bytes.Buffer
	term := &terminal{answer: answer}
	err := cmd.Run(t.Context(), &commands.Invocation{Name: name, Options: map[string]string{option: "true"}, Format: "text",
		Stdin: commands.NoInput, Stdout: &out, Stderr: &out, Terminal: term})
	if term.echoed {
		t.Error("a secret is seen while it is typed")
	}
	return out.String(), err
}

func TestCommandsCallAndTell(t *testing.T) {
	for _, c := range []struct{ name, option, called, says string }{
		{"aaa:rotate-key", "", "rotate", "7 secrets sealed anew"}, {"aaa:rotate-key", "resume", "pass", "2 secrets still need the earlier key abcd"},
		{"aaa:rotate-key", "forget", "forget", "ended: key abcd"}, {"aaa:encryption-info", "", "", "not everything"}, {"aaa:seal-secret", "", "", "{sealed}pw"},
	} {
		s := &service{}
		if out, err := run(t, s, c.name, c.option, "pw"); err != nil || s.called != c.called || !strings.Contains(out, c.says) {
			t.Errorf("%s %s: %q %v, called %q", c.name, c.option, out, err, s.called)
		}
		if _, err := run(t, &service{err: errors.New("disk")}, c.name, c.option, "pw"); err == nil || !strings.Contains(err.Error(), "disk") {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if _, err := run(t, &service{}, "aaa:seal-secret", "", ""); err == nil {
		t.Error("nothing was sealed")
	}
}
