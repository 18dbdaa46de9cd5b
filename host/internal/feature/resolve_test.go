package feature

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	ctl "ctl.internal"
	"ctl.internal/sdk/fault"
)

// repoOf makes a catalogue from lines such as "a/1.0 b[1,2) c !d ~until".
// A name is a dependency, !name a conflict, ~word makes it not available.
func repoOf(t *testing.T, lines ...string) Repo {
	t.Helper()
	r := &Repository{Name: "test"}
	for _, l := range lines {
		words := strings.Fields(l)
		name, version, _ := strings.Cut(words[0], "/")
		f := &Feature{Name: name, VersionText: version, Repository: "test"}
		if version == "" {
			f.VersionText = "1"
		}
		for _, w := range words[1:] {
			switch {
			case w[0] == '~':
				f.Available, f.Until = new(bool), w[1:]
			case w[0] == '!':
				f.Conflicts = append(f.Conflicts, dependency(t, w[1:]))
			default:
				f.Depends = append(f.Depends, dependency(t, w))
			}
		}
		f.checkFeature(func(member, format string, args ...any) { t.Fatalf(member+": "+format, args...) })
		r.Features = append(r.Features, f)
	}
	return NewRepo(r)
}

func dependency(t *testing.T, s string) Dependency {
	t.Helper()
	i := strings.IndexAny(s, "[(@")
	if i < 0 {
		return Dependency{Name: s}
	}
	r, err := ParseRange(strings.TrimPrefix(s[i:], "@"))
	if err != nil {
		t.Fatal(err)
	}
	return Dependency{Name: s[:i], Version: r}
}

func require(t *testing.T, names ...string) (out []Requirement) {
	t.Helper()
	for _, n := range names {
		q, err := ParseRequirement(n)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, q)
	}
	return out
}

func TestClosure(t *testing.T) {
	cases := map[string]struct {
		repo     []string
		required []string
		want     string // the plan, or the error
		kind     fault.Kind
	}{
		"a dependency comes first":            {[]string{"a b", "b c", "c"}, []string{"a"}, "c/1.0.0 b/1.0.0 a/1.0.0", 0},
		"shared ones come once":               {[]string{"a c", "b c", "c"}, []string{"a", "b"}, "c/1.0.0 a/1.0.0 b/1.0.0", 0},
		"nothing":                             {[]string{"a"}, nil, "", 0},
		"the highest version wins":            {[]string{"a/1.9", "a/1.10", "a/1.2"}, []string{"a"}, "a/1.10.0", 0},
		"unless another is asked for":         {[]string{"a/1", "a/2"}, []string{"a/1"}, "a/1.0.0", 0},
		"a range of a dependency":             {[]string{"a b[1,2)", "b/1.5", "b/2"}, []string{"a"}, "b/1.5.0 a/1.0.0", 0},
		"a minimum of a dependency":           {[]string{"a b@1.2", "b/1", "b/3"}, []string{"a"}, "b/3.0.0 a/1.0.0", 0},
		"all who name it must accept it":      {[]string{"a x", "b x[1,2)", "x/1", "x/2"}, []string{"a", "b"}, "x/1.0.0 a/1.0.0 b/1.0.0", 0},
		"a lower version that is asked for":   {[]string{"a/2 x[2,3)", "a/1 x[1,2)", "b x[1,2)", "x/1", "x/2"}, []string{"a/1", "b"}, "x/1.0.0 a/1.0.0 b/1.0.0", 0},
		"a version not ready is stepped over": {[]string{"a/1", "a/2 ~soon"}, []string{"a"}, "a/1.0.0", 0},
		"a qualifier is higher than none":     {[]string{"a/1.0.0", "a/1.0.0.b", "a/1.0.0.a"}, []string{"a"}, "a/1.0.0.b", 0},
		"missing": {[]string{"ctl-aaa-sec"}, []string{"ctl-aaa-sce"},
			`there is no feature "ctl-aaa-sce" (did you mean "ctl-aaa-sec"?)`, fault.NotFound},
		"missing dependency": {[]string{"a bb", "bbb"}, []string{"a"},
			`there is no feature "bb" (did you mean "bbb"?), on which a depends`, fault.NotFound},
		"no such version": {[]string{"a b[3,4)", "b/1", "b/2"}, []string{"a"},
			"feature b: no version in [3,4), which a asks for; there is 2.0.0, 1.0.0", fault.NotFound},
		"no such version for you": {[]string{"a/1"}, []string{"a/2"},
			"feature a: no version in [2.0.0,2.0.0], which you ask for; there is 1.0.0", fault.NotFound},
		"ranges that exclude each other": {[]string{"a x[2,3)", "b x[1,2)", "x/1", "x/2"}, []string{"a", "b"},
			"feature x: a ([2,3)) and b ([1,2)) cannot have the same version; there is 2.0.0, 1.0.0", fault.InUse},
		"no lower version is tried": {[]string{"a/2 x[2,3)", "a/1 x[1,2)", "b x[1,2)", "x/1", "x/2"}, []string{"a", "b"},
			"feature x: a ([2,3)) and b ([1,2)) cannot have the same version; there is 2.0.0, 1.0.0", fault.InUse},
		"conflict":                   {[]string{"a !b", "b"}, []string{"b", "a"}, "features a and b exclude each other; uninstall one of them first", fault.InUse},
		"conflict of a version only": {[]string{"a !b[2,3)", "b/1", "b/2"}, []string{"a", "b"}, "a/1.0.0 b/1.0.0", 0},
		"circle":                     {[]string{"a b", "b c", "c b"}, []string{"a"}, "the features depend on each other in a loop: b → c → b", fault.Invalid},
		"itself":                     {[]string{"a a"}, []string{"a"}, "the features depend on each other in a loop: a → a", fault.Invalid},
		"not available":              {[]string{"a b", "b ~version-2"}, []string{"a"}, "feature b is not yet available: version-2", fault.Unsupported},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			plan, err := Closure(require(t, c.required...), repoOf(t, c.repo...))
			var ids []string
			for _, f := range plan.Features {
				ids = append(ids, f.ID())
			}
			got := strings.Join(ids, " ")
			if err != nil {
				got = err.Error()
				if fault.KindOf(err) != c.kind {
					t.Errorf("kind %v, want %v", fault.KindOf(err), c.kind)
				}
			}
			if got != c.want {
				t.Fatalf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestRange(t *testing.T) {
	for _, c := range []struct {
		text, in, out string
	}{
		{"", "0 1 99.9.9.z", ""},
		{"1.2", "1.2 1.2.0 1.10 7", "1.1.9 0"},
		{"[1,2)", "1 1.9.9 1.9.9.zzz", "0.9 2 2.0.0.a"},
		{"(1,2]", "1.0.1 2", "1 2.0.1"},
		{"[1.5,1.5]", "1.5 1.5.0", "1.5.1 1.4 1.5.0.a"},
	} {
		r, err := ParseRange(c.text)
		if err != nil {
			t.Fatal(err)
		}
		for want, versions := range map[bool]string{true: c.in, false: c.out} {
			for _, s := range strings.Fields(versions) {
				v, err := ParseVersion(s)
				if err != nil || r.Contains(v) != want {
					t.Errorf("%s in %q: %v, %v", s, c.text, !want, err)
				}
			}
		}
	}
	for _, bad := range []string{"[", "[]", "[1,2", "[1;2]", "[2,1]", "(1,1]", "x", "[,]", "1.2.3.", "1..2", "-1", "99999999999"} {
		if r, err := ParseRange(bad); err == nil {
			t.Errorf("%q read as %v", bad, r)
		}
	}
}

func TestParseRequirement(t *testing.T) {
	for text, want := range map[string]string{"a": "a", "a/1.2": "a/[1.2.0,1.2.0]", "a/[1,2)": "a/[1,2)", "feature:a": "a"} {
		if q, err := ParseRequirement(text); err != nil || q.String() != want {
			t.Errorf("%s: %s, %v", text, q, err)
		}
	}
	for _, bad := range []string{"", "a b", "a/", "/1", "a/x", "../a", "-a", "a\x1b"} {
		if q, err := ParseRequirement(bad); err == nil {
			t.Errorf("%q read as %s", bad, q)
		}
	}
}

func FuzzParseRequirement(f *testing.F) {
	f.Add("a/[1,2)")
	f.Add("a/[")
	f.Fuzz(func(t *testing.T, s string) {
		q, err := ParseRequirement(s)
		if err != nil {
			return
		}
		if again, err := ParseRequirement(q.String()); err != nil || again.String() != q.String() {
			t.Fatalf("%q → %s → %s, %v", s, q, again, err)
		}
	})
}

func FuzzParseRepository(f *testing.F) {
	b, _ := ctl.Templates.ReadFile("features.yaml")
	f.Add(b)
	f.Add([]byte("name: x\nfeatures: [{name: a, version: 1, depends: [{name: b, version: '['}]}]"))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, ps := ParseRepository("f.yaml", b)
		if (r == nil) == (len(ps) == 0) {
			t.Fatalf("%v and %v", r, ps)
		}
	})
}

// TestShippedCatalogue holds features.yaml to the specification's names.
func TestShippedCatalogue(t *testing.T) {
	b, err := ctl.Templates.ReadFile("features.yaml")
	if err != nil {
		t.Fatal(err)
	}
	r, ps := ParseRepository("features.yaml", b)
	if len(ps) > 0 {
		t.Fatal(ps)
	}
	repo := NewRepo(r)
	want := strings.Fields(`ctl-aaa-authz ctl-aaa-cert ctl-aaa-cli ctl-aaa-encryption-service ctl-aaa-sec
		ctl-bier-adapter ctl-bier-all ctl-bier-channel ctl-bier-channel-api ctl-bier-channel-cli ctl-bier-channel-rest
		ctl-bier-channel-ui ctl-bier-driver ctl-bier-driver-cli ctl-bier-models ctl-bier-service ctl-bier-service-cli ctl-bier-topomanager
		ctl-bier-topomanager-api ctl-bier-topomanager-cli ctl-bier-topomanager-rest ctl-bier-topomanager-ui ctl-labs ctl-openflow
		ctl-realm-directory ctl-realm-idsvc ctl-realm-jwt ctl-realm-ldap ctl-repoinfo ctl-restconf ctl-switch-all
		switch-driver-dlink switch-driver-ovs`)
	if diff := cmp.Diff(want, repo.Names()); diff != "" {
		t.Fatal(diff)
	}
	for _, f := range repo.All() {
		if f.Description == "" {
			t.Errorf("%s has no description", f.Name)
		}
		for _, p := range f.Plugins {
			// What is said to be available must be buildable, and what is buildable available.
			_, err := os.Stat(filepath.Join("../../../plugins", p.Name))
			if (err == nil) != f.Ready() {
				t.Errorf("%s: available is %v, but plugins/%s: %v; correct features.yaml", f.Name, f.Ready(), p.Name, err)
			}
		}
		if _, err := Closure([]Requirement{{Name: f.Name}}, repo); err != nil && fault.KindOf(err) != fault.Unsupported {
			t.Errorf("%s: %v", f.Name, err)
		}
	}
	plan, err := Closure([]Requirement{{Name: "ctl-restconf"}}, repo)
	if err != nil || plan.Get("ctl-aaa-sec") == nil {
		t.Errorf("ctl-restconf does not bring ctl-aaa-sec: %v", err)
	}
}

func TestRepositoryFaultsHaveALine(t *testing.T) {
	for name, c := range map[string]struct{ yaml, want string }{
		"unknown member":  {"name: x\nfeatures:\n- name: a\n  version: 1\n  dependz: [b]\n", `r.yaml:5: features.0.dependz: no such setting (did you mean "depends"?)`},
		"no name":         {"features: []\n", `r.yaml:1: name is missing`},
		"bad version":     {"name: x\nfeatures:\n- name: a\n  version: one\n", `r.yaml:4: features.0.version: "one" is not a version such as 1.2.0`},
		"bad range":       {"name: x\nfeatures:\n- name: a\n  version: 1\n  depends:\n  - {name: b, version: \"[2,1]\"}\n", `r.yaml:6: features.0.depends.0.version: no version is in the range [2,1]`},
		"twice":           {"name: x\nfeatures:\n- {name: a, version: 1}\n- {name: a, version: 1.0}\n", `r.yaml:4: features.1: a/1.0.0 occurs twice`},
		"facet":           {"name: x\nfeatures:\n- name: a\n  version: 1\n  facets: [{facet: web, plugin: p}]\n", `r.yaml:5: features.0.facets.0.facet: "web" is not one of rest, cli, ui`},
		"until":           {"name: x\nfeatures:\n- name: a\n  version: 1\n  available: false\n", "r.yaml:5: features.0.available: false needs `until`, what it waits for"},
		"escaping config": {"name: x\nfeatures:\n- name: a\n  version: 1\n  config: [etc/../data/seal.key]\n", `r.yaml:5: features.0.config.0: "etc/../data/seal.key" is not a file under etc/`},
		"unknown in a dependency": {"name: x\nfeatures:\n- name: a\n  version: 1\n  depends:\n  - {name: b, verison: 1}\n",
			`r.yaml:6: features.0.depends.0.verison: no such setting (did you mean "version"?)`},
		"shape":           {"name: x\nfeatures:\n- name: a\n  version: 1\n  depends: b\n", "r.yaml:5: features.0.depends: must be a list, such as [a, b]"},
		"escaping plugin": {"name: x\nfeatures:\n- name: a\n  version: 1\n  plugins: [{name: ../sh}]\n", `r.yaml:5: features.0.plugins.0.name: "../sh" is not a plugin's name`},
	} {
		t.Run(name, func(t *testing.T) {
			_, ps := ParseRepository("r.yaml", []byte(c.yaml))
			if len(ps) != 1 || ps[0].String() != c.want {
				t.Fatalf("got  %v\nwant %s", ps, c.want)
			}
		})
	}
}
