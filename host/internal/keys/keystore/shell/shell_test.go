package shell_test

import (
	"bytes"
	"context"
	"encoding/pem"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ctl.internal/host/internal/home"
	"ctl.internal/host/internal/keys/keystore"
	"ctl.internal/host/internal/keys/keystore/shell"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
)

const settings = `<aaa-cert-service-config><use-config>true</use-config>
<ctlKeystore><store-password>secret-1</store-password><key-alg>EC</key-alg></ctlKeystore>
<trustKeystore><store-password>secret-2</store-password></trustKeystore></aaa-cert-service-config>`

// terminal answers every question alike and notes whether it would be seen.
type terminal struct {
	answer string
	echoed bool
}

func (t *terminal) Prompt(_ context.Context, _ string, echo bool) (string, error) {
	t.echoed = t.echoed || echo
	return t.answer, nil
}

func (t *terminal) Progress(commands.Progress) {}

func newService(t *testing.T) shell.Service {
	t.Helper()
	dir := home.Dir(t.TempDir())
	for _, d := range []string{filepath.Dir(keystore.ConfigFile(dir)), dir.SSL()} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(keystore.ConfigFile(dir), []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := keystore.Open(t.Context(), keystore.Options{Dir: dir, Log: slog.New(slog.DiscardHandler)})
	return func() (*keystore.Service, error) { return s, err }
}

func run(t *testing.T, get shell.Service, name, answer string, options map[string]string) (string, error) {
	t.Helper()
	cmd, ok := commands.Find(shell.Commands(get), name)
	if !ok {
		t.Fatal("no command ", name)
	}
	var out bytes.Buffer
	term := &terminal{answer: answer}
	err := cmd.Run(t.Context(), &commands.Invocation{Name: name, Options: options, Format: "text", Stdin: commands.NoInput, Stdout: &out, Stderr: &out, Terminal: term})
	if term.echoed {
		t.Errorf("%s: a password is seen while it is typed", name)
	}
	return out.String(), err
}

func TestPasswordIsAskedOrGiven(t *testing.T) {
	get := newService(t)
	for _, c := range []struct {
		name, answer string
		options      map[string]string
		block        string
	}{
		{"aaa:gen-cert-req", "secret-1", nil, "CERTIFICATE REQUEST"},
		{"aaa:get-ctl-cert", "secret-1", nil, "CERTIFICATE"},
		{"aaa:get-ctl-cert", "", map[string]string{"storepass": "secret-1"}, "CERTIFICATE"},
		{"aaa:gen-cert-req", "wrong", nil, ""},
		{"aaa:get-ctl-cert", "secret-1", map[string]string{"storepass": "wrong"}, ""},
	} {
		out, err := run(t, get, c.name, c.answer, c.options)
		if c.block == "" {
			if fault.KindOf(err) != fault.Denied || out != "" {
				t.Errorf("%s with a wrong password: %q %v", c.name, out, err)
			}
			continue
		}
		if b, _ := pem.Decode([]byte(out)); err != nil || b == nil || b.Type != c.block {
			t.Errorf("%s: %q %v", c.name, out, err)
		}
	}
}

func TestWhatTheRuntimeHas(t *testing.T) {
	for name, want := range map[string]string{"aaa:get-cipher-suites": "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", "aaa:get-tls-protocols": "TLSv1.3"} {
		if out, err := run(t, nil, name, "", nil); err != nil || !strings.Contains(out, want) {
			t.Errorf("%s: %q %v", name, out, err)
		}
	}
}

func TestFilesAreNotImportedInto(t *testing.T) {
	_, err := run(t, newService(t), "aaa:import-keystores", "secret-1", map[string]string{"ctlKeystoreName": "ctl.jks", "trustKeystoreName": "truststore.jks"})
	if fault.KindOf(err) != fault.Unsupported {
		t.Fatal(err)
	}
}
