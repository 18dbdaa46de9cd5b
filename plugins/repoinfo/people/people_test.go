package people

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"ctl.internal/plugins/repoinfo/gitcmd"
	"ctl.internal/plugins/repoinfo/gittest"
	"ctl.internal/plugins/repoinfo/history"
	"ctl.internal/sdk/fault"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func file(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func day(s string) int64 {
	t, err := time.Parse(time.DateOnly, s)
	if err != nil {
		panic(err)
	}
	return t.Unix()
}

func TestAffiliations(t *testing.T) {
	d, err := New("", file(t, `# gitdm
ann@example.org  Example Ltd < 2016-05-01
ann@example.org  Another GmbH
corp.example     Corp
old.example      Old Name < 2010-01-01
old.example      New Name

Bob Author: bob!home.example, Bob!gmail.com
	First from 2014-01-01 until 2015-01-01
	Second until 2014-01-01
	Third Inc
`))
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct{ email, day, want string }{
		{"ann@example.org", "2016-04-30", "Example Ltd"}, {"ann@example.org", "2016-05-01", "Another GmbH"},
		{"eve@corp.example", "2020-01-01", "Corp"}, {"eve@de.corp.example", "2020-01-01", "Corp"}, {"eve@xcorp.example", "2020-01-01", "xcorp.example"},
		{"a@old.example", "2009-12-31", "Old Name"}, {"a@old.example", "2010-01-01", "New Name"},
		{"bob@home.example", "2013-06-01", "Second"}, {"bob@gmail.com", "2014-06-01", "First"}, {"bob@gmail.com", "2015-01-01", "Third Inc"},
		{"eve@gmail.com", "2020-01-01", Unaffiliated}, {"eve@yahoo.co.uk", "2020-01-01", Unaffiliated}, {"1+eve@users.noreply.github.com", "2020-01-01", Unaffiliated},
		{"eve@yahoo-inc.com", "2020-01-01", "yahoo-inc.com"}, {"", "2020-01-01", Unaffiliated}, {"root", "2020-01-01", Unaffiliated},
	} {
		if got := d.Organization(row.email, day(row.day)); got != row.want {
			t.Errorf("%s on %s: %q, want %q", row.email, row.day, got, row.want)
		}
	}
}

func TestTheVersionFollowsTheFiles(t *testing.T) {
	mailmap := file(t, "A <a@b>\n")
	seen := map[string]bool{}
	for range 2 {
		for _, text := range []string{"b.example B\n", "b.example C\n"} {
			d, err := New(mailmap, file(t, text))
			if err != nil {
				t.Fatal(err)
			}
			v, err := d.Version()
			if err != nil || seen[v] {
				t.Errorf("%q again, %v", v, err)
			}
			seen[v] = true
		}
		if err := os.WriteFile(mailmap, []byte("B <a@b>\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestBadAffiliationsNameTheirLine(t *testing.T) {
	for text, why := range map[string]string{
		"a@b\n":               ":1",
		"\n\tCompany\n":       ":2",
		"a@b C < yesterday\n": "not a day",
		"Ann: nobody\n":       "no address",
		"Ann: a!b\n\tC from 2015-01-01 until 2014-01-01\n": ":2",
	} {
		path := file(t, text)
		if _, err := New("", path); fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), why) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := New("/nonexistent", ""); err == nil {
		t.Error("a mailmap that is absent")
	}
}

func TestOnePersonWithSeveralAddresses(t *testing.T) {
	g := gittest.New(t, filepath.Join(t.TempDir(), "m.git"))
	var s gittest.Stream
	s.Add(gittest.Commit{Root: true, Files: map[string]string{".mailmap": "Ann Author <ann@example.org> <old@example.com>\nBea <bea@x.example> B <b@x.example>\nFrom Repo <c@x.example>\n"}})
	g.Import(s.String())
	r := history.Repo{Git: &gitcmd.Git{}, Project: "m", Dir: g.Dir}
	for name, row := range map[string]struct {
		site string
		who  [2]string
		want Person
	}{
		"by address":       {"", [2]string{"A.", "OLD@example.com"}, Person{"Ann Author", "ann@example.org"}},
		"name and address": {"", [2]string{"B", "b@x.example"}, Person{"Bea", "bea@x.example"}},
		"another name":     {"", [2]string{"C", "b@x.example"}, Person{"C", "b@x.example"}},
		"unknown":          {"", [2]string{"Dan", "Dan@X.example"}, Person{"Dan", "dan@x.example"}},
		"site-wide wins":   {"From Site <c@x.example>\n", [2]string{"c", "c@x.example"}, Person{"From Site", "c@x.example"}},
		"site and repo":    {"X <x@x.example>\n", [2]string{"A.", "old@example.com"}, Person{"Ann Author", "ann@example.org"}},
		"no address":       {"", [2]string{"Nobody", ""}, Person{"Nobody", ""}},
		"no name":          {"", [2]string{"", "old@example.com"}, Person{"Ann Author", "ann@example.org"}},
		"odd":              {"", [2]string{"a>b", "x\ny"}, Person{"a>b", "x\ny"}},
		"not UTF-8":        {"", [2]string{"J\xf6rg", "j@b"}, Person{"J\uFFFDrg", "j@b"}},
	} {
		path := ""
		if row.site != "" {
			path = file(t, row.site)
		}
		d, err := New(path, "")
		if err != nil {
			t.Fatal(err)
		}
		names, err := d.Names(t.Context(), r, g.Head("master"))
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if got, err := names.Who([]byte(row.who[0]), []byte(row.who[1])); err != nil || got != row.want {
				t.Errorf("%s: %+v %v", name, got, err)
			}
		}
		names.Close()
	}
}
