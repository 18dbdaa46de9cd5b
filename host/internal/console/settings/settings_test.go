package settings

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ctl.internal/host/internal/encrypt"
	"ctl.internal/host/internal/home"
	"ctl.internal/host/internal/keystore"
)

func TestAccessNamesTheFileAndTheLine(t *testing.T) {
	const good = "[main]\n[urls]\n/** = authcBasic\n"
	for _, k := range []struct{ name, ini, authn, file, text string }{
		{"in order", good, "", "", ""},
		{"unknown filter", "[main]\n[urls]\n/** = authcBasik\n", "", "sec.ini:3: ", "authcBasic"},
		{"two faults", "[main]\nnonsense\n[urls]\n/** = authcBasic\n", "", "sec.ini:2: ", "name = value"},
		{"not XML", good, "<x", "08-authn-config.xml:1: ", "not XML"},
		{"no sec.ini", "", "", "sec.ini: ", "restore it"},
	} {
		t.Run(k.name, func(t *testing.T) {
			dir := home.Dir(t.TempDir())
			write(t, dir.Etc("sec.ini"), k.ini)
			write(t, dir.Etc("ctl", "karaf", "08-authn-config.xml"), k.authn)
			problems := Access(dir, nil)
			if k.text == "" {
				if len(problems) > 0 {
					t.Fatal(problems)
				}
				return
			}
			if len(problems) != 1 {
				t.Fatalf("%d problems: %v", len(problems), problems)
			}
			said := problems[0].String()
			if !strings.Contains(said, k.file) || !strings.Contains(said, k.text) || strings.Count(said, string(dir)) != 1 {
				t.Errorf("%q does not tell %q and %q once", said, k.file, k.text)
			}
		})
	}
}

func write(t *testing.T, file, content string) {
	t.Helper()
	if content == "" {
		return
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestServicesNameTheFileAndTheLine(t *testing.T) {
	dir := home.Dir(t.TempDir())
	if problems := services(dir); len(problems) != 0 {
		t.Fatal(problems)
	}
	write(t, keystore.ConfigFile(dir), "<aaa-cert-service-config>\n<use-confg/></aaa-cert-service-config>")
	write(t, encrypt.ConfigFile(dir), "<aaa-encrypt-service-config>\n<encrypt-type>DES</encrypt-type></aaa-encrypt-service-config>")
	var said strings.Builder
	for _, p := range services(dir) {
		said.WriteString(p.String() + "\n")
	}
	for _, want := range []string{"aaa-cert-config.xml:2: <use-confg>", "aaa-encrypt-service-config.xml: <encrypt-type>"} {
		if strings.Count(said.String(), want) != 1 {
			t.Errorf("%q is not in %s", want, said.String())
		}
	}
}
