package commit

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const hash = "0123456789012345678901234567890123456789"

// object lays a commit out as git stores it.
func object(author, committer, more, message string) []byte {
	return []byte("tree " + hash + "\nparent " + hash + "\nauthor " + author + "\ncommitter " + committer + "\n" + more + "\n" + message)
}

func encode(t *testing.T, c *Commit) string {
	t.Helper()
	b, err := NewEncoder("a/b").Encode(c)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestCommitAsJSON(t *testing.T) {
	c := Parse([]byte(hash), object("Ann \"A\" \xff <Ann@Example.ORG> 1500000000 -0400", "Gerrit <> 1500000001 +0530", "", "Fix\tit\n\nAlso-By: B\n"))
	c.State, c.Lines = Known, Lines{Insertions: 3, Deletions: 2, Files: 1}
	var got map[string]any
	if err := json.Unmarshal([]byte(encode(t, &c)), &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"author": "Ann \"A\" \uFFFD", "author_email": "ann@example.org", "author_tz_offset": 14400.0, "authored_date": 1500000000.0,
		"committer": "Gerrit", "committer_email": "", "committer_tz_offset": -19800.0, "committed_date": 1500000001.0,
		"hash": hash, "message": "Fix\tit\n\nAlso-By: B\n", "project": "a/b",
		"lines": map[string]any{"insertions": 3.0, "deletions": 2.0, "files": 1.0, "lines": 5.0},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	c.State = Unknown
	if s := encode(t, &c); !strings.Contains(s, `"lines":null`) {
		t.Errorf("unknown counts are not null: %s", s)
	}
	c.State = NotAsked
	if s := encode(t, &c); strings.Contains(s, `"lines"`) {
		t.Errorf("counts that were not asked for: %s", s)
	}
}

func TestMalformedCommitsAreMarked(t *testing.T) {
	const good = "Ann <a@example.org> 1500000000 +0000"
	for name, row := range map[string]struct {
		object []byte
		want   string
		author Signature
	}{
		"good":            {object(good, good, "", "m\n"), "", Signature{[]byte("Ann"), []byte("a@example.org"), 1500000000, 0}},
		"long zone":       {object("A <a@b> 1500000000 +051800", good, "", "m"), "author_zone", Signature{[]byte("A"), []byte("a@b"), 1500000000, 0}},
		"impossible zone": {object("A <a@b> 1500000000 -7200", good, "", "m"), "author_zone", Signature{[]byte("A"), []byte("a@b"), 1500000000, 0}},
		"zone +9999":      {object("A <a@b> 1500000000 +9999", good, "", "m"), "author_zone", Signature{[]byte("A"), []byte("a@b"), 1500000000, 0}},
		"zone +0960":      {object("A <a@b> 1500000000 +0960", good, "", "m"), "author_zone", Signature{[]byte("A"), []byte("a@b"), 1500000000, 0}},
		"no zone":         {object("A <a@b> 1500000000", good, "", "m"), "author_zone", Signature{[]byte("A"), []byte("a@b"), 1500000000, 0}},
		"no date":         {object("A <a@b>", good, "", "m"), "author_date", Signature{Name: []byte("A"), Email: []byte("a@b")}},
		"words for date":  {object("A <a@b> Thu Jan 1 1970", good, "", "m"), "author_date", Signature{Name: []byte("A"), Email: []byte("a@b")}},
		"date too large":  {object("A <a@b> 99999999999999999999 +0000", good, "", "m"), "author_date", Signature{Name: []byte("A"), Email: []byte("a@b")}},
		"no address":      {object("Ann 1500000000 +0000", good, "", "m"), "author", Signature{}},
		"two addresses":   {object("A <a@b> <c@d> 1500000000 +0000", good, "", "m"), "author", Signature{[]byte("A"), []byte("a@b"), 1500000000, 0}},
		"no blank":        {object("A<a@b> 1500000000 +0000", good, "", "m"), "author", Signature{[]byte("A"), []byte("a@b"), 1500000000, 0}},
		"nul":             {object(good, good, "", "a\x00b\n"), "nul", Signature{[]byte("Ann"), []byte("a@example.org"), 1500000000, 0}},
		"unknown charset": {object(good, good, "encoding klingon\n", "m"), "encoding", Signature{[]byte("Ann"), []byte("a@example.org"), 1500000000, 0}},
		"latin 1":         {object("J\xf6rg <j@b> 1 +0000", good, "encoding ISO-8859-1\n", "m"), "", Signature{[]byte("Jörg"), []byte("j@b"), 1, 0}},
		"nothing":         {nil, "author,committer", Signature{}},
	} {
		c := Parse([]byte(hash), row.object)
		if got := strings.Join(c.Malformed, ","); got != row.want {
			t.Errorf("%s: marked %q, want %q", name, got, row.want)
		}
		if diff := cmp.Diff(row.author, c.Author); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestSignedCommitsHaveTheirMessage(t *testing.T) {
	c := Parse([]byte(hash), object("A <a@b> 1 +0000", "A <a@b> 1 +0000", "gpgsig -----BEGIN\n \n author X <x@y> 9 +0000\n -----END\nmergetag object x\n author Y <y@z> 8 +0000\n", "Subject\n\nauthor not a header\n"))
	if string(c.Message) != "Subject\n\nauthor not a header\n" || string(c.Author.Email) != "a@b" || c.Parents != 1 {
		t.Errorf("%+v %s", c, c.Message)
	}
}

func TestFilter(t *testing.T) {
	make := func(committer, message string, when string) Commit {
		return Parse([]byte(hash), object("A <a@Corp.Example> 1 +0000", committer+" "+when+" +0000", "", message))
	}
	normal := make("B <b@b>", "Fix\n", "100")
	for name, row := range map[string]struct {
		f    Filter
		c    Commit
		want bool
	}{
		"everything":      {Filter{}, normal, true},
		"author":          {Filter{Author: "A@corp.example"}, normal, true},
		"other author":    {Filter{Author: "b@corp.example"}, normal, false},
		"organization":    {Filter{Organization: "CORP.example"}, normal, true},
		"part of it":      {Filter{Organization: "example"}, normal, false},
		"since":           {Filter{Since: 100, Until: 100}, normal, true},
		"too old":         {Filter{Since: 101}, normal, false},
		"too young":       {Filter{Until: 99}, normal, false},
		"far future":      {Filter{Until: 1 << 35}, normal, true},
		"review merge":    {Filter{Skip: true}, make("Gerrit Code Review <g@g>", "Merge \"x\"\n", "1"), false},
		"review update":   {Filter{Skip: true}, make("Gerrit Code Review <g@g>", "Updated x\nProject: x 1\n", "1"), false},
		"modules":         {Filter{Skip: true}, make("Gerrit Code Review <g@g>", "Updated git submodules\n\nProject: x\n", "1"), false},
		"several changes": {Filter{Skip: true}, make("Gerrit Code Review <g@g>", "Merge changes x\n", "1"), true},
		"someone else":    {Filter{Skip: true}, make("B <b@b>", "Merge \"x\"\n", "1"), true},
	} {
		if got := row.f.Keep(&row.c); got != row.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(object("A <a@b> 1 +0000", "A <a@b> 1 +0000", "encoding ISO-8859-1\n", "m\x00"))
	f.Add([]byte("author >< 1 +0000"))
	f.Fuzz(func(t *testing.T, b []byte) {
		c := Parse([]byte(hash), b)
		out, err := NewEncoder("p").Encode(&c)
		if err != nil || !json.Valid(out) {
			t.Errorf("%q: %v", out, err)
		}
	})
}
