package architecture

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// named are the paths of the tree that a document names: with a directory of the top level, or the name of a source file.
var named = regexp.MustCompile("`((?:host|internal|sdk|plugins|proto|test|bench|examples|docs|etc)/[^` ]*|[A-Za-z0-9_./-]+\\.(?:go|tsx?|proto|yang))`")

// Every file and directory that the documents for those who work on ctl name is there. A name without its directory is one
// of any file that ends so; NAME and * stand for anything.
func TestDocumentsNameWhatIsThere(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	documents, err := filepath.Glob(filepath.Join(root, "docs/dev/*.md"))
	if err != nil || len(documents) == 0 {
		t.Fatalf("no documents in docs/dev: %v", err)
	}
	documents = append(documents, filepath.Join(root, "ARCHITECTURE.md"), filepath.Join(root, "CONTRIBUTING.md"))
	files := listFiles(t, root)
	for _, document := range documents {
		text, err := os.ReadFile(document)
		if err != nil {
			t.Fatal(err)
		}
		for n, line := range strings.Split(string(text), "\n") {
			for _, m := range named.FindAllStringSubmatch(line, -1) {
				if !isThere(root, files, m[1]) {
					t.Errorf("%s:%d: %s is not in the tree", filepath.Base(document), n+1, m[1])
				}
			}
		}
	}
}

func isThere(root string, files []string, name string) bool {
	for _, made := range []string{"host/internal/web/static/", "etc/authorized_keys", "etc/sec.ini"} { // of a home, or built
		if strings.HasPrefix(name, made) {
			return true
		}
	}
	pattern := strings.NewReplacer("NAME", "*", "AGENT", "*").Replace(name)
	found, err := filepath.Glob(filepath.Join(root, pattern))
	if err == nil && len(found) > 0 {
		return true
	}
	suffix := regexp.MustCompile("/" + strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, `[^/]*`) + "(/|$)")
	for _, f := range files {
		if suffix.MatchString(f) {
			return true
		}
	}
	return false
}

// listFiles are the paths of all files below the root, with a slash before each.
func listFiles(t *testing.T, root string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules" || d.Name() == "bin") {
			return filepath.SkipDir
		}
		if !d.IsDir() {
			rel, err := filepath.Rel(root, path)
			if err != nil {
				return err
			}
			out = append(out, "/"+filepath.ToSlash(rel))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
