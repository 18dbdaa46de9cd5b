package yang

import (
	"strconv"
	"strings"
	"sync"
	"testing"

	"ctl.internal/sdk/fault"
)

// mod writes a module around a body that begins on line 2.
func mod(name, body string) map[string][]byte {
	return map[string][]byte{name + ".yang": []byte("module " + name + " { namespace 'urn:" + name + "'; prefix " + name + ";\n" + body + "\n}\n")}
}

func TestRefusedAtLoad(t *testing.T) {
	for _, c := range []struct{ what, body, path, text string }{
		{"leafref to nothing", "leaf l { type leafref { path '/m:b'; } }", "m.yang:2", "no node"},
		{"leafref circle", "leaf a { type leafref { path '/m:b'; } } leaf b { type leafref { path '/m:a'; } }", "m.yang:2", "circle"},
		{"unknown key", "list l { key k; leaf a { type string; } }", "m.yang:2", "not one of its leaves"},
		{"unknown unique", "list l { key a; unique b; leaf a { type string; } }", "m.yang:2", "unique"},
		{"grouping circle", "grouping g { uses h; }\ngrouping h { uses g; }\ncontainer c { uses g; }", "m.yang:2", "refers to itself"},
		{"typedef circle", "typedef a { type b; }\ntypedef b { type a; }\nleaf l { type a; }", "m.yang:2", "refers to itself"},
		{"identity circle", "identity a { base b; }\nidentity b { base a; }", "m.yang:2", "refers to itself"},
		{"missing import", "import nowhere { prefix n; }", "m.yang:2", "is not there"},
		{"unknown statement", "bogus x;", "m.yang:2", "no statement"},
		{"unknown type", "leaf l { type nope; }", "m.yang:2", "no type"},
		{"bad default", "leaf l { type int8; default 200; }", "m.yang:2", "default"},
		{"syntax", "leaf l { type int8 }", "m.yang:2", "is expected"},
		{"must that is no XPath", "container c { must '../x ='; }", "m.yang:2", "operand is expected"},
		{"unknown function", "leaf l { type string; when 'foo()'; }", "m.yang:2", "no function"},
		{"prefix in a must", "container c { must '../x:y'; }", "m.yang:2", "no import has the prefix"},
		{"refine of nothing", "grouping g { leaf a { type int8; } }\ncontainer c { uses g { refine b { mandatory true; } } }", "m.yang:3", "has no node"},
		{"refine that cannot be", "grouping g { container a; }\ncontainer c { uses g { refine a { mandatory true; } } }", "m.yang:3", "cannot be refined"},
		{"augment of nothing", "augment /m:c { leaf b { type int8; } }", "m.yang:2", "is not there"},
		{"augment of a leaf", "leaf c { type int8; } augment /m:c { leaf b { type int8; } }", "m.yang:2", "cannot be augmented"},
		{"augment of what is there", "container c { leaf b { type int8; } }\naugment /m:c { leaf b { type int8; } }", "m.yang:3", "has it already: m.yang:2"},
		{"two nodes", "container c { leaf b { type int8; }\nleaf b { type int8; } }", "m.yang:3", "the other is at m.yang:2"},
		{"deviation of nothing", "deviation /m:c { deviate not-supported; }", "m.yang:2", "is not there"},
		{"feature", "leaf l { if-feature f; type int8; }", "m.yang:2", "no feature"},
		{"feature circle", "feature a { if-feature b; }\nfeature b { if-feature a; }", "m.yang:2", "refers to itself"},
		{"config below state", "container c { config false; leaf l { config true; type int8; } }", "m.yang:2", "inside of state"},
		{"range", "leaf l { type int8 { range '1..200'; } }", "m.yang:2", "not within"},
		{"range that does not ascend", "leaf l { type int8 { range '5..1'; } }", "m.yang:2", "ascend"},
		{"two values", "leaf l { type enumeration { enum a { value 1; } enum b { value 1; } } }", "m.yang:2", "twice"},
		{"statement out of place", "leaf l { type int8; key a; }", "m.yang:2", "not allowed"},
		{"two types", "leaf l { type int8; type int8; }", "m.yang:2", "one \"type\" only"},
		{"leaf without type", "leaf l { units x; }", "m.yang:2", "has no \"type\""},
		{"missing submodule", "include s;", "m.yang:2", "is not there"},
		{"action in version 1", "container c { action a; }", "m.yang:2", "yang-version 1.1"},
		{"default of a mandatory leaf", "leaf l { type int8; mandatory true; default 1; }", "m.yang:2", "mandatory"},
		{"too deep", strings.Repeat("container c {", 70) + strings.Repeat("}", 70), "m.yang:2", "levels deep"},
	} {
		set, err := Load(Source{Name: "p", Files: mod("m", c.body)})
		if err == nil {
			t.Errorf("%s: loaded %d modules", c.what, len(set.Modules()))
			continue
		}
		f := fault.All(err)[0]
		if f.Path != c.path || !strings.Contains(f.Text, c.text) || f.Kind != fault.Invalid {
			t.Errorf("%s: got %s %q: %q", c.what, f.Kind, f.Path, f.Text)
		}
	}
}

func TestUnusedGroupingsMayHoldMust(t *testing.T) {
	if _, err := Load(Source{Name: "p", Files: mod("m", "grouping g { leaf a { type int8; must 'x'; } }")}); err != nil {
		t.Error(err)
	}
}

func TestExpansionIsBounded(t *testing.T) {
	var b strings.Builder
	b.WriteString("grouping g0 { leaf a { type int8; } }\n")
	for i := 1; i < 40; i++ {
		m := "g" + strconv.Itoa(i-1)
		b.WriteString("grouping g" + strconv.Itoa(i) + " { container l { uses " + m + "; } container r { uses " + m + "; } }\n")
	}
	b.WriteString("container top { uses g39; }")
	_, err := Load(Source{Name: "p", Files: mod("m", b.String())})
	if err == nil || !strings.Contains(err.Error(), "expands to more than") {
		t.Errorf("got %v", err)
	}
}

func TestTwoPlugins(t *testing.T) {
	types := func(rev, body string) map[string][]byte {
		return mod("types", "revision "+rev+";\n"+body)
	}
	join := func(a, b map[string][]byte) map[string][]byte {
		for k, v := range b {
			a[k] = v
		}
		return a
	}
	user := func(name string) map[string][]byte {
		return mod(name, "import types { prefix t; }\nleaf "+name+" { type t:small; }")
	}
	const small = "typedef small { type int8 { range '0..%'; } }"
	nine, five := strings.ReplaceAll(small, "%", "9"), strings.ReplaceAll(small, "%", "5")
	for _, c := range []struct {
		what string
		a, b map[string][]byte
		want string
	}{
		{"the same", types("2024-01-01", nine), types("2024-01-01", "description 'x';\n"+nine), ""},
		{"same revision, another meaning", types("2024-01-01", nine), types("2024-01-01", five), "give one of them another revision"},
		{"two revisions of types", types("2024-01-01", nine), types("2024-02-02", five), ""},
		{"two revisions with an identity", types("2024-01-01", nine+" identity i;"), types("2024-02-02", five), "only modules of types"},
	} {
		set, err := Load(Source{Name: "p", Files: join(user("a"), c.a)}, Source{Name: "q", Files: join(user("b"), c.b)})
		if c.want != "" {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: got %v", c.what, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.what, err)
			continue
		}
		if c.what == "two revisions of types" {
			a, b := set.Data("a", "a").Type.Range(), set.Data("b", "b").Type.Range()
			if a != "0..9" || b != "0..5" {
				t.Errorf("each plugin must have its own revision, got %s and %s", a, b)
			}
		}
	}
}

func TestCarriedModulesLoad(t *testing.T) {
	entries, err := embedded.ReadDir("modules")
	if err != nil {
		t.Fatal(err)
	}
	var body strings.Builder
	for _, e := range entries {
		name := strings.TrimSuffix(e.Name(), ".yang")
		body.WriteString("import " + name + " { prefix p-" + name + "; }\n")
	}
	set, err := Load(Source{Name: "p", Files: mod("m", body.String())})
	if err != nil {
		t.Fatal(err)
	}
	if len(set.Modules()) != len(entries)+1 {
		t.Errorf("%d modules loaded", len(set.Modules()))
	}
	if set.Data("network-topology", "network-topology") == nil {
		t.Error("network-topology has no tree")
	}
}

func TestCarriedTypes(t *testing.T) {
	set, err := Load(Source{Name: "p", Files: mod("m", `import ietf-inet-types { prefix inet; } import ietf-yang-types { prefix yang; }
		leaf a { type inet:ip-address; } leaf p { type inet:ip-prefix; } leaf mac { type yang:mac-address; } leaf h { type inet:host; }`)})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		leaf, value string
		ok          bool
	}{
		{"a", "0.0.0.0", true}, {"a", "256.1.1.1", false}, {"a", "::", true}, {"a", "::1", true}, {"a", "fe80::1%eth0", true},
		{"a", "1:2:3:4:5:6:7:8", true}, {"a", "1:2:3:4:5:6:7", false}, {"a", "1::2::3", false}, {"a", "::ffff:1.2.3.4", true},
		{"a", "2001:db8:0:0:1::", true}, {"a", "12345::", false}, {"a", "", false},
		{"p", "10.0.0.0/8", true}, {"p", "10.0.0.0", false}, {"p", "2001:db8::/32", true}, {"p", "::/0", true}, {"p", "::/129", false},
		{"mac", "90:94:e4:23:13:e0", true}, {"mac", "90:94:e4:23:13", false}, {"h", "router-1.example.net", true}, {"h", "-x", false},
	} {
		_, err := set.Data("m", c.leaf).DecodeValue([]byte(`"`+c.value+`"`), Options{})
		if (err == nil) != c.ok {
			t.Errorf("%s %q: %v", c.leaf, c.value, err)
		}
	}
}

// Schemas are rebuilt while others are in use and being built.
func TestLoadInParallel(t *testing.T) {
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			set := testSet(t)
			if _, err := set.RPC("every", "simple").DecodeInput([]byte(`{"input":{"node-id":1}}`), Options{}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

func TestSchemaForHelpAndCompletion(t *testing.T) {
	set := testSet(t)
	rpc := set.RPC("every", "all")
	var names []string
	for _, n := range rpc.Input.Members() {
		names = append(names, n.Name)
	}
	const want = "i8 i64 u16 u64 ranged dec text two-patterns flag colour opts raw kind nothing either where ref addr prefix share names tags pos np item loose a1 a2 short third left right blob extra grafted"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("members come as %s", got)
	}
	if n := rpc.Input.Member("colour"); strings.Join(n.Type.Names, " ") != "red green" {
		t.Errorf("values of an enumeration: %v", n.Type.Names)
	}
	if n := rpc.Input.Member("ranged"); n.Type.Range() != "1..10|20..30" {
		t.Errorf("range: %s", n.Type.Range())
	}
	if n := rpc.Input.Member("share"); n.Type.Range() != "0..100" || n.Default[0] != "50" || n.Type.Name != "percent" {
		t.Errorf("typedef: %+v", n)
	}
	if rpc.Description != "Uses every constraint." || !rpc.NeedsInput() || set.RPC("every", "defaults").NeedsInput() {
		t.Error("description or NeedsInput")
	}
	if m := set.Module("other"); m == nil || !m.Implemented || m.Revision != "2024-02-02" {
		t.Errorf("module: %+v", m)
	}
	if n := set.Data("every", "settings").Member("seen"); n.Config {
		t.Error("state is not configuration")
	}
	if set.Notification("every", "happened") == nil || set.Module("nothing") != nil || set.RPC("other", "all") != nil {
		t.Error("lookups")
	}
}
