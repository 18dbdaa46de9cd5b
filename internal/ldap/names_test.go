package ldap

import (
	"strings"
	"testing"

	goldap "github.com/go-ldap/ldap/v3"
	"github.com/google/go-cmp/cmp"
)

func TestANameCannotLeaveItsPlaceInADN(t *testing.T) {
	const template = "uid={0},ou=People,dc=example,dc=org"
	for _, name := range []string{"alice", "a,ou=Admins", "a+cn=b", `a\`, `"a"`, " a ", "#a", "a=b", "a;b", "<a>", "ä(*)", "{0}"} {
		dn, err := goldap.ParseDN(NewTemplate(template).Name(name))
		if err != nil {
			t.Errorf("%q: %v", name, err)
			continue
		}
		if len(dn.RDNs) != 4 || len(dn.RDNs[0].Attributes) != 1 || dn.RDNs[0].Attributes[0].Value != name {
			t.Errorf("%q became %s", name, NewTemplate(template).Name(name))
		}
	}
	if got := NewTemplate("{0}@example.org").Name("a,b"); got != "a,b@example.org" {
		t.Errorf("a template that is no DN: %s", got)
	}
}

func TestNamesThatNoDirectoryHolds(t *testing.T) {
	for _, name := range []string{"", "a\x00b", strings.Repeat("x", 257), "a\xff"} {
		if _, ok := Name(name, ""); ok {
			t.Errorf("%q was taken", name)
		}
	}
	for domain, want := range map[string]string{"": "a", "sdn": "a", "example.org": "a@example.org"} {
		if got, _ := Name("a", domain); got != want {
			t.Errorf("domain %q: %s", domain, got)
		}
	}
}

func TestWithin(t *testing.T) {
	for _, c := range []struct {
		template, base string
		want           bool
	}{
		{"uid={0},ou=People,dc=x", "dc=x", true}, {"uid={0},ou=People,dc=x", "OU=people, DC=x", true},
		{"uid={0},ou=People,dc=x", "ou=Groups,dc=x", false}, {"uid={0},ou=People,dc=x", "no dn", false}, {"{0}@x", "dc=x", false},
	} {
		if got := NewTemplate(c.template).Within(c.base); got != c.want {
			t.Errorf("%s within %s: %v", c.template, c.base, got)
		}
	}
}

func TestNaming(t *testing.T) {
	for template, want := range map[string][2]string{
		"uid={0},ou=People,dc=example,dc=org": {"uid", "ou=People,dc=example,dc=org"},
		"cn={0}, dc=x":                        {"cn", "dc=x"},
		"cn=user {0},dc=x":                    {"", "dc=x"},
		"cn={0},ou={0},dc=x":                  {"", ""},
		"{0}@example.org":                     {"", ""},
	} {
		attribute, suffix := Naming(template)
		if diff := cmp.Diff(want, [2]string{attribute, suffix}); diff != "" {
			t.Errorf("%s: %s", template, diff)
		}
	}
}

func FuzzAValueCannotLeaveAFilter(f *testing.F) {
	f.Add("*)(uid=*")
	f.Add("a\x00(")
	f.Add("{1}")
	f.Fuzz(func(t *testing.T, value string) {
		p, err := goldap.CompileFilter(Filter("(&(uid={0})(cn={1}))", value, value))
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range p.Children {
			if c.Tag != goldap.FilterEqualityMatch || c.Children[1].Data.String() != value {
				t.Fatalf("%q changed the filter: %s", value, Filter("(&(uid={0})(cn={1}))", value, value))
			}
		}
	})
}

func TestRoles(t *testing.T) {
	r := NewRoles(map[string]string{"person": "user", "CN=Lab Admins,DC=x": "admin, user", "A": "a"})
	for name, c := range map[string]struct{ values, want []string }{
		"exact":            {[]string{"person"}, []string{"user"}},
		"case":             {[]string{"PERSON", "a"}, []string{"a", "user"}},
		"DN, spelt freely": {[]string{"cn=lab admins, dc=X"}, []string{"admin", "user"}},
		"outside the map":  {[]string{"top"}, nil},
		"each once":        {[]string{"person", "CN=Lab Admins,DC=x"}, []string{"admin", "user"}},
	} {
		if diff := cmp.Diff(c.want, r.Of(c.values)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if diff := cmp.Diff([]string{"x", "y"}, NewRoles(nil).Of([]string{"y", "x", "y"})); diff != "" {
		t.Errorf("without a map: %s", diff)
	}
	if got := CommonName("CN=Lab Admins,DC=x"); got != "Lab Admins" {
		t.Error(got)
	}
}
