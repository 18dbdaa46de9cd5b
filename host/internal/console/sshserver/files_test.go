package sshserver_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"

	"ctl.internal/host/internal/console/sshserver"
)

// Over SSH commands read and make files below import/, export/ and the directories of the settings
// only, however the path is written, and an error says nothing of what lies elsewhere.
func TestTheRemoteConsoleIsNoFileBrowser(t *testing.T) {
	outside, extra := t.TempDir(), t.TempDir()
	s := start(t, func(c *sshserver.Config) { c.Files.Dirs = append(c.Files.Dirs, extra) })
	put := func(path, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	in := func(name string) string { return filepath.Join(s.Home, name) }
	put(filepath.Join(outside, "shadow"), "root:x\n")
	put(in("etc/secret"), "hidden\n")
	put(in("import/list.csv"), "good\n")
	put(in("etc/switch_swdb.csv"), "default\n")
	put(in("export/old"), "old\n")
	put(filepath.Join(extra, "more.csv"), "more\n")
	for from, to := range map[string]string{"import/link": filepath.Join(outside, "shadow"), "import/dir": outside, "import/own": in("import/list.csv")} {
		if err := os.Symlink(to, in(from)); err != nil {
			t.Fatal(err)
		}
	}
	c, err := s.remote(t, "admin", ssh.Password("admin-secret"))
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"import/list.csv": "good\n", in("import/list.csv"): "good\n", "file://" + in("import/list.csv"): "good\n", "import/./x/../list.csv": "good\n",
		"import/own": "good\n", "etc/switch_swdb.csv": "default\n", filepath.Join(extra, "more.csv"): "more\n",
		filepath.Join(outside, "shadow"): "", "file://" + filepath.Join(outside, "shadow"): "", "etc/secret": "", "import/../etc/secret": "",
		"import/link": "", "import/dir/shadow": "", "/etc/passwd": "", "/dev/zero": "", "import": "", "../home/etc/secret": "", "importx/../etc/secret": "",
		"data/run/console.sock": "", "import/nothing.csv": "", extra: "",
	} {
		out, errs, code := execute(t, c, "path:read '"+path+"'", "")
		if out != want || (code == 0) != (want != "") || strings.Contains(errs, "root:x") || strings.Contains(errs, "hidden") {
			t.Errorf("read %s: code %d, out %q, err %q", path, code, out, errs)
		}
	}
	_, there, _ := execute(t, c, "path:read "+filepath.Join(outside, "shadow"), "")
	_, absent, _ := execute(t, c, "path:read "+filepath.Join(outside, "shadoW"), "")
	if !strings.EqualFold(there, absent) {
		t.Errorf("whether a file is there can be seen:\n%s%s", there, absent)
	}
	for path, want := range map[string]bool{
		"export/new.csv": true, "import/new.csv": true, filepath.Join(extra, "new.csv"): true,
		"export/old": false, "etc/new": false, "export/../etc/new": false, "import/dir/new": false, filepath.Join(outside, "new"): false, "export/a/b": false,
	} {
		_, errs, code := execute(t, c, "path:make --to "+path, "")
		if (code == 0) != want {
			t.Errorf("make %s: code %d, err %q", path, code, errs)
		}
	}
	for _, gone := range []string{in("etc/new"), filepath.Join(outside, "new")} {
		if _, err := os.Stat(gone); err == nil {
			t.Errorf("%s was made", gone)
		}
	}
	for line, want := range map[string]string{"path:read import/l": "import/link", "path:read " + outside + "/": "", "path:read etc/": "", "path:read import/dir/": ""} {
		if out, _, _ := execute(t, c, "complete '"+line+"'", ""); strings.Contains(out, "shadow") || strings.Contains(out, "secret") || want != "" && !strings.Contains(out, want) {
			t.Errorf("completion of %q: %q", line, out)
		}
	}

}
