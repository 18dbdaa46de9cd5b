package architecture

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const module = "ctl.internal/"

// file is one Go source file of the tree.
type file struct {
	path    string // below the root, slashes
	dir     string
	imports []string // of this module, without its prefix
	others  []string
	lines   int
	test    bool
	text    string
}

func sources(t *testing.T) []file {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	var out []file
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "bin") && path != root {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, ".pb.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, path)
		f := file{path: filepath.ToSlash(rel), dir: filepath.ToSlash(filepath.Dir(rel)), test: strings.HasSuffix(path, "_test.go"),
			lines: strings.Count(string(text), "\n"), text: string(text)}
		parsed, err := parser.ParseFile(token.NewFileSet(), path, text, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, i := range parsed.Imports {
			p, _ := strconv.Unquote(i.Path.Value)
			if own, ok := strings.CutPrefix(p, module); ok {
				f.imports = append(f.imports, own)
			} else {
				f.others = append(f.others, p)
			}
		}
		out = append(out, f)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(out) < 10 {
		t.Fatalf("only %d Go files found below %s", len(out), root)
	}
	return out
}

func under(path, dir string) bool { return path == dir || strings.HasPrefix(path, dir+"/") }

// floor is the height of a room inside host/internal: a room imports only rooms
// below its own floor, and its own packages.
var floor = map[string]int{
	"home": 0, "logs": 0, "present": 0, "datastore": 1, "keys": 2, "lease": 2, "grant": 2, "troubles": 2,
	"aaa": 3, "feature": 3, "snapshot": 3, "plugin": 3, "notify": 3, "restconf": 4, "cluster": 4, "console": 4, "web": 4, "address": 5, "server": 6,
	// Clients of a running controller: they know no room at all.
	"ctlclient": -1, "idmtool": -1,
}

func room(path string) string {
	rest, ok := strings.CutPrefix(path, "host/internal/")
	if !ok {
		return ""
	}
	name, _, _ := strings.Cut(rest, "/")
	return name
}

func TestWalls(t *testing.T) {
	for _, f := range sources(t) {
		for _, imp := range f.imports {
			switch {
			case under(f.dir, "proto") && !under(imp, "proto"):
				t.Errorf("%s imports %s: proto imports nothing of ours", f.path, imp)
			case under(f.dir, "sdk") && !f.test && !under(imp, "sdk") && !under(imp, "proto") && !sdkMayImport(imp):
				t.Errorf("%s imports %s: sdk imports only proto and internal/{wire,yang,nearest}", f.path, imp)
			case under(f.dir, "internal") && (under(imp, "host") || under(imp, "plugins")):
				t.Errorf("%s imports %s: internal is below host and plugins", f.path, imp)
			case !f.test && (under(f.dir, "internal/wire") || under(f.dir, "internal/nearest")) && under(imp, "sdk"):
				t.Errorf("%s imports %s: sdk stands on %s", f.path, imp, f.dir)
			case under(f.dir, "host") && under(imp, "plugins") && f.dir != "host/ctl-plugins":
				t.Errorf("%s imports %s: of host only the program ctl-plugins, which is all plugins, knows them", f.path, imp)
			case under(f.dir, "plugins"):
				own := strings.Join(strings.SplitN(f.dir, "/", 3)[:2], "/")
				if !under(imp, "sdk") && !under(imp, "proto") && !under(imp, "internal") && !under(imp, own) {
					t.Errorf("%s imports %s: a plugin imports sdk, proto, internal and itself", f.path, imp)
				}
			case under(f.dir, "host/internal"):
				checkFloor(t, f, imp)
			}
		}
	}
}

func sdkMayImport(path string) bool {
	return under(path, "internal/wire") || under(path, "internal/yang") || under(path, "internal/nearest")
}

func checkFloor(t *testing.T, f file, imp string) {
	t.Helper()
	from, to := room(f.dir), room(imp)
	if to == "" || from == to {
		return
	}
	a, ok := floor[from]
	if !ok {
		t.Errorf("%s: the room host/internal/%s has no floor; add it to this test and to ARCHITECTURE.md", f.path, from)
		return
	}
	b, ok := floor[to]
	if !ok {
		t.Errorf("%s imports %s, a room without a floor", f.path, imp)
		return
	}
	if from == "ctlclient" || from == "idmtool" {
		if f.test {
			return // their tests run against the real rooms
		}
		t.Errorf("%s imports %s: a client knows no room of the host", f.path, imp)
		return
	}
	if b >= a {
		t.Errorf("%s imports %s: %s (floor %d) may import only lower floors, %s is on %d", f.path, imp, from, a, to, b)
	}
}

func TestGoPluginStaysAtItsDoor(t *testing.T) {
	for _, f := range sources(t) {
		for _, imp := range f.others {
			if !strings.HasPrefix(imp, "github.com/hashicorp/go-plugin") && !strings.HasPrefix(imp, "github.com/hashicorp/go-hclog") {
				continue
			}
			if f.dir == "sdk" || under(f.dir, "internal/wire") || under(f.dir, "sdk/plugintest") || under(f.dir, "host/internal/plugin") || under(f.dir, "bench") {
				continue
			}
			t.Errorf("%s imports %s: only sdk, internal/wire, sdk/plugintest and host/internal/plugin know go-plugin", f.path, imp)
		}
	}
}

// What simulates devices is no part of the product: the daemon and the plugins run
// without it.
func TestTheLabStaysInTheLab(t *testing.T) {
	for _, f := range sources(t) {
		if f.test || under(f.dir, "internal/lab") || under(f.dir, "test") || under(f.dir, "bench") {
			continue
		}
		for _, imp := range f.imports {
			if under(imp, "internal/lab") {
				t.Errorf("%s imports %s: only tests and the lab do; what both need lies elsewhere in internal", f.path, imp)
			}
		}
	}
}

func TestFilesStaySmall(t *testing.T) {
	for _, f := range sources(t) {
		if f.lines > 600 {
			t.Errorf("%s has %d lines; 600 is the limit: split it by concept", f.path, f.lines)
		}
		if strings.HasSuffix(f.path, "/main.go") && (under(f.dir, "plugins") || under(f.dir, "host")) && f.lines > 25 {
			t.Errorf("%s has %d lines; a main has at most 25", f.path, f.lines)
		}
	}
}

func TestEveryPackageSaysWhatItIsFor(t *testing.T) {
	docs, dirs := map[string]bool{}, map[string]string{}
	for _, f := range sources(t) {
		if strings.HasSuffix(f.path, "/main.go") {
			docs[f.dir] = true
		}
		if !f.test {
			dirs[f.dir] = f.path
			if strings.HasSuffix(f.path, "/doc.go") || packageComment(f.text) {
				docs[f.dir] = true
			}
		}
	}
	for dir, example := range dirs {
		if !docs[dir] {
			t.Errorf("%s (%s): no package comment; write a doc.go", dir, example)
		}
	}
}

func packageComment(text string) bool {
	before, _, ok := strings.Cut(text, "\npackage ")
	if !ok {
		return false
	}
	last := before[strings.LastIndex(before, "\n")+1:]
	return strings.HasPrefix(last, "//") && !strings.HasPrefix(last, "//go:")
}

func TestNoInitAndNoSleepInTests(t *testing.T) {
	for _, f := range sources(t) {
		if strings.Contains(f.text, "\nfunc init()") {
			t.Errorf("%s registers something in init(); processes are the registry", f.path)
		}
		if f.test && strings.Contains(f.text, "time."+"Sleep(") {
			t.Errorf("%s sleeps; wait for the event instead", f.path)
		}
	}
}
