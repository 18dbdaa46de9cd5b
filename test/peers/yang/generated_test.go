//go:build peers

package yangpeers

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ctl.internal/internal/yang"
)

// schemas are what documents are generated from, each by what it is about. Their module is m.
var schemas = map[string]string{
	"conditions": `
  leaf level { type uint8 { range "0..4"; } default 1; }
  container c {
    must "count(l) <= /m:level + 1" { error-app-tag many; }
    leaf mode { type enumeration { enum low { value 1; } enum mid { value 3; } enum high { value 7; } } default low; }
    leaf strong { when "enum-value(../mode) >= 3"; type uint8; }
    leaf stronger { when "../strong > 2"; type uint8; mandatory true; }
    leaf flags { type bits { bit a; bit b; bit c; } must "not(bit-is-set(., 'a') and bit-is-set(., 'b'))"; }
    leaf name { type string { length "0..6"; } must "re-match(., '[a-c]*') or ../flags"; }
    container opt { when "../mode = 'high'"; leaf a { type string; } leaf d { type uint8; default 3; must ". > ../../level or . = 3"; } }
    list l { key k; unique "u v"; leaf k { type uint8 { range "0..5"; } } leaf u { type uint8; } leaf v { type uint8; default 2; }
      leaf next { type leafref { path "../../l/k"; } must ". != ../k"; }
      leaf far { when "../../mode != 'low' or deref(../next)/../u"; type string; } }
    leaf sum { type uint8; must ". >= sum(../l/u)"; }
    leaf last { type uint8; must "not(../l) or . = ../l[last()]/k or . = count(../l)"; }
  }`,
	"references": `
  container c {
    list rack { key "row id"; leaf row { type string; } leaf id { type uint8; } leaf kind { type string; }
      list slot { key n; max-elements 3; leaf n { type uint8; } leaf used { type boolean; } } }
    leaf row { type leafref { path "../rack/row"; } }
    leaf id { type leafref { path "../rack[row = current()/../row]/id"; } }
    leaf slot { type leafref { path "/m:c/m:rack[m:row = current()/../m:row][m:id = current()/../m:id]/m:slot/m:n"; } }
    leaf used { type leafref { path "../rack[row = current()/../row]/slot[n = current()/../slot]/used"; } }
    leaf loose { type leafref { path "../rack/kind"; require-instance false; } }
    leaf either { type union { type leafref { path "../rack/kind"; } type uint8 { range "1..3"; } type enumeration { enum none; } } }
    leaf-list kinds { type leafref { path "../rack/kind"; } max-elements 2; }
    leaf chain { type leafref { path "../row"; } }
    leaf at { type instance-identifier; }
    leaf maybe { type instance-identifier { require-instance false; } }
  }`,
	"structure": `
  identity base; identity one { base base; } identity two { base base; } identity deep { base one; base two; } identity other;
  typedef percent { type decimal64 { fraction-digits 2; range "0..100"; } }
  container c {
    choice first { mandatory true;
      case a { leaf a1 { type string; } container a2 { presence "x"; leaf x { type string; mandatory true; } } }
      case b { choice inner { default b2; leaf b1 { type uint8; } container b2 { leaf y { type uint8; default 4; } } } leaf b3 { type string; } }
      list d { key k; min-elements 2; leaf k { type uint8; } } }
    choice free { leaf f1 { type string; } leaf-list f2 { type uint8; min-elements 2; } }
    leaf id { type identityref { base base; } } leaf both { type identityref { base one; base two; } }
    leaf p { type percent; } leaf q { type percent { range "min..10 | 50"; } }
    leaf s { type string { pattern "[a-z]+\\d?"; pattern "x.*" { modifier invert-match; } length "2..5 | 7"; } }
    leaf e { type empty; } leaf b { type boolean; } leaf bin { type binary { length "2"; } }
    leaf un { type union { type identityref { base base; } type bits { bit p; bit q; } type int8 { range "-3..3"; } type boolean; type empty; } }
    leaf i64 { type int64; } leaf u16 { type uint16 { range "10..20 | 30"; } }
    leaf-list set { type string; ordered-by user; min-elements 0; max-elements 3; } leaf-list dflt { type uint8; default 1; default 2; }
    list l { key "a b"; leaf a { type string; } leaf b { type uint8; } leaf-list v { type uint8; }
      list m { key k; min-elements 1; leaf k { type string; } container n { leaf must { type uint8; mandatory true; } } } }
    container p2 { presence "y"; leaf need { type string; mandatory true; } leaf-list two { type uint8; min-elements 2; } }
    anydata any;
  }`,
}

// generated is how many documents are generated from each.
const generated = 2600

// generator makes documents of a schema, right ones and nearly right ones.
type generator struct{ *rand.Rand }

func (g generator) often(one, of int) bool { return g.IntN(of) < one }

// pick returns one of some texts.
func (g generator) pick(texts ...string) string { return texts[g.IntN(len(texts))] }

// object returns an instance of a container, entry or the root.
func (g generator) object(n *yang.Node, top bool) string {
	var members []string
	for _, m := range n.Members() {
		keep := g.often(1, 6) || m.IsKey() && !g.often(1, 60) || m.Mandatory && !g.often(1, 6) || top
		if !keep || !m.Config {
			continue
		}
		name := m.Name
		if top {
			name = m.QName()
		}
		members = append(members, fmt.Sprintf("%q:%s", name, g.instance(m)))
	}
	if g.often(1, 150) {
		members = append(members, `"nothing":1`)
	}
	return "{" + strings.Join(members, ",") + "}"
}

func (g generator) instance(n *yang.Node) string {
	switch {
	case n.Kind == yang.AnyData:
		return `{"x":1}`
	case !n.IsList() && n.IsLeaf():
		return g.value(n.Type)
	case !n.IsList():
		return g.object(n, false)
	}
	var entries []string
	for range g.IntN(4) {
		if n.IsLeaf() {
			entries = append(entries, g.value(n.Type))
			continue
		}
		entries = append(entries, g.object(n, false))
	}
	return "[" + strings.Join(entries, ",") + "]"
}

// value returns a value of a type, or one that nearly is.
func (g generator) value(t *yang.Type) string {
	if g.often(1, 40) && !t.Base.Quoted() { // that we take numbers for these is a named difference (docs/dev/yang.md)
		return g.pick(`"odd"`, `-7`, `true`, `null`, `[null]`, `"1"`, `{}`, `1.5`)
	}
	switch t.Base {
	case yang.Union:
		return g.value(t.Members[g.IntN(len(t.Members))])
	case yang.Leafref:
		return g.value(t.Final())
	case yang.Boolean:
		return g.pick("true", "false")
	case yang.Empty:
		return "[null]"
	case yang.Enumeration, yang.Identityref:
		return fmt.Sprintf("%q", t.Names[g.IntN(len(t.Names))])
	case yang.Bits:
		return fmt.Sprintf("%q", g.pick(t.Names[0], t.Names[len(t.Names)-1], strings.Join(t.Names, " "), ""))
	case yang.Binary:
		return g.pick(`"AAA="`, `"AAAA"`, `""`)
	case yang.InstanceIdentifier:
		if t.MustExist && g.often(1, 5) {
			return `"/m:c/nothing"`
		}
		return g.pick(`"/m:c/rack[row='a'][id='1']"`, `"/m:c/row"`, `"/m:c/kinds[.='b']"`, `"/m:c/rack[row='a'][id='1']/kind"`)
	case yang.String:
		return fmt.Sprintf("%q", g.pick("a", "b", "ab", "", "abc1", "xab", "abcdefg"))
	case yang.Decimal64:
		return fmt.Sprintf("%q", g.pick("1.5", "50.0", "99.99", "100.01", "7.123"))
	}
	number := fmt.Sprint(g.IntN(5))
	if g.often(1, 6) {
		number = g.pick("-3", "10", "20", "30", "127", "256")
	}
	if t.Base.Quoted() {
		return `"` + number + `"`
	}
	return number
}

// Documents that are generated from schemas are accepted or refused with libyang.
func TestGeneratedDocuments(t *testing.T) {
	needed(t)
	for name, body := range schemas {
		t.Run(name, func(t *testing.T) {
			module := `module m { yang-version 1.1; namespace "urn:m"; prefix m;` + body + "\n}\n"
			set, err := yang.Load(yang.Source{Name: "m", Files: map[string][]byte{"m.yang": []byte(module)}})
			if err != nil {
				t.Fatal(err)
			}
			g := generator{rand.New(rand.NewPCG(5, 6))}
			var texts [][]byte
			for range generated {
				texts = append(texts, []byte(g.object(set.Root, true)))
			}
			compare(t, set, module, texts)
		})
	}
}

// compare has both sides read documents of a module m.
func compare(t *testing.T, set *yang.Set, module string, texts [][]byte) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "m.yang"), []byte(module), 0o600); err != nil {
		t.Fatal(err)
	}
	for i, text := range texts {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.json", i)), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	theirs := lintAll(t, dir, len(texts))
	accepted, different := 0, 0
	for i, text := range texts {
		ours := verdict(set, text)
		if (ours == nil) != (theirs[i] == "") {
			different++
			t.Errorf("%s\nwe say %v\nyanglint %q", text, ours, theirs[i])
		}
		if different > 20 {
			t.Fatal("there are more differences than these")
		}
		if ours == nil {
			accepted++
		}
	}
	t.Logf("%d of %d documents are accepted by both", accepted, len(texts))
	if accepted < len(texts)/50 || accepted > len(texts)*49/50 {
		t.Error("the documents are not mixed enough")
	}
}
