package secini_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ctl.internal/host/internal/aaa/secini"
)

const sample = `# the controller's security configuration
[main]
tokenAuthRealm = org.ctl.aaa.sec.realm.TokenAuthRealm
ldapRealm = org.ctl.aaa.sec.realm.CtlJndiLdapRealm
ldapRealm.userDnTemplate = uid={0},ou=People,dc=lab,dc=test
ldapRealm.contextFactory.url = ldap://127.0.0.1:3389
ldapRealm.groupRolesMap = "cn=ops,dc=lab":"admin,user", \
    "Person":"admin"
; another comment
securityManager.realms = $tokenAuthRealm, $ldapRealm

[users]
op = secret, admin
[roles]
admin = *
[urls]
/auth/v1/** = authcBasic, roles[admin]
/rests/data/x:l=key/** = authcBasic, roles["a,b", c]
/** = authcBasic
`

func parse(t *testing.T, text string) *secini.File {
	t.Helper()
	f, err := secini.Parse("etc/sec.ini", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestSample(t *testing.T) {
	f := parse(t, sample)
	realms, _ := f.Object("securityManager").Prop("realms")
	refs, err := f.Refs(realms)
	if d := cmp.Diff([]string{"tokenAuthRealm", "ldapRealm"}, refs); d != "" || err != nil {
		t.Error(d, err)
	}
	l := f.Object("ldapRealm")
	if l.Class != "org.ctl.aaa.sec.realm.CtlJndiLdapRealm" || l.Line != 4 {
		t.Errorf("ldapRealm is %+v", l)
	}
	dn, _ := l.Prop("userDnTemplate")
	if text := dn.Text(); text != "uid={0},ou=People,dc=lab,dc=test" {
		t.Errorf("template %q", text)
	}
	m, _ := l.Prop("groupRolesMap")
	pairs, err := f.Map(m)
	if d := cmp.Diff([]secini.Pair{{"cn=ops,dc=lab", "admin,user"}, {"Person", "admin"}}, pairs); d != "" || err != nil {
		t.Error(d, err)
	}
	want := []secini.URL{
		{"/auth/v1/**", []secini.Filter{{Name: "authcBasic"}, {"roles", []string{"admin"}}}, 17},
		{"/rests/data/x:l=key/**", []secini.Filter{{Name: "authcBasic"}, {"roles", []string{"a,b", "c"}}}, 18},
		{"/**", []secini.Filter{{Name: "authcBasic"}}, 19},
	}
	if d := cmp.Diff(want, f.URLs); d != "" {
		t.Error(d)
	}
	if len(f.Users) != 1 || f.Users[0].Key != "op" || len(f.Roles) != 1 {
		t.Errorf("users %v, roles %v", f.Users, f.Roles)
	}
}

func TestFaultsNamePlaceAndRemedy(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"section", "[mian]\n", `x.ini:1: unknown section "mian"; did you mean "main"?`},
		{"no section", "a = b\n", "x.ini:1: a line before the first section"},
		{"no equals", "[main]\nfoo\n", "x.ini:2: no equals sign"},
		{"no name", "[main]\n= x\n", "x.ini:2: no name"},
		{"no class", "[main]\nr =\n", `x.ini:2: "r" has no class`},
		{"twice", "[urls]\n/** = anon\n/** = authcBasic\n", `x.ini:3: "/**" is already set at line 2`},
		{"reference", "[main]\nldapRealm = X\nsecurityManager.realms = $ldapRelm\n", `x.ini:3: unknown object "ldapRelm"; did you mean "ldapRealm"?`},
		{"quote", "[main]\na = X\na.b = \"x\n", "x.ini:3: a quote is not closed"},
		{"bracket", "[urls]\n/a = roles[admin\n", "x.ini:2: a bracket is not closed"},
		{"empty filter", "[urls]\n/a = anon,\n", "x.ini:2: a filter name is missing"},
		{"comma", "[urls]\n/a = roles[a] anon\n", "x.ini:2: a comma is missing"},
		{"line after continuation", "[urls]\n/a = \\\n anon\nfoo\n", "x.ini:4: no equals sign"},
		{"dot", "[main]\n.x = y\n", "x.ini:2: \".x\" is not a name"},
		{"not text", "\xff", "x.ini:1: the file is not UTF-8"},
	} {
		_, err := secini.Parse("x.ini", []byte(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", c.name, err, c.want)
		}
	}
	_, err := secini.Parse("x.ini", []byte("[urls]\nfoo\nbar\n"))
	if n := strings.Count(err.Error(), "x.ini:"); n != 2 {
		t.Errorf("%d faults are reported, want both: %v", n, err)
	}
}

func TestValues(t *testing.T) {
	f := parse(t, "[main]\na = X\na.list = \"x, y\", z, \\$a\na.bad = k:v:w\na.text = \"quoted, text\"\na.empty =\n")
	prop := func(n string) secini.Value { v, _ := f.Object("a").Prop(n); return v }
	if got, _ := f.List(prop("list")); cmp.Diff([]string{"x, y", "z", "$a"}, got) != "" {
		t.Errorf("list %q", got)
	}
	if _, err := f.Map(prop("bad")); err == nil {
		t.Error("k:v:w was taken for a pair")
	}
	if got := prop("text").Text(); got != "quoted, text" {
		t.Errorf("text %q", got)
	}
	if got, err := f.List(prop("empty")); len(got) != 0 || err != nil {
		t.Errorf("empty list %q, %v", got, err)
	}
	if _, err := f.Refs(prop("text")); err == nil {
		t.Error("a text was taken for a reference")
	}
}

// Values are read as Shiro 1.6 and later read them: a backslash is a character, but before a dollar at the beginning.
func TestValuesAsShiroReadsThem(t *testing.T) {
	for line, want := range map[string]string{
		`a.b = adm\in\\pw`:                `adm\in\\pw`,
		`a.b = cn=x\,y,dc=z`:              `cn=x\,y,dc=z`,
		`a.b = \$dollar`:                  `$dollar`,
		`a.b = x\$y\:z\"w`:                `x\$y\:z\"w`,
		`a.b = one"quote`:                 `one"quote`,
		`a.b = "in quotes"`:               `in quotes`,
		`a.b = "a ""word"" in quotes"`:    `a "word" in quotes`,
		`a.b: colon`:                      `colon`,
		`a.b : colon`:                     `colon`,
		`a.b:colon`:                       `colon`,
		`a.b blank`:                       `blank`,
		"a.b\ttab":                        `tab`,
		`a.b equals = inside`:             `equals = inside`,
		`a.b = ldap://h:389`:              `ldap://h:389`,
		`a.b ldap://h:389`:                `ldap://h:389`,
		`a.b == : x`:                      `x`,
		"a.b = one \\\n# comment\n\n two": `one two`,
		`a.b = ends in two\\`:             `ends in two\\`,
	} {
		v, ok := parse(t, "[main]\na = X\n"+line+"\n").Object("a").Prop("b")
		if !ok || v.Text() != want {
			t.Errorf("%s: %q, want %q", line, v.Text(), want)
		}
	}
	f := parse(t, "[main]\na = X\na.list = \\$a, x\\y, p\"q, \"r, s\"\n[users]\nu: \\$p\\w, r\n")
	v, _ := f.Object("a").Prop("list")
	if got, err := f.List(v); err != nil || cmp.Diff([]string{"$a", `x\y`, "pq, r", `s"`}, got) != "" {
		t.Errorf("list %q, %v", got, err)
	}
	if got, err := f.Words(f.Users[0].Value); err != nil || cmp.Diff([]string{`\$p\w`, "r"}, got) != "" {
		t.Errorf("words %q, %v", got, err)
	}
}

func TestURLsAreCutBehindTheirPattern(t *testing.T) {
	for line, want := range map[string]string{
		"/a/** = anon":             "/a/**",
		"/a/**=anon":               "/a/**",
		"/a/** : anon":             "/a/**",
		"/a/**: anon":              "/a/**",
		"/a/** anon":               "/a/**",
		"/a/**\tanon":              "/a/**",
		"/x:y/l=1 = anon":          "/x:y/l=1",
		"/x:y/** anon":             "/x:y/**",
		"/x:y/** roles[a=b]":       "/x:y/**",
		"/x:y/** = roles[\"a=b\"]": "/x:y/**",
	} {
		if f := parse(t, "[urls]\n"+line+"\n"); f.URLs[0].Pattern != want {
			t.Errorf("%s: pattern %q, want %q", line, f.URLs[0].Pattern, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(sample))
	f.Add([]byte("[urls]\n/a = b[\\\n]\n"))
	f.Add([]byte("[main]\na.b=\"\\\""))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := secini.Parse("f", data)
		if file == nil && err == nil {
			t.Fatal("neither a file nor an error")
		}
		if file == nil {
			return
		}
		for _, o := range file.Objects {
			for _, p := range o.Props {
				_, _ = file.Map(p.Value)
				_, _ = file.Refs(p.Value)
			}
		}
		for _, u := range file.URLs {
			if len(u.Filters) == 0 || u.Line == 0 {
				t.Fatalf("rule without filters or line: %+v", u)
			}
		}
	})
}
