package encrypt_test

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"

	"ctl.internal/host/internal/keys/encrypt"
	"ctl.internal/sdk/commands"
)

type terminal struct {
	answer string
	echoed bool
}

func (t *terminal) Prompt(_ context.Context, _ string, echo bool) (string, error) {
	t.echoed = t.echoed || echo
	return t.answer, nil
}

func (t *terminal) Progress(commands.Progress) {}

func run(t *testing.T, s *encrypt.Service, name, option, answer string) (string, error) {
	t.Helper()
	cmd, ok := commands.Find(s.Commands(), name)
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

func TestCommands(t *testing.T) {
	dir, store := newHome(t, fast), newStore(t)
	s := must[*encrypt.Service](t)(open(dir, store, false))
	first := must[encrypt.Info](t)(s.Info(t.Context())).Key
	put(t, store, "plugin/x", "k", must[[]byte](t)(s.Seal([]byte("x"), []byte("p"))))
	// A text that names the first key and does not open is one that still needs it.
	damaged := must[[]byte](t)(s.Seal([]byte("x"), []byte("p")))
	put(t, store, "plugin/x", "damaged", damaged[:len(damaged)-1])
	check := func(name, option, says string) {
		t.Helper()
		if out, err := run(t, s, name, option, "pw"); err != nil || !strings.Contains(out, says) {
			t.Errorf("%s %s: %q %v, want %q", name, option, out, err, says)
		}
	}
	check("aaa:encryption-info", "", first+" (everything is sealed with it)")
	check("aaa:rotate-key", "", "1 secrets sealed again\n1 secrets still need the earlier key "+first)
	check("aaa:encryption-info", "", "not everything")
	check("aaa:rotate-key", "resume", "0 secrets sealed again\n1 secrets still need the earlier key "+first)
	put(t, store, "plugin/x", "damaged", nil)
	check("aaa:rotate-key", "forget", "ended: key "+first)
	check("aaa:seal-secret", "", "{sealed}")
	if _, err := run(t, s, "aaa:seal-secret", "", ""); err == nil {
		t.Error("nothing was sealed")
	}
	if err := os.WriteFile(encrypt.ConfigFile(dir), []byte("<damaged"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := run(t, s, "aaa:rotate-key", "", ""); err == nil || !strings.Contains(err.Error(), encrypt.ConfigFile(dir)) {
		t.Error(err)
	}
}
