package yang

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"ctl.internal/sdk/fault"
)

// mod11 writes a module of version 1.1.
func mod11(name, body string) string {
	return "module " + name + " { yang-version 1.1; namespace 'urn:" + name + "'; prefix " + name + ";\n" + body + "\n}\n"
}

func loadAll(t *testing.T, texts ...string) *Set {
	t.Helper()
	src := Source{Name: "p", Files: map[string][]byte{}}
	for i, x := range texts {
		src.Files[fmt.Sprintf("f%d.yang", i)] = []byte(x)
	}
	set, err := Load(src)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// Each statement means what RFC 7950 says: values that fit, and values that do not.
func TestEveryStatement(t *testing.T) {
	for _, c := range []struct {
		what string
		mods []string
		good []string // instances of the root
		bad  []string
	}{
		{"refine", []string{mod11("m", "grouping g { leaf a { type uint8; } leaf-list b { type string; } container p { leaf q { type string; } } }\n"+
			"container c { uses g { refine a { mandatory true; } refine b { max-elements 1; } refine p { presence x; } refine p/q { default z; } } }")},
			[]string{`{"m:c":{"a":1,"b":["x"],"p":{}}}`}, []string{`{"m:c":{"b":["x"]}}`, `{"m:c":{"a":1,"b":["x","y"]}}`}},
		{"augment in uses", []string{mod11("m", "grouping g { container p; choice ch { case one { leaf o { type string; } } } }\n"+
			"container c { uses g { augment p { leaf new { type int8; } } augment ch { case two { leaf t { type string; } } leaf three { type string; } } } }")},
			[]string{`{"m:c":{"p":{"new":1},"t":"x"}}`, `{"m:c":{"three":"x"}}`}, []string{`{"m:c":{"p":{"new":1000}}}`, `{"m:c":{"t":"x","o":"y"}}`}},
		{"submodules", []string{"module m { yang-version 1.1; namespace 'urn:m'; prefix m; include s; container c { uses g; leaf k { type t; } } }",
			"submodule s { yang-version 1.1; belongs-to m { prefix mm; } include s2; grouping g { leaf a { type mm:t; } } container top { leaf x { type string; } } }",
			"submodule s2 { yang-version 1.1; belongs-to m { prefix m; } typedef t { type uint8 { range '1..5'; } } augment /m:top { leaf y { type t; } } }"},
			[]string{`{"m:c":{"a":1,"k":5},"m:top":{"x":"x","y":2}}`}, []string{`{"m:c":{"a":6}}`, `{"m:top":{"y":0}}`}},
		{"augment of an augment", []string{mod11("a", "container c;"), mod11("b", "import a { prefix x; } import c { prefix y; } augment /x:c/y:d/y:e { leaf f { type int8; } }"),
			mod11("c", "import a { prefix a; } augment /a:c { container d { container e; } }")},
			[]string{`{"a:c":{"c:d":{"e":{"b:f":1}}}}`}, []string{`{"a:c":{"c:d":{"e":{"f":"x"}}}}`}},
		{"deviations", []string{mod11("m", "container c { leaf gone { type string; } leaf a { type string; default x; units s; } leaf-list l { type string; } leaf m { type string; mandatory true; } list u { key k; leaf k { type string; } leaf v { type string; } } }"),
			mod11("d", "import m { prefix m; } deviation /m:c/m:gone { deviate not-supported; } deviation /m:c/m:a { deviate delete { default x; units s; } deviate replace { type uint8; } }\n"+
				"deviation /m:c/m:l { deviate add { max-elements 1; min-elements 1; } } deviation /m:c/m:m { deviate replace { mandatory false; } } deviation /m:c/m:u { deviate add { unique v; must 'k != 9'; } }")},
			[]string{`{"m:c":{"a":5,"l":["x"]}}`}, []string{`{"m:c":{"l":["x"],"gone":"x"}}`, `{"m:c":{"a":"x","l":["x"]}}`, `{"m:c":{}}`, `{"m:c":{"l":["x","y"]}}`,
				`{"m:c":{"l":["x"],"u":[{"k":"1","v":"x"},{"k":"2","v":"x"}]}}`}},
		{"features", []string{mod11("m", "feature f; feature g { if-feature 'not f'; } leaf a { if-feature 'f and not (g or g)'; type string; } leaf b { if-feature 'g or not f'; type string; }\n"+
			"identity i; identity j { base i; if-feature g; } identity k { base i; } leaf r { type identityref { base i; } } leaf e { type enumeration { enum x; enum y { if-feature g; } } }")},
			[]string{`{"m:a":"x"}`, `{"m:r":"k"}`, `{"m:e":"x"}`}, []string{`{"m:b":"x"}`, `{"m:r":"j"}`, `{"m:e":"y"}`}},
		{"identity with several bases", []string{mod11("m", "identity a; identity b; identity both { base a; base b; } identity one { base a; } leaf l { type identityref { base a; base b; } } leaf x { type identityref { base a; } }")},
			[]string{`{"m:l":"both"}`, `{"m:l":"m:both","m:x":"m:one"}`}, []string{`{"m:l":"one"}`, `{"m:x":"a"}`}},
		{"types", []string{mod11("m", `typedef t { type string { length "1..5"; pattern "[a-z]*"; } default abc; } typedef u { type t { length "2..max"; pattern "x.*" { modifier invert-match; } } }
			leaf a { type u; } leaf b { type union { type uint8; type enumeration { enum auto; } type leafref { path "../a"; } type bits { bit z { position 3; } } } }
			leaf c { type int16 { range "-5..-1 | 1..5 | max"; } } typedef e { type enumeration { enum one { value 1; } enum two; enum three { value 9; } } } leaf d { type e { enum one; enum three; } }
			leaf f { type decimal64 { fraction-digits 2; range "0.05..9.99"; } } leaf h { type binary { length 3; } } leaf i { type empty; } leaf-list j { type empty; }
			leaf n { type string { pattern "a" + 'b'; } }`)},
			[]string{`{"m:a":"ab"}`, `{"m:b":"auto"}`, `{"m:b":"z"}`, `{"m:c":-3}`, `{"m:c":32767}`, `{"m:d":"three"}`, `{"m:f":"0.05"}`, `{"m:h":"AAAA"}`, `{"m:i":[null]}`, `{"m:n":"ab"}`},
			[]string{`{"m:a":"a"}`, `{"m:a":"xab"}`, `{"m:a":"abcdef"}`, `{"m:c":0}`, `{"m:d":"two"}`, `{"m:f":"0.04"}`, `{"m:f":"1.005"}`, `{"m:h":"AA=="}`, `{"m:n":"b"}`}},
		{"version 1", []string{"module m { namespace 'urn:m'; prefix m; leaf l { type string { pattern \"\\d+\"; } } anyxml x; }"}, []string{`{"m:l":"12"}`, `{"m:x":{"any":"thing"}}`}, []string{`{"m:l":"a"}`}},
		{"leafrefs", []string{mod11("m", "container c { list l { key k; leaf k { type string; } leaf v { type uint8; } } leaf r { type leafref { path '../l/k'; } } leaf w { type leafref { path \"/m:c/m:l[m:k = current()/../m:r]/m:v\"; } } leaf x { type leafref { path 'deref(../r)/../v'; } } }")},
			[]string{`{"m:c":{"w":5,"x":6}}`}, []string{`{"m:c":{"w":"a"}}`, `{"m:c":{"x":300}}`}},
		{"revisions", []string{"module t { yang-version 1.1; namespace 'urn:t'; prefix t; revision 2020-01-01; typedef x { type uint8; } }", "module t { yang-version 1.1; namespace 'urn:t'; prefix t; revision 2021-01-01; revision 2020-01-01; typedef x { type string; } }",
			mod11("m", "import t { prefix o; revision-date 2020-01-01; } leaf a { type o:x; }"), mod11("n", "import t { prefix o; } leaf a { type o:x; }")},
			[]string{`{"m:a":5}`, `{"n:a":"x"}`}, []string{`{"m:a":"x"}`}},
		{"augment of a choice", []string{mod11("m", "choice ch { leaf a { type string; } } augment /m:ch { leaf b { type string; } case c { leaf d { type string; } leaf e { type string; } } }")},
			[]string{`{"m:d":"x","m:e":"y"}`, `{"m:b":"x"}`}, []string{`{"m:a":"x","m:b":"y"}`, `{"m:b":"x","m:d":"y"}`}},
		{"nested scopes", []string{mod11("m", "container c { typedef t { type uint8; } grouping g { typedef u { type t; } leaf a { type u; } } uses g; } grouping g { leaf b { type string; } } uses g;")},
			[]string{`{"m:c":{"a":1},"m:b":"x"}`}, []string{`{"m:c":{"a":"x"}}`}},
	} {
		t.Run(c.what, func(t *testing.T) {
			set := loadAll(t, c.mods...)
			for _, x := range c.good {
				if _, err := set.Root.Decode([]byte(x), Options{}); err != nil {
					t.Errorf("%s: %v", x, err)
				}
			}
			for _, x := range c.bad {
				if _, err := set.Root.Decode([]byte(x), Options{}); err == nil {
					t.Errorf("%s is accepted", x)
				}
			}
		})
	}
}

func TestActionsAndNotificationsInNodes(t *testing.T) {
	set := loadAll(t, mod11("m", "grouping g { action reset { input { leaf at { type string; mandatory true; } } output { leaf done { type boolean; } } } notification over { leaf by { type leafref { path '../../k'; } } } }\n"+
		"list l { key k; leaf k { type string; } uses g; } augment /m:l/m:reset/m:input { leaf more { type int8; } } deviation /m:l/m:reset/m:output/m:done { deviate not-supported; }"))
	l := set.Data("m", "l")
	if len(l.Actions) != 1 || l.Actions[0].Input.Member("more") == nil || l.Actions[0].Output.Member("done") != nil || len(l.Notifications) != 1 {
		t.Fatalf("%+v %+v", l.Actions, l.Notifications)
	}
	if _, err := l.Actions[0].DecodeInput([]byte(`{"m:input":{"more":1}}`), Options{}); !strings.Contains(fmt.Sprint(err), "at: the member is required") {
		t.Error(err)
	}
}

// XPath 1.0 and the functions of RFC 7950 section 10.
func TestXPath(t *testing.T) {
	set := loadAll(t, mod11("m", `identity i; identity j { base i; } identity k { base j; }
		container c { leaf n { type int8; } leaf s { type string; } list l { key k; leaf k { type string; } leaf v { type uint8; } }
		leaf-list ll { type string; } leaf r { type leafref { path "../l/k"; } } leaf id { type identityref { base i; } } leaf e { type enumeration { enum a { value 4; } enum b; } }
		leaf b { type bits { bit x; bit y; } } leaf ii { type instance-identifier; } }`))
	root, err := set.Root.Decode([]byte(`{"m:c":{"n":-3,"s":"hello world","l":[{"k":"a","v":1},{"k":"b","v":2},{"k":"c","v":3}],"ll":["x","y"],"r":"b","id":"k","e":"b","b":"y","ii":"/m:c/l[k='c']/v"}}`), Options{})
	if err != nil {
		t.Fatal(err)
	}
	at := root.First()
	for text, want := range map[string]bool{
		"n = -3": true, "n < -2": true, "n + 4 = 1": true, "-n = 3": true, "--n = -3": true, "n * 2 = -6": true, "7 div 2 = 3.5": true, "-7 mod 2 = -1": true, "1 div 0 > 5": true,
		"s = 'hello world'": true, "contains(s, 'lo w')": true, "starts-with(s,\"hell\")": true, "substring(s, 7) = 'world'": true, "substring('12345', 1.5, 2.6) = '234'": true,
		"substring-before(s, ' ') = 'hello'": true, "substring-after(s, ' ') = 'world'": true, "string-length(s) = 11": true, "translate('bar','abc','AB') = 'BAr'": true,
		"concat(s, '!', 1) = 'hello world!1'": true, "normalize-space('  a   b ') = 'a b'": true, "count(l) = 3": true, "sum(l/v) = 6": true, "l[2]/k = 'b'": true, "l[last()]/v = 3": true,
		"l[position() < 3][k = 'b']": true, "l[k='a'][v=2]": false, "l/v = 2 and l/v = 3": true, "l/v != 2": true, "not(l/v > 3)": true, "ll = 'y'": true, "boolean(nothing)": false,
		"count(//v) = 3": true, "count(l | ll) = 5": true, "l[1]/following-sibling::l[1]/k = 'b'": true, "/c/n = -3": true, "/m:c/m:n = -3": true, "*[local-name() = 's']": true,
		"../c/n": true, "l/../n = -3": true, "ancestor::nothing": false, "self::node()/n": true, "descendant::k = 'c'": true, "name(l[1]) = 'm:l'": true, "number('x') = number('x')": false,
		"current()/n = -3": true, "l[k = current()/r]/v = 2": true, "deref(r)/../v = 2": true, "deref(ii) = 3": true, "derived-from(id, 'm:i')": true, "derived-from(id, 'm:k')": false,
		"derived-from-or-self(id, 'm:k')": true, "enum-value(e) = 5": true, "bit-is-set(b, 'y')": true, "bit-is-set(b, 'x')": false, "re-match(s, '[a-z ]+')": true, "re-match(s, 'hello')": false,
		"true() and not(false())": true, "round(2.5) = 3": true, "floor(-1.5) = -2": true, "ceiling(1.2) = 2": true, "(n)": true, "string(1 = 1) = 'true'": true, "div = 1 or 1": true, "n<0or n>0": true,
	} {
		x, err := CompileXPath(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got, err := x.Holds(at, root); got != want || err != nil {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, bad := range []string{"", "a b", "a[", "a]", "foo()", "'x", "count()", "count(1,2)", "a//", "$x", "1 +", "x::y", "a:", "not", "1.2.3", strings.Repeat("(", 5000), strings.Repeat("a/", 10_000) + "a"} {
		if x, err := CompileXPath(bad); err == nil && bad != "not" && bad != "a:" {
			t.Errorf("%q is read as %v", bad, x)
		}
	}
}

// An expression that looks at too much is given up in time.
func TestXPathIsBounded(t *testing.T) {
	set := loadAll(t, mod11("m", "list l { key k; leaf k { type string; } }"))
	var b strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&b, `,{"k":"%d"}`, i)
	}
	root, err := set.Root.Decode([]byte(`{"m:l":[`+b.String()[1:]+`]}`), Options{})
	if err != nil {
		t.Fatal(err)
	}
	x, err := CompileXPath("//*[//*[//*[. = //k]]]")
	if err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	if _, err := x.Holds(root, root); err == nil {
		t.Error("no end")
	}
	if d := time.Since(begun); d > time.Minute {
		t.Error(d)
	}
}

func FuzzXPath(f *testing.F) {
	set, err := Load(Source{Name: "p", Files: map[string][]byte{"m.yang": []byte(mod11("m", "container c { leaf a { type string; } list l { key k; leaf k { type string; } } }"))}})
	if err != nil {
		f.Fatal(err)
	}
	for _, s := range []string{"a = 'x'", "../c/l[k='1']/k", "count(//k) > 1 or not(a)", "-1 div 0", "deref(a)/..", "a[1][last()]|l", "following::*", "substring(a,0 div 0,1)"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		x, err := CompileXPath(text)
		if err != nil {
			return
		}
		root, err := set.Root.Decode([]byte(`{"m:c":{"a":"x","l":[{"k":"1"},{"k":"2"}]}}`), Options{})
		if err != nil {
			t.Fatal(err)
		}
		_, _ = x.Holds(root.First(), root)
	})
}

func FuzzModule(f *testing.F) {
	f.Add(mod11("m", "grouping g { leaf a { type uint8; } } container c { uses g { refine a { default 1; } } must 'a'; }"))
	f.Add(mod11("m", "leaf l { type leafref { path 'deref(../x)/../y'; } } leaf x { type string; }"))
	f.Fuzz(func(t *testing.T, text string) {
		set, err := Load(Source{Name: "p", Files: map[string][]byte{"m.yang": []byte(text)}})
		if (set == nil) == (err == nil) {
			t.Fatal(set, err)
		}
		for _, one := range fault.All(err) {
			if one.Kind == fault.Internal {
				t.Fatal(one)
			}
		}
	})
}
