// Package docs runs what the documentation says: every block of code of docs/ and README.md. What stands after the fence
// says how a block is checked:
//
//	sh                  run, all of a page in one bash, against a controller with the lab of `make run`
//	sh needs A B        the same where the programs A and B are installed (a name in capitals is a variable that is set)
//	sh no-run WHY PATH  cannot run here; PATH in the tree is what runs the same
//	console             lines of the console, run
//	text output         what the block of shell before it prints; a line … stands for any lines
//	KIND of PATH        is in that file of the tree, or made by the page; a line … stands for lines that are left out
//	KIND for FILE       a whole file of a home, read by what reads that file
package docs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
)

// block is a block of code of a page: what stands after the fence, and its text.
type block struct{ kind, how, of, text string }

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
			b.kind, b.how, _ = strings.Cut(string(f.Info.Segment.Value(source)), " ")
			b.how, b.of, _ = strings.Cut(b.how, " ")
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

// shows reports whether a text has the lines of a block, in order; they are one after the other but for empty lines and … of
// the block.
func shows(whole, part string) bool {
	rest, piece := "\n"+trimmed(whole), "\n"
	for line := range strings.Lines(trimmed(part) + "\n") {
		if word := strings.TrimSpace(strings.TrimLeft(line, "/#")); word != "" && word != "…" {
			piece += line
			continue
		}
		at := strings.Index(rest, piece)
		if at < 0 {
			return false
		}
		rest, piece = rest[at+len(piece)-1:], "\n"
	}
	return true
}

// trimmed is a text without indentation and blanks at the ends of lines.
func trimmed(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(strings.TrimSpace(line) + "\n")
	}
	return b.String()
}

// inTree is the text of the file that a block is of: one that the page made in work, or one of the tree.
func inTree(t *testing.T, work, tree, path string) string {
	t.Helper()
	for _, dir := range []string{work, tree} {
		if b, err := os.ReadFile(filepath.Join(dir, path)); err == nil {
			return string(b)
		}
	}
	t.Errorf("there is no file %s, neither made by the page nor in the tree", path)
	return ""
}

func TestABlockIsFoundInItsFile(t *testing.T) {
	const file = "a\n\tb\nc\n\nd\n"
	for part, want := range map[string]bool{"a\nb\n": true, "b\n…\nd\n": true, "// …\n\tc\n": true, "a\nc\n": false, "d\n…\na\n": false, "a\n\nd\n": true, "x\n": false} {
		if got := shows(file, part); got != want {
			t.Errorf("%q: %v", part, got)
		}
	}
}
