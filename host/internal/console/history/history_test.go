package history

import (
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

const maxLines = 1000

func open(t *testing.T, dir, user string) *List {
	t.Helper()
	l, err := New(dir, maxLines).For(user)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestHistorySurvives(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "history")
	l := open(t, dir, "admin")
	for _, s := range []string{"a", "a", "", "  b  ", "two\nlines", "a"} {
		if err := l.Add(s); err != nil {
			t.Fatal(err)
		}
	}
	again := open(t, dir, "admin")
	if want := []string{"a", "b", "two lines", "a"}; !reflect.DeepEqual(again.Lines(), want) || len(again.Lines()) != 4 {
		t.Errorf("got %q", again.Lines())
	}
	for path, mode := range map[string]os.FileMode{dir: 0o700, filepath.Join(dir, "admin.history"): 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v %v", path, info.Mode(), err)
		}
	}
	if err := again.Clear(); err != nil {
		t.Fatal(err)
	}
	if rest, _ := os.ReadDir(dir); len(rest) != 0 || len(open(t, dir, "admin").Lines()) != 0 {
		t.Errorf("after Clear: %v", rest)
	}
	if err := again.Clear(); err != nil {
		t.Errorf("clearing nothing: %v", err)
	}
}

func TestHistoryIsBounded(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir, "admin")
	for i := range maxLines + 20 {
		if err := l.Add(strconv.Itoa(i)); err != nil {
			t.Fatal(err)
		}
	}
	for _, l := range []*List{l, open(t, dir, "admin")} { // and read again
		if lines := l.Lines(); len(lines) != maxLines || lines[0] != "20" {
			t.Errorf("%d lines, oldest %s", len(lines), lines[0])
		}
	}
	if b, _ := os.ReadFile(filepath.Join(dir, "admin.history")); strings.Count(string(b), "\n") != maxLines {
		t.Errorf("the file keeps %d lines", strings.Count(string(b), "\n"))
	}
}

func TestUsersShareNoFile(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "history")
	s := New(dir, maxLines)
	for _, user := range []string{"a", "../a", "..", "a/b", "a%2Fb"} {
		l, err := s.For(user)
		if err != nil || len(l.Lines()) != 0 || l.Add(user) != nil {
			t.Errorf("%q: %v, %d lines", user, err, len(l.Lines()))
		}
	}
	if files, _ := os.ReadDir(dir); len(files) != 5 {
		t.Errorf("files %v", files)
	}
	a, _ := s.For("a")
	if b, _ := s.For("a"); a != b {
		t.Error("two sessions of a user have two lists")
	}
}
