package commit

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const hash = "0123456789012345678901234567890123456789"

func raw(fields ...string) string { return strings.Join(fields, "\x00") + "\x00" }

func scan(t *testing.T, text string, limit int) []Commit {
	t.Helper()
	var all []Commit
	for s := NewScanner(strings.NewReader(text), limit, 0); ; {
		k := &Chunk{}
		err := s.Fill(k, 100)
		if (err != nil && !errors.Is(err, io.EOF)) || !k.Seal() {
			t.Fatalf("scanning %.200q: %v", text, err)
		}
		all = append(all, k.Commits...)
		if err != nil {
			return all
		}
	}
}

func TestCommitAsJSON(t *testing.T) {
	text := raw(hash, "Ann \"A\" \xff", "Ann@Example.ORG", "1500000000 -0400", "Gerrit", "", "1500000001 +0530", "Fix\tit\n\nAlso-By: B\n")
	c := scan(t, text, 1000)[0]
	c.State, c.Lines = Known, Lines{Insertions: 3, Deletions: 2, Files: 1}
	var got map[string]any
	if err := json.Unmarshal(c.AppendJSON(nil, "a/b"), &got); err != nil {
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
	if s := string(c.AppendJSON(nil, "p")); !strings.Contains(s, `"lines":null`) {
		t.Errorf("unknown counts are not told: %s", s)
	}
	c.State = NotAsked
	if s := string(c.AppendJSON(nil, "p")); strings.Contains(s, `"lines"`) {
		t.Errorf("counts nobody asked for: %s", s)
	}
}

func TestLongMessageIsCutAndTold(t *testing.T) {
	long := strings.Repeat("x", 600<<10)
	got := scan(t, raw(hash, "a", "b", "1 +0000", "c", "d", "1 +0000", long)+raw(hash, "a", "b", "", "c", "d", "", "next"), 500<<10)
	if len(got) != 2 || !got[0].Cut || len(got[0].Message) != 500<<10 || string(got[1].Message) != "next" || got[1].Position != 1 {
		t.Fatalf("got %d commits, cut %v", len(got), got[0].Cut)
	}
	if s := string(got[0].AppendJSON(nil, "p")); !strings.Contains(s, `"message_truncated":true`) {
		t.Error("the cut is not told")
	}
}

func TestTruncatedOutputIsAnError(t *testing.T) {
	whole := raw(hash, "a", "b", "1 +0000", "c", "d", "1 +0000", "m")
	for end := 1; end < len(whole); end++ {
		err := NewScanner(strings.NewReader(whole[:end]), 100, 0).Fill(&Chunk{}, 10)
		if !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatalf("cut at %d: %v", end, err)
		}
	}
}

func TestWhen(t *testing.T) {
	for _, c := range []struct {
		raw         string
		epoch, west int64
	}{{"1 +0000", 1, 0}, {"5 -0330", 5, 12600}, {"5 +1245", 5, -45900}, {"", 0, 0}, {"x y", 0, 0}, {"-7 +0100", -7, -3600}} {
		if e, w := When([]byte(c.raw)); e != c.epoch || w != c.west {
			t.Errorf("When(%q) = %d, %d", c.raw, e, w)
		}
	}
}

func TestFilter(t *testing.T) {
	c := &Commit{AuthorEmail: []byte("Ann@Sub.Example.org"), Committer: []byte("Gerrit Code Review"), Message: []byte("Merge \"x\"")}
	for _, row := range []struct {
		name string
		f    Filter
		msg  string
		keep bool
	}{
		{"author, other case", Filter{Author: "aNN@sub.example.org"}, "", true},
		{"other author", Filter{Author: "bob@sub.example.org"}, "", false},
		{"organization, other case", Filter{Organization: "SUB.example.org"}, "", true},
		{"no folding of sub-domains", Filter{Organization: "example.org"}, "", false},
		{"merge of a change", Filter{Skip: true}, "Merge \"x\"", false},
		{"skip switched off", Filter{}, "Merge \"x\"", true},
		{"merge of changes stays", Filter{Skip: true}, "Merge changes I1,I2", true},
		{"old submodule text", Filter{Skip: true}, "Updated integration\nProject: x 0", false},
		{"submodule text", Filter{Skip: true}, "Updated git submodules\n\nProject: x", false},
		{"newer submodule text stays", Filter{Skip: true}, "Update git submodules\n\n* Update x", true},
	} {
		c.Message = []byte(row.msg)
		if row.f.Keep(c) != row.keep {
			t.Errorf("%s: kept = %v", row.name, !row.keep)
		}
	}
	empty := &Commit{Committer: []byte("x")}
	if (Filter{Organization: "a"}).Keep(empty) || !(Filter{Skip: true}).Keep(empty) {
		t.Error("an empty e-mail address is handled wrongly")
	}
}

func FuzzScanner(f *testing.F) {
	f.Add([]byte(raw(hash, "a", "b", "1 +0000", "c", "d", "1 +0000", "m\n")))
	f.Add([]byte("\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, text []byte) {
		k := &Chunk{}
		s := NewScanner(bytes.NewReader(text), 64, 0)
		for {
			err := s.Fill(k, 4)
			if k.Seal() {
				for i := range k.Commits {
					if b := k.Commits[i].AppendJSON(nil, "p"); !json.Valid(b) && isHex(k.Commits[i].Hash) {
						t.Fatalf("not JSON: %s", b)
					}
				}
			}
			k.Reset()
			if err != nil {
				return
			}
		}
	})
}

func isHex(b []byte) bool { return strings.Trim(string(b), "0123456789abcdef") == "" }
