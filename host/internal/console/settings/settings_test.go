package settings

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/datastore/open"
	"ctl.internal/host/internal/feature"
	"ctl.internal/host/internal/home"
	"ctl.internal/host/internal/keys/encrypt"
	"ctl.internal/host/internal/keys/keystore"
)

func TestAccessNamesTheFileAndTheLine(t *testing.T) {
	const good = "[main]\n[urls]\n/** = authcBasic\n"
	for _, k := range []struct{ name, ini, authn, file, text string }{
		{"in order", "[main]\n[urls]\n/** = authcBasic, roles[admin]\n", "", "", ""},
		{"never reached", "[main]\n[urls]\n/** = authcBasic, roles[admin]\n/web/** = anon\n", "", "sec.ini:4: ", "never reached"},
		{"unknown filter", "[main]\n[urls]\n/** = authcBasik\n", "", "sec.ini:3: ", "authcBasic"},
		{"two faults", "[main]\nnonsense\n[urls]\n/** = authcBasic\n", "", "sec.ini:2: ", "name = value"},
		{"not XML", good, "<x", "08-authn-config.xml:1: ", "not XML"},
		{"no rules", "[main]\n", "", "sec.ini: ", "there is no section [urls]"},
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
				t.Errorf("%q does not contain %q and %q once", said, k.file, k.text)
			}
		})
	}
}

func TestStateIsLookedAt(t *testing.T) {
	fresh := func(t *testing.T) home.Dir {
		dir := home.Dir(t.TempDir())
		store, err := open.Store(t.Context(), dir, home.Default().Datastore, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := store.Commit(t.Context(), datastore.Txn{Ops: []datastore.Op{datastore.Put("n", "k", []byte("v"))}}); err != nil {
			t.Fatal(err)
		}
		if got := State(dir, home.Default().Datastore); len(got) != 0 {
			t.Errorf("a store in use: %v", got)
		}
		if err := store.Close(); err != nil {
			t.Fatal(err)
		}
		if got := State(dir, home.Default().Datastore); len(got) != 0 {
			t.Errorf("in order: %v", got)
		}
		return dir
	}
	for _, k := range []struct {
		name, text string
		harm       func(dir home.Dir) error
	}{
		{"a file of the store is gone", "MANIFEST", func(d home.Dir) error { return os.Remove(filepath.Join(d.Store(), "MANIFEST")) }},
		{"a file of the store is cut", "damaged", func(d home.Dir) error { return os.Truncate(filepath.Join(d.Store(), "MANIFEST"), 3) }},
	} {
		t.Run(k.name, func(t *testing.T) {
			dir := fresh(t)
			if err := k.harm(dir); err != nil {
				t.Fatal(err)
			}
			got := State(dir, home.Default().Datastore)
			if len(got) != 1 || !strings.Contains(got[0].String(), k.text) || got[0].Warning {
				t.Errorf("%v", got)
			}
		})
	}
	if got := State(home.Dir(filepath.Join(t.TempDir(), "new")), home.Default().Datastore); len(got) != 0 {
		t.Errorf("a home that is not there yet: %v", got)
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
	if problems := checkServiceFiles(dir); len(problems) != 0 {
		t.Fatal(problems)
	}
	write(t, keystore.ConfigFile(dir), "<aaa-cert-service-config>\n<use-confg/></aaa-cert-service-config>")
	write(t, encrypt.ConfigFile(dir), "<aaa-encrypt-service-config>\n<encrypt-type>DES</encrypt-type></aaa-encrypt-service-config>")
	var said strings.Builder
	for _, p := range checkServiceFiles(dir) {
		said.WriteString(p.String() + "\n")
	}
	for _, want := range []string{"aaa-cert-config.xml:2: <use-confg>", "aaa-encrypt-service-config.xml: <encrypt-type>"} {
		if strings.Count(said.String(), want) != 1 {
			t.Errorf("%q is not in %s", want, said.String())
		}
	}
}

// Faults of several files, and several of one, are all reported at once, each once, by file and line.
func TestNoFaultHidesAnother(t *testing.T) {
	bin := t.TempDir()
	fakePlugin(t, bin, "repoinfo", "")
	dir := home.Dir(t.TempDir())
	write(t, dir.Etc("ctl.yaml"), "log:\n  levl: INFO\nlimits:\n  body: nonsense\n")
	write(t, dir.Etc("repoinfo.yaml"), "clones: [\n")
	write(t, dir.Etc("sec.ini"), "[main]\ntokenAuthRealm = TokenAuthRealm\nsecurityManager.realms = $tokenAuthRealm\n[urls]\n/x = nofilter\n/y = authcBasic, roles[\n")
	var said strings.Builder
	for _, p := range All(t.Context(), dir, nil, feature.Locator{Dirs: []string{bin}}) {
		said.WriteString(p.String() + "\n")
	}
	rest := said.String()
	for _, want := range []string{"ctl.yaml:2: log.levl: no such setting", "ctl.yaml:4: limits.body: \"nonsense\" is not a size", "repoinfo.yaml:1: not valid YAML",
		`sec.ini:5: unknown filter "nofilter"`, "sec.ini:6: a bracket is not closed"} {
		_, after, found := strings.Cut(rest, want)
		if !found || strings.Contains(after, want) {
			t.Errorf("%q is not there once and in its place:\n%s", want, said.String())
		}
		rest = after
	}
}
