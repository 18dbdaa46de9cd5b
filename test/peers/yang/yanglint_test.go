//go:build peers

package yangpeers

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"ctl.internal/internal/yang"
)

// lint is yanglint's verdict: nil, or what it says.
func lint(t *testing.T, args ...string) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, "yanglint", args...).CombinedOutput()
	if err != nil {
		first, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
		return fmt.Errorf("%w: %s", err, first)
	}
	return nil
}

func needed(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("yanglint"); err != nil {
		t.Skip("SKIPPED, NOT TESTED: the peer yanglint is not installed (Debian's libyang2-tools)")
	}
}

// published are the directories of modules that packages of Debian ship.
var published = []string{"/usr/share/yuma/modules/*", "/usr/share/yuma/nmda-modules/*", "/usr/share/yang/modules/libyang", "/usr/share/doc/libyang2-tools/examples"}

var importing = regexp.MustCompile(`(?m)^\s*(?:import|include)\s+"?([\w.-]+)"?\s*(?:\{[^}]*?revision-date\s+"?([\d-]+))?`)

// The modules that packages ship are accepted or refused with libyang.
func TestPublishedModules(t *testing.T) {
	needed(t)
	var args []string
	texts, byName := map[string][]byte{}, map[string][]string{}
	for _, dir := range published {
		dirs, _ := filepath.Glob(dir)
		for _, d := range dirs {
			args = append(args, "-p", d)
		}
		files, _ := filepath.Glob(dir + "/*.yang")
		for _, f := range files {
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			texts[f] = text
			name, _, _ := strings.Cut(strings.TrimSuffix(filepath.Base(f), ".yang"), "@")
			byName[name] = append(byName[name], f)
		}
	}
	if len(texts) == 0 {
		t.Skip("SKIPPED, NOT TESTED: the peer, a package with YANG modules, is not installed (Debian's libyang2-tools, libyuma-base)")
	}
	same := 0
	for f, text := range texts {
		if regexp.MustCompile(`(?m)^\s*submodule\s`).Match(text) {
			continue
		}
		src := yang.Source{Name: "published", Files: map[string][]byte{}}
		var take func(f string)
		take = func(f string) {
			src.Files[f] = texts[f]
			for _, m := range importing.FindAllSubmatch(texts[f], -1) {
				list := slices.Sorted(slices.Values(byName[string(m[1])]))
				if len(list) == 0 {
					continue
				}
				best := list[len(list)-1]
				for _, o := range list {
					if rev := string(m[2]); rev != "" && strings.HasSuffix(o, "@"+rev+".yang") {
						best = o
					}
				}
				if src.Files[best] == nil {
					take(best)
				}
			}
		}
		take(f)
		_, ours := yang.Load(src)
		theirs := lint(t, append(slices.Clone(args), f)...)
		if (ours == nil) != (theirs == nil) {
			t.Errorf("%s: we say %v, yanglint %v", f, ours, theirs)
			continue
		}
		same++
	}
	t.Logf("%d modules with the same verdict", same)
}

// differences are what we decide otherwise, each with its reason.
var differences = map[string]string{
	"list l { leaf k { type string; } }": "a configuration list without keys (RFC 7950 section 7.8.2) is let through: models that users rely on have them",
}

// bodies are one case a statement, right and wrong.
var bodies = []string{
	"container c { presence x; }", "container c { presence x; presence y; }", "leaf l { type string; }", "leaf l { }", "leaf l { type nope; }", "leaf l { type string; default 5; }",
	"leaf l { type uint8; default 500; }", "leaf l { type uint8; mandatory true; default 5; }", "leaf l { type uint8; mandatory maybe; }", "leaf l { type uint8 { range '1..5 | 7'; } }",
	"leaf l { type uint8 { range '5..1'; } }", "leaf l { type uint8 { range '1..300'; } }", "leaf l { type string { length '1..max'; } }", "leaf l { type string { length 'x'; } }",
	"leaf l { type string { pattern '[a-z]+'; } }", "leaf l { type string { pattern '[a-z'; } }", "leaf l { type string { pattern 'a' { modifier invert-match; } } }",
	"leaf l { type string { pattern '[a-z-[aeiou]]*'; } }", "leaf l { type enumeration { enum a; enum b { value 7; } } }", "leaf l { type enumeration { enum a; enum a; } }", "leaf l { type enumeration; }",
	"leaf l { type bits { bit a { position 1; } bit b; } }", "leaf l { type bits { bit a { position 1; } bit b { position 1; } } }", "leaf l { type decimal64 { fraction-digits 3; } }", "leaf l { type decimal64; }",
	"leaf l { type decimal64 { fraction-digits 19; } }", "leaf l { type union { type uint8; type string; } }", "leaf l { type union; }", "leaf l { type identityref { base i; } } identity i;", "leaf l { type identityref { base i; } }",
	"leaf l { type identityref; }", "identity a; identity b; leaf l { type identityref { base a; base b; } }", "identity a { base b; } identity b { base a; }", "leaf l { type leafref { path '../m'; } } leaf m { type string; }",
	"leaf l { type leafref { path '../nothing'; } }", "leaf l { type leafref; }", "leaf l { type leafref { path '/m:a[m:k = current()/../m]/m:v'; } } leaf m { type string; } list a { key k; leaf k { type string; } leaf v { type string; } }",
	"leaf l { type empty; }", "leaf l { type binary { length 4; } }", "leaf l { type instance-identifier { require-instance false; } }", "leaf l { type boolean { range 1; } }",
	"leaf-list l { type string; min-elements 1; max-elements 5; ordered-by user; }", "leaf-list l { type string; min-elements 5; max-elements 1; }", "leaf-list l { type string; default a; default b; }",
	"leaf-list l { type string; default a; min-elements 1; }", "list l { key k; leaf k { type string; } }", "list l { key x; leaf k { type string; } }", "list l { leaf k { type string; } }", "list l { config false; leaf k { type string; } }",
	"list l { key 'k k'; leaf k { type string; } }", "list l { key k; unique v; leaf k { type string; } leaf v { type string; } }", "list l { key k; unique x; leaf k { type string; } }",
	"choice c { leaf a { type string; } case b { leaf b { type string; } } }", "choice c { default a; leaf a { type string; } }", "choice c { default x; leaf a { type string; } }", "choice c { case a { leaf x { type string; } } case b { leaf x { type string; } } }",
	"anydata a;", "anyxml a;", "grouping g { leaf a { type string; } } uses g;", "uses g;", "grouping g { uses g; } uses g;", "grouping g { leaf a { type string; } } uses g { refine a { mandatory true; } }",
	"grouping g { leaf a { type string; } } uses g { refine b { mandatory true; } }", "grouping g { container a; } uses g { augment a { leaf b { type string; } } }", "grouping g { container a; } uses g { augment b { leaf b { type string; } } }",
	"container c; augment /m:c { leaf a { type string; } }", "augment /m:c { leaf a { type string; } }", "container c { leaf a { type string; } } augment /m:c { leaf a { type string; } }", "leaf c { type string; } augment /m:c { leaf a { type string; } }",
	"typedef t { type string; } leaf l { type t; }", "typedef t { type u; } typedef u { type t; } leaf l { type t; }", "typedef t { type string; } typedef t { type string; }", "typedef t { type uint8; default 900; } leaf l { type t; }",
	"feature f; leaf l { if-feature f; type string; }", "leaf l { if-feature f; type string; }", "feature f; leaf l { if-feature 'not f and (f or f)'; type string; }", "feature f; leaf l { if-feature 'f and'; type string; }",
	"rpc r { input { leaf a { type string; } } output { leaf b { type string; } } }", "rpc r { input { leaf a { type string; } } input { leaf b { type string; } } }", "notification n { leaf a { type string; } }",
	"container c { action a { input { leaf x { type string; } } } }", "container c { notification n { leaf x { type string; } } }", "leaf l { type string; must '. != \"x\"' { error-message m; error-app-tag t; } }", "leaf l { type string; must '. !='; }",
	"leaf l { type string; when '../x'; } leaf x { type string; }", "leaf l { type string; when 'foo('; }", "leaf l { type string; must 'p:x'; }", "leaf l { type string; status deprecated; units u; reference r; }", "leaf l { type string; status old; }",
	"container c { config false; leaf l { config true; type string; } }", "leaf l { type string; key x; }", "bogus;", "extension e { argument a; } m:e x;", "leaf l { type string }", "leaf l { type string; ", "leaf 1l { type string; }",
	"container c { leaf x { type string; } leaf x { type string; } }", "leaf l { description 'a' + \"b\"; type string; }", "leaf l { type string { pattern \"\\d\"; } }", "leaf l { type string; } // comment\n/* another */",
	"container c { leaf x { type string; } } deviation /m:c/m:x { deviate add { default y; } }", "revision 2020-01-01; revision 2019-01-01;", "revision yesterday;", "import nowhere { prefix n; }",
}

// Each statement is accepted or refused with libyang.
func TestStatements(t *testing.T) {
	needed(t)
	dir := t.TempDir()
	for i, body := range bodies {
		text := "module m {\n  yang-version 1.1;\n  namespace \"urn:m\";\n  prefix m;\n  " + body + "\n}\n"
		if strings.HasSuffix(body, "; ") { // a text that ends early
			text = strings.TrimSuffix(text, "\n}\n")
		}
		own := filepath.Join(dir, fmt.Sprint(i))
		if err := os.Mkdir(own, 0o700); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(own, "m.yang")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, ours := yang.Load(yang.Source{Name: "m", Files: map[string][]byte{"m.yang": []byte(text)}})
		theirs := lint(t, "-D", file)
		why, known := differences[body]
		if same := (ours == nil) == (theirs == nil); same == known {
			t.Errorf("%s\nwe say %v\nyanglint %v\n%s", body, ours, theirs, why)
		}
	}
}

// instances is what documents are made for.
const instances = `module m { yang-version 1.1; namespace "urn:m"; prefix m;
  identity i; identity j { base i; }
  container c {
    leaf i8 { type int8 { range "-5..5 | 9"; } } leaf u64 { type uint64; } leaf d { type decimal64 { fraction-digits 2; range "-1..9.5"; } }
    leaf s { type string { length "1..4"; pattern "[a-c]*"; } } leaf b { type boolean; } leaf e { type enumeration { enum one; enum two; } }
    leaf bits { type bits { bit x; bit y; } } leaf bin { type binary { length "0..3"; } } leaf id { type identityref { base i; } } leaf em { type empty; }
    leaf un { type union { type int8; type enumeration { enum auto; } } }
    leaf-list ll { type string; max-elements 2; } leaf-list few { type uint8; ordered-by user; }
    list l { key k; unique v; leaf k { type string; } leaf v { type uint8; } leaf r { type leafref { path "../../l/k"; } } }
    choice ch { case a { leaf a1 { type string; } leaf a2 { type string; } } case b { leaf b1 { type string; } } }
    leaf w { when "../b = 'true'"; type string; } leaf mu { must ". < ../i8"; type int8; }
    container p { presence "x"; leaf need { mandatory true; type string; } }
  }
}`

// values are candidates for each leaf, right and wrong.
var values = map[string][]string{
	"i8": {"1", "-5", "9", "6", "\"1\"", "300", "1.0"}, "u64": {"\"1\"", "\"18446744073709551615\"", "\"-1\"", "\"x\""}, "d": {"\"1.25\"", "\"9.5\"", "\"9.51\"", "\"1.255\"", "\"-1\""},
	"s": {"\"abc\"", "\"\"", "\"abcab\"", "\"d\""}, "b": {"true", "false", "\"true\"", "1"}, "e": {"\"one\"", "\"three\""}, "bits": {"\"x\"", "\"y x\"", "\"x x\"", "\"z\"", "\"\""},
	"bin": {"\"AAAA\"", "\"AA==\"", "\"A\"", "\"AAAAAA==\""}, "id": {"\"j\"", "\"m:j\"", "\"i\"", "\"k\""}, "em": {"[null]", "null", "\"\""}, "un": {"5", "\"auto\"", "\"x\"", "500"},
	"ll": {`["a"]`, `["a","b"]`, `["a","b","c"]`, `["a","a"]`, `"a"`}, "few": {`[1]`, `[2,1]`, `[1,1]`, `[300]`}, "a1": {`"x"`}, "a2": {`"x"`, "5"}, "b1": {`"x"`}, "w": {`"x"`}, "mu": {"0", "8"},
	"l": {`[{"k":"1","v":1}]`, `[{"k":"1","v":1},{"k":"2","v":1}]`, `[{"k":"1"},{"k":"1"}]`, `[{"v":1}]`, `[{"k":"1","r":"1"}]`, `[{"k":"1","r":"2"}]`, `[]`},
	"p": {`{"need":"x"}`, `{}`}, "nothing": {"1"},
}

// documents is how many are compared.
const documents = 4000

// Documents that are put together of right and wrong values are accepted or refused with libyang.
func TestDocuments(t *testing.T) {
	needed(t)
	set, err := yang.Load(yang.Source{Name: "m", Files: map[string][]byte{"m.yang": []byte(instances)}})
	if err != nil {
		t.Fatal(err)
	}
	compare(t, set, instances, randomDocuments(t))
}

// lintAll has one yanglint read the documents 0.json, 1.json … in a directory; what it says of each is empty where it
// accepts the document.
func lintAll(t *testing.T, dir string, n int) []string {
	t.Helper()
	var script strings.Builder
	script.WriteString("searchpath .\nload m\n")
	for i := range n {
		fmt.Fprintf(&script, "data -t config %d.json\n", i)
	}
	script.WriteString("quit\n")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "yanglint")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+dir) // it keeps a history
	cmd.Stdin = strings.NewReader(script.String())
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("yanglint: %v\n%.2000s", err, out)
	}
	verdicts := make([]string, n)
	why := ""
	for line := range strings.Lines(string(out)) {
		line = strings.TrimSpace(line)
		if strings.Contains(line, "Parsing schema module") {
			t.Fatalf("yanglint refuses the module: %s %s", why, line)
		}
		name, failed := strings.CutPrefix(line, "YANGLINT[E]: Failed to parse input data file \"")
		if !failed {
			why += line + " "
			continue
		}
		i, err := strconv.Atoi(strings.TrimSuffix(name, ".json\"."))
		if err != nil {
			t.Fatalf("yanglint says %q", line)
		}
		verdicts[i] = why + line
		why = ""
	}
	return verdicts
}

func randomDocuments(t *testing.T) [][]byte {
	t.Helper()
	names := slices.Sorted(func(yield func(string) bool) {
		for n := range values {
			if !yield(n) {
				return
			}
		}
	})
	random := rand.New(rand.NewPCG(1, 2))
	var texts [][]byte
	for range documents {
		var members []string
		for _, n := range names {
			if random.IntN(8) == 0 {
				v := values[n]
				at := 0
				if random.IntN(3) == 0 {
					at = random.IntN(len(v))
				}
				members = append(members, `"`+n+`":`+v[at])
			}
		}
		text := []byte(`{"m:c":{` + strings.Join(members, ",") + `}}`)
		if !json.Valid(text) {
			t.Fatalf("%s", text)
		}
		texts = append(texts, text)
	}
	return texts
}

// verdict is what internal/yang says of a whole configuration: types and structure, then conditions. References are
// checked by the trees of RESTCONF, so what must be there is looked up here.
func verdict(set *yang.Set, text []byte) error {
	d, err := set.Root.Decode(text, yang.Options{})
	if err != nil {
		return err
	}
	d.AddDefaults(yang.Default, func(n *yang.Node) bool { return n.Config })
	for c := range d.All() {
		if l := c.Constraints(d); len(l) > 0 {
			return l.Err()
		}
	}
	return references(d)
}

// references checks what leafrefs and instance-identifiers refer to.
func references(root *yang.Data) error {
	leads, err := yang.CompileXPath("deref(.)")
	if err != nil {
		return err
	}
	var walk func(d *yang.Data) error
	walk = func(d *yang.Data) error {
		if d.Node != nil && d.Node.IsLeaf() && !d.IsArray() && len(d.References()) > 0 {
			ok, err := leads.Holds(d, root)
			if err != nil || !ok {
				return fmt.Errorf("%s: %q refers to nothing: %w", d.Path(), d.Text(), err)
			}
		}
		for c := range d.All() {
			if err := walk(c); err != nil {
				return err
			}
		}
		return nil
	}
	return walk(root)
}
