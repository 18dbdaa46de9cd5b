package docs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ctl.internal/sdk/plugintest/reserve"
	"ctl.internal/test/harness"
)

var bin string

func TestMain(m *testing.M) { os.Exit(harness.Main(m, "../..", &bin)) }

// patience is for what must succeed, on a machine that has other things to do.
const patience = 9 * time.Minute

// site is where the blocks run: a directory as the top of the tree after `make run`, and the controller.
type site struct {
	*harness.Controller
	work, tree, list string
	addresses        *strings.Replacer // those of the pages to those of this test, which runs beside others
}

func TestEveryBlockOfTheDocumentation(t *testing.T) {
	tree, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob(filepath.Join(tree, "docs", "*.md"))
	if err != nil || len(pages) < 20 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	pages = append(pages, filepath.Join(tree, "README.md"))
	openflow := fmt.Sprint("127.0.0.1:", reserve.Port(t, "tcp", "127.0.0.1"))
	s := &site{Controller: harness.Start(t, bin, map[string]string{"openflow.yaml": "listen: " + openflow + "\n"}), work: filepath.Dir(harness.NewHome(t)), tree: tree}
	err = os.MkdirAll(filepath.Join(s.work, "run", "lab"), 0o700)
	for name, to := range map[string]string{"bin": bin, "ctl-home": s.Home, "etc": filepath.Join(s.Home, "etc"), "docs": filepath.Join(tree, "docs"),
		"examples": filepath.Join(tree, "examples"), "test": filepath.Join(tree, "test"), "plugins": filepath.Join(tree, "plugins")} {
		err = errors.Join(err, os.Symlink(to, filepath.Join(s.work, name)))
	}
	if err != nil {
		t.Fatal(err)
	}
	s.addresses = strings.NewReplacer("127.0.0.1:8181", strings.TrimPrefix(s.HTTP, "http://"), "127.0.0.1:8183", s.Address("admin"), "127.0.0.1:6653", openflow,
		"127.88.0.0", fmt.Sprintf("127.%d.0.0", reserve.Number(t, "docs-net", 64, 126)))
	s.list = filepath.Join(s.work, "run", "lab", "switches.csv")
	harness.Lab(t, bin, "ring:8,tree:3x2", s.list, "--control", filepath.Join(s.work, "run", "lab", "control.sock"))
	s.Ctl("feature:install ctl-switch-all ctl-aaa-cli")
	var left []string
	for _, page := range pages {
		t.Run(filepath.Base(page), func(t *testing.T) { left = append(left, s.page(t, page)...) })
	}
	t.Logf("%d blocks are not run here, each by what it names:\n%s", len(left), strings.Join(left, "\n"))
	if len(left) > 8 {
		t.Error("too many blocks are not run")
	}
}

// page checks the blocks of a page, and returns those that are left to other tests.
func (s *site) page(t *testing.T, page string) (left []string) {
	all := blocks(t, page)
	var script []block
	home := filepath.Join(filepath.Dir(harness.NewHome(t)), "files") // of the blocks that are files of a home
	for i, b := range all {
		switch {
		case b.kind == "sh" && b.how == "", b.kind == "sh" && b.how == "needs" && has(t, b.of):
			script = append(script, b)
		case b.kind == "sh" && b.how == "needs":
		case b.kind == "sh" && b.how == "no-run":
			words := strings.Fields(b.of)
			if _, err := os.Stat(filepath.Join(s.tree, words[len(words)-1])); err != nil {
				t.Errorf("what runs this block is not there: %v\n%s", err, b.text)
			}
			if out, err := exec.CommandContext(harness.Deadline(t), "bash", "-n", "-c", b.text).CombinedOutput(); err != nil {
				t.Errorf("is no shell: %s\n%s", out, b.text)
			}
			left = append(left, filepath.Base(page)+": "+b.of)
		case b.kind == "console" && b.how == "":
			for line := range strings.Lines(b.text) {
				s.Ctl(strings.TrimSpace(line))
			}
		case b.how == "for" && files[b.of] != nil:
			file := filepath.Join(home, b.of)
			if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(b.text), 0o600)); err != nil {
				t.Fatal(err)
			}
		case b.kind == "text" && b.how == "output" && i > 0 && all[i-1].kind == "sh": // compared below
		case b.how != "of":
			t.Errorf("a block of kind %q %q %q says neither how it is checked nor what runs it:\n%s", b.kind, b.how, b.of, b.text)
		}
	}
	printed := s.run(t, script, isFirstReading(page))
	for i, b := range all {
		switch {
		case b.how == "output" && i > 0:
			if at := slices.Index(script, all[i-1]); at >= 0 && at < len(printed) && !shows(printed[at], b.text) {
				t.Errorf("the page shows\n%s\nbut it printed\n%s", b.text, printed[at])
			}
		case b.how == "of":
			if !shows(inTree(t, s.work, s.tree, b.of), b.text) {
				t.Errorf("%s does not hold\n%s", b.of, b.text)
			}
		case b.how == "for":
			files[b.of](t, s, home)
		}
	}
	return left
}

// has reports whether programs are installed and variables set; loudly, where not.
func has(t *testing.T, names string) bool {
	for _, name := range strings.Fields(names) {
		found := os.Getenv(name) != ""
		if strings.ToUpper(name) != name {
			_, err := exec.LookPath(name)
			found = err == nil
		}
		if !found {
			t.Run("needs "+name, func(t *testing.T) {
				t.Skipf("SKIPPED, NOT TESTED: the peer %s is not here; a block of the page needs it", name)
			})
			return false
		}
	}
	return true
}

// isFirstReading reports whether somebody reads a page before ctl is installed: with a PATH that knows nothing of it, in
// a checkout that must stay clean.
func isFirstReading(page string) bool {
	name := filepath.Base(page)
	return name == "README.md" || strings.HasPrefix(name, "tutorial-")
}

// topFiles are the files at the top of the tree.
func (s *site) topFiles(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir(s.work)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

// run runs blocks of shell, one after the other in one bash, and returns what each printed.
func (s *site) run(t *testing.T, script []block, firstReading bool) []string {
	t.Helper()
	if len(script) == 0 {
		return nil
	}
	path := os.Getenv("PATH") + ":/usr/sbin:/sbin"
	if firstReading {
		before := s.topFiles(t)
		defer func() {
			for _, name := range s.topFiles(t) {
				if !slices.Contains(before, name) {
					t.Errorf("the blocks leave %s in the checkout: files of a reader belong in run/", name)
				}
			}
		}()
	} else {
		path = bin + ":" + path
	}
	const mark = "\x01"
	text := "set -eux\ntrap 'kill $(jobs -p) 2>/dev/null || true; test ! -d \"$LAB_DIR/r1\" || test/labs/lab-freertr.sh down; test ! -d \"$LAB_DIR\" || test/labs/lab-ovs.sh down' EXIT\n"
	for _, b := range script {
		text += s.addresses.Replace(b.text) + "\n{ set +x; printf '" + mark + "'; set -x; } 2>/dev/null\n"
	}
	s.Ctl("switch:ReadDB " + s.list) // a page may load another
	s.Ctl("switch:TopoDiscover")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", text)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	cmd.Dir, cmd.WaitDelay = s.work, 10*time.Second
	cmd.Env = append(os.Environ(), "CTL_HOME="+s.Home, "CTL_SOURCE="+s.tree, "LAB_DIR="+filepath.Join(s.work, "ring"), "PATH="+path)
	if err := cmd.Run(); err != nil {
		t.Errorf("%v\nit printed\n%s\nand on stderr\n%s", err, out.String(), said.String())
	}
	return strings.Split(out.String(), mark)
}

// files are those of a home that a page may show whole, and what reads each: the checks of the controller, of its plugins, or of
// the program that the file is for.
var files = map[string]func(t *testing.T, s *site, home string){
	"etc/ctl.yaml": validate, "etc/sec.ini": validate,
	"etc/switch_swdb.csv": func(t *testing.T, s *site, home string) {
		file := filepath.Join(home, "etc/switch_swdb.csv")
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for strings.Contains(string(b), "{sealed}…") { // a text that opens in this home
			b = bytes.Replace(b, []byte("{sealed}…"), []byte(strings.TrimSpace(s.sealed(t))), 1)
		}
		if err := os.WriteFile(file, b, 0o600); err != nil {
			t.Fatal(err)
		}
		lines := bytes.Count(b, []byte("\n")) - 1
		if out := s.Ctl("switch:ReadDB " + file); !strings.Contains(out, fmt.Sprint(lines)) {
			t.Errorf("of %d switches: %s", lines, out)
		}
	},
	"etc/switch_VendorSpecificSwitchConfig.xml": func(t *testing.T, s *site, home string) {
		const name = "etc/switch_VendorSpecificSwitchConfig.xml"
		if err := os.Rename(filepath.Join(home, name), filepath.Join(s.Home, name)); err != nil {
			t.Fatal(err)
		}
		defer os.Remove(filepath.Join(s.Home, name))
		out := ""
		harness.Within(t, "the file is read", func() bool { // it is looked at each second
			out = s.Ctl("switch:vendors")
			return strings.Contains(out, "Accton_ES3528M")
		})
		if strings.Contains(out, name+":") {
			t.Errorf("switch:vendors: %s", out)
		}
	},
	"prometheus.yml": func(t *testing.T, s *site, home string) {
		if !has(t, "promtool") {
			return
		}
		rules, err := os.ReadFile(filepath.Join(s.tree, "docs/monitoring/ctl-alerts.yaml"))
		if err == nil {
			err = os.WriteFile(filepath.Join(home, "ctl-alerts.yaml"), rules, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		if out, err := exec.CommandContext(harness.Deadline(t), "promtool", "check", "config", filepath.Join(home, "prometheus.yml")).CombinedOutput(); err != nil {
			t.Errorf("promtool: %v\n%s", err, out)
		}
	},
}

// validate checks the settings that a page shows, in a home of their own, as before a start.
func validate(t *testing.T, s *site, home string) {
	t.Helper()
	for name, from := range map[string]string{"features.yaml": filepath.Join(bin, "features.yaml"), "etc/sec.ini": filepath.Join(s.tree, "etc/sec.ini")} {
		file := filepath.Join(home, name)
		if _, err := os.Stat(file); err == nil {
			continue // of the page
		}
		b, err := os.ReadFile(from)
		if err := errors.Join(err, os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, b, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.CommandContext(harness.Deadline(t), filepath.Join(bin, "ctl"), "--home", home, "config", "validate").CombinedOutput(); err != nil {
		t.Errorf("config validate: %v\n%s", err, out)
	}
}

// sealed is a secret as aaa:seal-secret prints it.
func (s *site) sealed(t *testing.T) string {
	t.Helper()
	cmd := exec.CommandContext(harness.Deadline(t), filepath.Join(bin, "ctl"), "--home", s.Home, "aaa:seal-secret")
	cmd.Stdin = strings.NewReader("secret\nsecret\n")
	out, err := cmd.Output()
	if err != nil || !strings.HasPrefix(string(out), "{sealed}") {
		t.Fatalf("aaa:seal-secret: %v: %s", err, out)
	}
	return string(out)
}
