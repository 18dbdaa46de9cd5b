// Package docs runs what the documentation says: every block of code of docs/ and README.md.
package docs

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
	"go.yaml.in/yaml/v3"

	"ctl.internal/test/harness"
)

var bin string

func TestMain(m *testing.M) { os.Exit(harness.Main(m, "../..", &bin)) }

// patience is for what must succeed, on a machine that has other things to do.
const patience = 3 * time.Minute

// block is a block of code: what stands after the fence, and its text.
type block struct{ info, text string }

// Shell blocks run one after the other, those of a page in one bash, against a controller with the lab of `make run`.
// A block that cannot says `no-run` and why, and has to be correct shell all the same.
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
	c := harness.Start(t, bin, nil)
	work := filepath.Dir(harness.NewHome(t))
	if err := errors.Join(os.Symlink(bin, filepath.Join(work, "bin")), os.MkdirAll(filepath.Join(work, "run", "lab"), 0o700)); err != nil {
		t.Fatal(err)
	}
	list := lab(t, work)
	c.Ctl("feature:install ctl-switch-all ctl-aaa-cli")
	addresses := strings.NewReplacer("127.0.0.1:8181", strings.TrimPrefix(c.HTTP, "http://"), "127.0.0.1:8182", c.Address("admin"))
	ran := 0
	for _, page := range pages {
		t.Run(filepath.Base(page), func(t *testing.T) {
			var script strings.Builder
			for _, b := range blocks(t, page) {
				kind, why, _ := strings.Cut(b.info, " ")
				switch {
				case kind == "sh" && why == "":
					script.WriteString(addresses.Replace(b.text) + "\n")
					ran++
				case kind == "sh" && strings.HasPrefix(why, "no-run ") && len(why) > 12:
					if out, err := exec.Command("bash", "-n", "-c", b.text).CombinedOutput(); err != nil {
						t.Errorf("is no shell: %s\n%s", out, b.text)
					}
				case kind == "console":
					for line := range strings.Lines(b.text) {
						c.Ctl(strings.TrimSpace(line))
					}
					ran++
				case !parses(t, kind, b.text):
					t.Errorf("a block of kind %q cannot be read, or says neither what it is nor why it is not run:\n%s", b.info, b.text)
				}
			}
			if script.Len() == 0 {
				return
			}
			c.Ctl("switch:ReadDB " + list) // a page may load another
			c.Ctl("switch:TopoDiscover")
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			cmd := exec.CommandContext(ctx, "bash", "-c", "set -eux\ntrap 'kill $(jobs -p) 2>/dev/null || true' EXIT\n"+script.String())
			cmd.Dir, cmd.Env, cmd.WaitDelay = work, append(os.Environ(), "CTL_HOME="+c.Home, "TREE="+tree, "CTL_SOURCE="+tree), 10*time.Second
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
	if ran < 15 {
		t.Errorf("only %d blocks were run", ran)
	}
}

// lab starts the switches of `make run` and returns their list.
func lab(t *testing.T, work string) string {
	t.Helper()
	list := filepath.Join(work, "run", "lab", "switches.csv")
	cmd := exec.CommandContext(t.Context(), filepath.Join(bin, "ctl-lab"), "--topology", "ring:8,tree:3x2", "--csv", list, "--control", filepath.Join(work, "run", "lab", "control.sock"))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if strings.Contains(lines.Text(), "ready") {
			return list
		}
	}
	t.Fatal("the lab did not start")
	return ""
}

// blocks are those of a page, indented ones too.
func blocks(t *testing.T, page string) []block {
	t.Helper()
	source, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var out []block
	err = ast.Walk(goldmark.DefaultParser().Parse(text.NewReader(source)), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering || n.Kind() != ast.KindFencedCodeBlock && n.Kind() != ast.KindCodeBlock {
			return ast.WalkContinue, nil
		}
		b := block{}
		if f, ok := n.(*ast.FencedCodeBlock); ok && f.Info != nil {
			b.info = string(f.Info.Segment.Value(source))
		}
		for i := range n.Lines().Len() {
			line := n.Lines().At(i)
			b.text += string(line.Value(source))
		}
		out = append(out, b)
		return ast.WalkContinue, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// parses reports whether a block is what it says. Text is what programs print; Go is compiled as the examples of package sdk.
func parses(t *testing.T, kind, content string) bool {
	t.Helper()
	switch kind {
	case "yaml":
		var v any
		return yaml.Unmarshal([]byte(content), &v) == nil && v != nil
	case "json":
		return json.Valid([]byte(content))
	case "xml":
		for dec := xml.NewDecoder(bytes.NewReader([]byte(content))); ; {
			if _, err := dec.Token(); err == io.EOF {
				return true
			} else if err != nil {
				return false
			}
		}
	}
	return slices.Contains([]string{"text", "ini", "go"}, kind)
}
