package architecture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// The host knows no plugin, device or module of a plugin by its name: what it needs to know of one stands in the plugin's
// manifest or in annotations of its modules.
func TestTheHostKnowsNoPluginByName(t *testing.T) {
	names := pluginNames(t)
	qualified := regexp.MustCompile(`^/?(?:[\w-]+/)*(` + strings.Join(quoteAll(names.modules), "|") + `):[A-Za-z][\w:-]*$`)
	for _, f := range sources(t) {
		if f.test || !under(f.dir, "host/internal") || slices.ContainsFunc(knowsPlugins, func(dir string) bool { return under(f.path, dir) }) {
			continue
		}
		for text, line := range literalsOf(t, f) {
			if slices.Contains(names.plugins, text) || isName(names.modules, text) || slices.Contains(names.classes, text) || qualified.MatchString(text) {
				t.Errorf("%s:%d: %q is the name of a plugin, or of what belongs to one: let its manifest or its modules say what the host must know", f.path, line, text)
			}
		}
	}
}

// isName reports whether a text is the name of a module; one without a hyphen is a word that may mean anything.
func isName(modules []string, text string) bool {
	return strings.Contains(text, "-") && slices.Contains(modules, text)
}

// knowsPlugins is what may name plugins: the client, whose `apply` and `get` are shortcuts to some, and fakes for tests.
var knowsPlugins = []string{
	"host/internal/ctlclient", "host/internal/console/consoletest",
	"host/internal/grant/grant.go",                 // examples in messages
	"host/internal/datastore/projection/staged.go", // a key of the store, no plugin
}

type namesOfPlugins struct{ plugins, modules, classes []string }

// pluginNames collects the names in plugins/: of the plugins, of the modules that only they ship, and of classes of realms.
func pluginNames(t *testing.T) (out namesOfPlugins) {
	t.Helper()
	manifests, err := filepath.Glob("../../plugins/*/plugin.yaml")
	if err != nil || len(manifests) < 10 {
		t.Fatalf("%d manifests: %v", len(manifests), err)
	}
	for _, path := range manifests {
		var m struct {
			Name   string
			Labels map[string]string
		}
		text, err := os.ReadFile(path)
		if err == nil {
			err = yaml.Unmarshal(text, &m)
		}
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		out.plugins = append(out.plugins, m.Name)
		out.classes = append(out.classes, strings.Fields(m.Labels["realm-kinds"])...)
	}
	for _, dir := range []string{"../../plugins", "../../internal/bier/bierplugin"} {
		err = filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
			if name, isModule := strings.CutSuffix(filepath.Base(path), ".yang"); isModule {
				bare, _, _ := strings.Cut(name, "@")
				out.modules = append(out.modules, bare)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func quoteAll(names []string) (out []string) {
	for _, n := range names {
		out = append(out, regexp.QuoteMeta(n))
	}
	return out
}

// literalsOf are the texts in the code of a file, with a line of each.
func literalsOf(t *testing.T, f file) map[string]int {
	t.Helper()
	set := token.NewFileSet()
	parsed, err := parser.ParseFile(set, f.path, f.text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]int{}
	ast.Inspect(parsed, func(n ast.Node) bool {
		if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
			text, _ := strconv.Unquote(l.Value)
			out[text] = set.Position(l.Pos()).Line
		}
		return true
	})
	return out
}
