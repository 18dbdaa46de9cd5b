package commit

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSubject(t *testing.T) {
	for message, want := range map[string]string{
		"One line\n":                  "One line",
		"Two\nlines\n\nBody\n":        "Two lines",
		"\n\n  After blank lines\n\n": "After blank lines",
		"":                            "",
		"No end":                      "No end",
		"bad \xff byte\n":             "bad \uFFFD byte",
	} {
		c := Commit{Message: []byte(message)}
		if got := c.Subject(); got != want {
			t.Errorf("%q: %q, want %q", message, got, want)
		}
	}
}

func TestChangeIDs(t *testing.T) {
	id := "I" + strings.Repeat("0a", 20)
	for message, want := range map[string]int{
		"Subject\n\nBody\n\nChange-Id: " + id + "\nSigned-off-by: A <a@x>\n":  1,
		"Subject\n\nchange-id: " + id + "\n":                                  1,
		"Subject\n\nBody with\nChange-Id: " + id + "\n\nSigned-off-by: A <a>": 0,
		"Subject\n\nChange-Id: Iabc\n":                                        0,
		"Subject\n\nChange-Id: " + id + "0\n":                                 0,
		"Change-Id: " + id + "\n":                                             0,
	} {
		c := Commit{Message: []byte(message)}
		if got := c.ChangeIDs(); len(got) != want {
			t.Errorf("%q: %v", message, got)
		}
	}
}

func TestPickedFrom(t *testing.T) {
	a, b := strings.Repeat("a", 40), strings.Repeat("b", 64)
	for message, want := range map[string]string{
		"Subject\n\n(cherry picked from commit " + a + ")\n":                                                a,
		"Subject\n\nBody\n\nChange-Id: I1\n(cherry picked from commit " + a + ")\nSigned-off-by: A <a@x>\n": a,
		"Subject\n\n(cherry picked from commit " + a + ")\n(cherry picked from commit " + b + ")\n":         a + " " + b,
		"Subject\n\n(cherry picked from commit " + a + ")\n\nConflicts:\n\tdir/file\n\tother\n":             a,
		"Subject\n\n(cherry picked from commit " + a + ")\n\n# Conflicts:\n#\tdir/file\n":                   a,
		"Subject\n\nAs (cherry picked from commit " + a + ") says.\n":                                       "",
		"Revert\n\nThe message was:\n\n(cherry picked from commit " + a + ")\n\nSigned-off-by: A <a@x>\n":   "",
		"Subject\n\n(cherry picked from commit abc)\n":                                                      "",
		"Subject\n\n(cherry picked from commit " + a[:12] + ")\n":                                           a[:12],
		"Subject\n\n(cherry picked from commit " + a + " on master)\n":                                      a,
		"Conflicts:\n": "",
	} {
		c := Commit{Message: []byte(message)}
		if got := strings.Join(c.PickedFrom(), " "); got != want {
			t.Errorf("%q: %q, want %q", message, got, want)
		}
	}
}

func TestFixes(t *testing.T) {
	for value, want := range map[string][]Fix{
		`e298e5057006 ("a: subject")`:                 {{"e298e5057006", "a: subject"}},
		`e298e5057006("no blank")`:                    {{"e298e5057006", "no blank"}},
		`commit 8e35461 ("short")`:                    {{"8e35461", "short"}},
		`E298E5057006 ('quotes')`:                     {{"e298e5057006", "quotes"}},
		`07aec2ac1 plain subject.`:                    {{"07aec2ac1", "plain subject"}},
		`3af229f2071f5b5cb31664be6109561fbe19c861`:    {{"3af229f2071f5b5cb31664be6109561fbe19c861", ""}},
		`e298e5057006, 8e354617 ("two")`:              {{"e298e5057006", ""}, {"8e354617", "two"}},
		`https://git.example.org/x/commit/8e3546170a`: {{"8e3546170a", ""}},
		`"a: subject alone"`:                          {{"", "a: subject alone"}},
		`("Revert "b"").`:                             {{"", `Revert "b"`}},
		`commit “typeset”`:                            {{"", "typeset"}},
		`E298 ("a short hash")`:                       {{"e298", "a short hash"}},
		`commit("no blank")`:                          {{"", "no blank"}},
		`commits "are a word"`:                        nil,
		`face "the music"`:                            {{"face", "the music"}},
		`""`:                                          nil,
		`#123`:                                        nil,
		`BUG-4711`:                                    nil,
		`feedbacks in the parser`:                     nil,
		`https://bugs.example.org/show?id=123`:        nil,
		`e2:98`:                                       nil,
		`deadbeefdog`:                                 nil,
		``:                                            nil,
		`c814545b43ac ("a subject` + "\n that goes on\")": {{"c814545b43ac", "a subject that goes on"}},
	} {
		c := Commit{Message: []byte("Subject\n\nBody\n\nFixes: " + value + "\nSigned-off-by: A <a@x>\n")}
		if diff := cmp.Diff(want, c.Fixes()); diff != "" {
			t.Errorf("%q: %s", value, diff)
		}
	}
	c := Commit{Message: []byte("Subject\n\nFixes: e298e5057006 in running text\n\nBody\n")}
	if got := c.Fixes(); got != nil {
		t.Errorf("not a trailer: %v", got)
	}
}

func TestReverts(t *testing.T) {
	a := strings.Repeat("a", 40)
	for message, want := range map[string]string{
		"Revert \"x\"\n\nThis reverts commit " + a + ".\n\nChange-Id: I1\n": a,
		"Revert\n\nThis reverts commit " + a + ", reversing\n":              a,
		"x\n\nNo: This reverts commit " + a + "\n":                          "",
		"x\n": "",
	} {
		c := Commit{Message: []byte(message)}
		if got := c.Reverts(); got != want {
			t.Errorf("%q: %q", message, got)
		}
	}
}

func FuzzMarks(f *testing.F) {
	f.Add([]byte("Subject\n\nFixes: e298e5057006, commit 8e354617 (\"two\")\n(cherry picked from commit 0123456)\n"))
	f.Add([]byte("Subject\n\nConflicts:\n"))
	f.Fuzz(func(_ *testing.T, message []byte) {
		c := Commit{Message: message}
		c.Fixes()
		c.PickedFrom()
		c.ChangeIDs()
		c.Reverts()
		_ = c.Subject()
	})
}
