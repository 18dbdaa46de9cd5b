package yang

import (
	"slices"
	"strings"
	"testing"
	"time"

	"ctl.internal/sdk/fault"
)

const useSchema = "yang-version 1.1; import ctl-schema { prefix ctl; }\n"

func TestAnnotationsAreCompiled(t *testing.T) {
	files := mod("m", useSchema+`
		import ietf-netconf-acm { prefix nacm; }
		rpc restart {
			ctl:read-only; ctl:repeatable; ctl:timeout 2m30s; ctl:confirm "Restart it?"; ctl:command restart; ctl:title "Restart";
			nacm:default-deny-all;
			input { leaf node { ctl:resource switch; ctl:argument 1; type string; } }
		}
		list port {
			key name;
			leaf name { type string; ctl:column "1 12"; ctl:title Port; }
			leaf rate { type uint64; ctl:column 2; ctl:unit bit/s; ctl:format rate; }
			leaf admin { type boolean; nacm:default-deny-write; }
		}`)
	set, err := Load(Source{Name: "p", Files: files})
	if err != nil {
		t.Fatal(err)
	}
	r := set.RPC("m", "restart")
	want := Annotations{ReadOnly: true, Repeatable: true, Timeout: 150 * time.Second, Confirm: "Restart it?",
		Command: "restart", Title: "Restart", DenyAll: true}
	if r.Annotations != want {
		t.Errorf("rpc: %+v", r.Annotations)
	}
	port := set.Data("m", "port")
	for _, c := range []struct {
		node *Node
		want Annotations
	}{
		{r.Input.Member("node"), Annotations{Resource: "switch", Argument: 1}},
		{port.Member("name"), Annotations{Column: 1, Width: 12, Title: "Port"}},
		{port.Member("rate"), Annotations{Column: 2, Unit: "bit/s", Format: "rate"}},
		{port.Member("admin"), Annotations{DenyWrite: true}},
	} {
		if a := c.node.Annotations; a == nil || *a != c.want {
			t.Errorf("%s: %+v", c.node.Name, a)
		}
	}
	if port.Annotations != nil {
		t.Errorf("the list has none, not %+v", port.Annotations)
	}
}

// What a choice, a case, a uses or an augment denies by default, the nodes that come of it deny.
func TestDenialsOfStatementsThatAreNotInData(t *testing.T) {
	files := mod("m", useSchema+`
		import ietf-netconf-acm { prefix nacm; }
		grouping g { leaf used { type string; } container both { leaf inner { type string; } } }
		container c {
			choice ch { nacm:default-deny-write; leaf short { type string; } case k { leaf long { type string; } } }
			choice two { case shut { nacm:default-deny-all; leaf a { type string; } } case open { leaf b { type string; } } }
			uses g { nacm:default-deny-all; }
		}
		augment /m:c { nacm:default-deny-write; leaf added { type string; nacm:default-deny-all; } leaf more { type string; } }`)
	set, err := Load(Source{Name: "p", Files: files})
	if err != nil {
		t.Fatal(err)
	}
	c := set.Data("m", "c")
	if !c.Denies() {
		t.Error("nothing is denied below c")
	}
	for name, want := range map[string]Annotations{
		"short": {DenyWrite: true},
		"long":  {DenyWrite: true},
		"a":     {DenyAll: true},
		"b":     {},
		"used":  {DenyAll: true},
		"both":  {DenyAll: true},
		"added": {DenyAll: true, DenyWrite: true},
		"more":  {DenyWrite: true},
	} {
		got := Annotations{}
		if a := c.Member(name).Annotations; a != nil {
			got = *a
		}
		if got != want {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestWrongAnnotationsAreRefused(t *testing.T) {
	for _, c := range []struct{ body, text string }{
		{"leaf l { ctl:secrets; type string; }", `no extension "secrets"`},
		{"leaf l { ctl:secret; ctl:secret; type string; }", "there already"},
		{"leaf l { ctl:secret yes; type string; }", "has no argument"},
		{"leaf l { ctl:title; type string; }", "needs an argument"},
		{"leaf l { ctl:title ''; type string; }", "needs a text"},
		{"leaf l { ctl:format ratio; type string; }", "rate"},
		{"leaf l { ctl:column 0; type string; }", "from 1 on"},
		{"leaf l { ctl:column '1 wide'; type string; }", "width"},
		{"leaf l { ctl:argument first; type string; }", "position"},
		{"leaf l { ctl:resource 'a b'; type string; }", "kind"},
		{"rpc r { ctl:timeout soon; }", "90s"},
		{"rpc r { ctl:timeout -1s; }", "90s"},
		{"rpc r { ctl:secret; }", `not in "rpc"`},
		{"rpc r { ctl:command 'two words'; }", "without blanks"},
		{"container c { ctl:read-only; }", `not in "container"`},
		{"list l { key k; leaf k { ctl:secret; type string; } }", "a key cannot be secret"},
		{"container c { ctl:annotate /m:c { ctl:title t; } }", "top of a module"},
		{"container c; ctl:annotate /m:c;", "no annotation in it"},
		{"container c; ctl:annotate /m:d { ctl:title t; }", `"m:d" is not there`},
		{"container racks; ctl:annotate /m:rack { ctl:title t; }", `did you mean "racks"`},
		{"container c { leaf password { type string; } } ctl:annotate /m:c/m:pasword { ctl:secret; }", `did you mean "password"`},
		{"container c; ctl:annotate m:c { ctl:title t; }", "begins with a slash"},
		{"container c; ctl:annotate /x:c { ctl:title t; }", `no import has the prefix "x"`},
		{"container c; ctl:annotate /m:c { ctl:read-only; }", `is a container`},
		{"list l { key k; leaf k { type string; } } ctl:annotate /m:l/m:k { ctl:secret; }", "a key cannot be secret"},
		{"rpc reload; ctl:annotate /m:relaod { ctl:read-only; }", `did you mean "reload"`},
	} {
		_, err := Load(Source{Name: "p", Files: mod("m", useSchema+c.body)})
		if err == nil {
			t.Errorf("%s: it was taken", c.body)
			continue
		}
		if f := fault.All(err)[0]; !strings.Contains(f.Text, c.text) || !strings.HasPrefix(f.Path, "m.yang:") {
			t.Errorf("%s: %s: %s", c.body, f.Path, f.Text)
		}
	}
}

func TestOtherModulesAreAnnotated(t *testing.T) {
	other := mod("o", `container c { list l { key k; leaf k { type string; } leaf pin { type string; } } } rpc r { input { leaf who { type string; } } }`)
	mine := mod("m", useSchema+`import o { prefix x; }
		ctl:annotate /x:c/x:l/x:pin { ctl:secret; }
		ctl:annotate /x:r { ctl:read-only; }
		ctl:annotate /x:r/x:input/x:who { ctl:resource switch; }`)
	set, err := Load(Source{Name: "p", Files: mine}, Source{Name: "q", Files: other})
	if err != nil {
		t.Fatal(err)
	}
	if pin := set.Data("o", "c").Member("l").Member("pin"); !pin.Secret() || !set.Root.HasSecrets() {
		t.Error("the leaf of the other module is no secret")
	}
	r := set.RPC("o", "r")
	if !r.Annotations.ReadOnly || r.Input.Member("who").Annotations.Resource != "switch" {
		t.Errorf("%+v %+v", r.Annotations, r.Input.Member("who").Annotations)
	}
}

func TestRefineAnnotates(t *testing.T) {
	set, err := Load(Source{Name: "p", Files: mod("m", useSchema+`grouping g { leaf pin { type string; } }
		container a { uses g { refine pin { ctl:secret; } } } container b { uses g; }`)})
	if err != nil {
		t.Fatal(err)
	}
	if !set.Data("m", "a").Member("pin").Secret() || set.Data("m", "b").Member("pin").Secret() {
		t.Error("a refine marks that use of the grouping, and no other")
	}
}

func TestOperationsAreReadFromTheText(t *testing.T) {
	texts := map[string][]byte{}
	for name, text := range mod("m", useSchema+"rpc a { ctl:repeatable; } rpc b; rpc c { ctl:timeout 1m; }") {
		texts[name] = text
	}
	for name, text := range mod("n", useSchema+"import m { prefix x; } ctl:annotate /x:b { ctl:read-only; } ctl:annotate /x:c/x:input { ctl:title t; }") {
		texts[name] = text
	}
	got, err := Operations(texts)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 3 || !got["m:a"].Repeatable || got["m:a"].ReadOnly || !got["m:b"].ReadOnly || got["m:c"].Timeout != time.Minute {
		t.Errorf("%+v", got)
	}
}

// Every annotation that modules can have is in the text of ctl-schema, and the other way round.
func TestTheModuleDeclaresItsAnnotations(t *testing.T) {
	text, err := embedded.ReadFile("modules/ctl-schema.yang")
	if err != nil {
		t.Fatal(err)
	}
	f, err := scanFile("", "ctl-schema.yang", text)
	if err != nil {
		t.Fatal(err)
	}
	declared := []string{}
	for _, s := range f.stmt.subsWithKeyword("extension") {
		declared = append(declared, s.arg)
		if e, ok := extensions[s.arg]; ok && e.argument != (s.firstSub("argument") != nil) {
			t.Errorf("%s: module and compiler disagree whether it has an argument", s.arg)
		}
	}
	want := []string{"annotate"}
	for name := range extensions {
		want = append(want, name)
	}
	slices.Sort(declared)
	slices.Sort(want)
	if !slices.Equal(declared, want) {
		t.Errorf("the module has %q, the compiler %q", declared, want)
	}
}
