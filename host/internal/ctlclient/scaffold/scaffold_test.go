package scaffold

import (
	"context"
	"go/format"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func source(t *testing.T) string {
	t.Helper()
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	dir, ok := InSource(wd)
	if !ok {
		t.Fatalf("%s is not in the source tree", wd)
	}
	return dir
}

// What is written is formatted, compiles and passes its own tests as it is, with the module
// that an installation lays down and nothing else of the source tree.
func TestSkeletonsWork(t *testing.T) {
	sdk := filepath.Join(t.TempDir(), "sdk")
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Minute)
	defer cancel()
	if !testing.Short() {
		c := exec.CommandContext(ctx, "go", "run", "./internal/sdkcopy", sdk)
		c.Dir = source(t)
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	for _, kind := range Kinds() {
		t.Run(kind, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "my-own")
			files, err := Write(Plugin{Name: "my-own", Kind: kind, Dir: dir, Source: modules(t, sdk)})
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range files {
				b, err := os.ReadFile(f)
				if err != nil {
					t.Fatal(err)
				}
				if filepath.Ext(f) != ".go" {
					continue
				}
				if nice, err := format.Source(b); err != nil || string(nice) != string(b) {
					t.Errorf("%s is not formatted: %v", f, err)
				}
			}
			if testing.Short() {
				return
			}
			c := exec.CommandContext(ctx, "go", "test", "./...")
			c.Dir = dir
			c.Env = append(os.Environ(), "GOFLAGS=-mod=readonly", "GOPROXY=off", "GOWORK=off")
			if out, err := c.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// modules is the copy of the SDK, or, in a short run that builds nothing, the source tree.
func modules(t *testing.T, sdk string) string {
	if testing.Short() {
		return source(t)
	}
	return sdk
}

// examples/switchdriver-go is what ctl plugin new writes, and nothing else: the guide
// says so. Write it again after a change of the templates:
// ctl plugin new --kind switchdriver --dir examples/switchdriver-go switchdriver-go
func TestTheExampleIsTheSkeleton(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	files, err := Write(Plugin{Name: "switchdriver-go", Kind: "switchdriver", Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	example := filepath.Join(source(t), "examples", "switchdriver-go")
	for _, f := range files {
		rel, _ := filepath.Rel(dir, f)
		want, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(filepath.Join(example, rel)); err != nil || string(got) != string(want) {
			t.Errorf("examples/switchdriver-go/%s is not what the template writes (%v)", rel, err)
		}
	}
	if there, err := os.ReadDir(example); err != nil || len(there) != len(files) {
		t.Errorf("examples/switchdriver-go has %d files, the skeleton %d (%v)", len(there), len(files), err)
	}
}

func TestRefusals(t *testing.T) {
	full := t.TempDir()
	os.WriteFile(filepath.Join(full, "mine"), nil, 0o644)
	dir := filepath.Join(t.TempDir(), "new")
	for _, c := range []struct {
		p    Plugin
		want string
	}{
		{Plugin{Name: "My_Own", Kind: "realm", Dir: dir}, "must be small letters"},
		{Plugin{Name: strings.Repeat("a", 33), Kind: "realm", Dir: dir}, "at most 32"},
		{Plugin{Name: "own", Kind: "relam", Dir: dir}, `unknown kind "relam", expected one of operations`},
		{Plugin{Name: "own", Kind: "realm", Dir: full}, "is not empty; nothing was written"},
		{Plugin{Name: "own", Kind: "realm", Dir: dir, Source: full}, "is neither the SDK nor the source tree of the controller"},
	} {
		if _, err := Write(c.p); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c.p, err)
		}
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("%+v left something", c.p)
		}
	}
	if left, _ := os.ReadDir(full); len(left) != 1 {
		t.Errorf("left %v", left)
	}
}
