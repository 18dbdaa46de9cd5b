package release

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ctl.internal/plugins/repoinfo/gittest"
	"ctl.internal/sdk/fault"
)

// summarize writes the parts of notes that tests compare.
func summarize(n *Notes) map[string]string {
	got := map[string]string{}
	for _, g := range n.Groups {
		var subjects []string
		for _, e := range g.Entries {
			subjects = append(subjects, e.Subject)
		}
		got[g.Name] = strings.Join(subjects, ", ")
	}
	var firsts, machines, people []string
	for _, f := range n.First {
		firsts = append(firsts, f.Name+": "+f.Entry.Subject)
	}
	for _, e := range n.Machines {
		machines = append(machines, e.Subject)
	}
	for _, p := range n.People {
		people = append(people, fmt.Sprintf("%s %d", p.Name, p.Commits))
	}
	got["first"] = strings.Join(firsts, ", ")
	got["machines"] = strings.Join(machines, ", ")
	got["people"] = strings.Join(people, ", ")
	got["organizations"] = strings.Join(n.Organizations, ", ")
	got["counts"] = fmt.Sprintf("%d commits, %d left out, %d reverted", n.Commits, n.LeftOut, n.Reverted)
	return got
}

// twoProjects have a release v1 and a release v2 each.
func twoProjects(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	a := newStory(t, dir, "group/a")
	a.add("master", gittest.Commit{Author: "Ann <ann@one.example>", Message: "Old\n"})
	a.repo.Git("tag", "v1", "master")
	a.repo.Git("branch", "stable", "master")
	a.add("master", gittest.Commit{Author: "Ann <ann@one.example>", Message: "Parser\n\nTopic: Parser\n"})
	first := gittest.Commit{Author: "Bob <bob@two.example>", Message: "Bob's first\n\nTopic: parser\n"}
	first.Message += "Co-authored-by: Cid <cid@gmail.com>\n"
	a.add("master", first)
	a.add("master", gittest.Commit{Author: "Bob <bob@two.example>", Message: "Bob's second\n\nTopic: Docs\n"})
	bad := a.add("master", gittest.Commit{Author: "Dan <dan@one.example>", Message: "Bad\n"})
	revert := "Revert \"Bad\"\n\nThis reverts commit " + bad + ".\n"
	a.add("master", gittest.Commit{Author: "Ann <ann@one.example>", Message: revert})
	a.add("master", gittest.Commit{Author: "robot[bot] <bot@one.example>", Message: "Bump\n"})
	file := map[string]string{"picked": "1\n"}
	a.add("master", gittest.Commit{Author: "Eve <eve@one.example>", Message: "Picked\n", Files: file})
	a.add("stable", gittest.Commit{Author: "Eve <eve@one.example>", Message: "Picked\n", Files: file})
	a.repo.Git("tag", "-f", "v1", "stable")
	a.repo.Git("tag", "v2", "master")
	b := newStory(t, dir, "b")
	b.add("master", gittest.Commit{Author: "Bob <bob@two.example>", Message: "Old\n"})
	b.repo.Git("tag", "v1", "master")
	b.add("master", gittest.Commit{Author: "Ann <ann@one.example>", Message: "Use `a*b` of <x> & [y]\n\nChange-Id: I" + strings.Repeat("a", 40) + "\n"})
	b.repo.Git("tag", "v2", "master")
	newStory(t, dir, "empty")
	return dir
}

func TestNotesAreGroupedAndNameFirstContributions(t *testing.T) {
	m := newMaker(t, twoProjects(t), "*[bot]")
	n := m.ask(t, Question{Kind: AskNotes, Request: between("v2", "v1")}).Answer.(*Notes)
	want := map[string]string{
		"group/a":       "Bob's second, Bob's first, Parser",
		"b":             "Use `a*b` of <x> & [y]",
		"first":         "Cid: Bob's first", // Bob was in project b before
		"machines":      "Bump",
		"people":        "Ann 2, Bob 2, Cid 1",
		"organizations": "one.example, two.example",
		"counts":        "5 commits, 1 left out, 2 reverted",
	}
	if diff := cmp.Diff(want, summarize(n)); diff != "" {
		t.Error(diff)
	}
	if len(n.Failed) != 1 || n.Failed[0].Project != "empty" {
		t.Errorf("failed: %v", n.Failed)
	}
	n = m.ask(t, Question{Kind: AskNotes, Request: between("v2", "v1"), Group: "topic"}).Answer.(*Notes)
	got := summarize(n)
	delete(want, "group/a")
	delete(want, "b")
	want["Docs"] = "Bob's second"
	want["parser"] = "Bob's first, Parser"
	want[otherGroup] = "Use `a*b` of <x> & [y]"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestNotesInEveryForm(t *testing.T) {
	m := newMaker(t, twoProjects(t), "*[bot]")
	m.Links = Links{Commit: "https://git.example.org/{project}?h={hash}", Change: "https://review.example.org/q/{change_id}"}
	n := m.ask(t, Question{Kind: AskNotes, Request: between("v2", "v1"), Title: "Two & more"}).Answer.(*Notes)
	hash := n.Groups[0].Entries[0].Hash
	forms := map[string]func(*bytes.Buffer) error{
		"markdown": func(b *bytes.Buffer) error { return n.Markdown(b) },
		"html":     func(b *bytes.Buffer) error { return n.HTML(b) },
		"csv":      func(b *bytes.Buffer) error { return n.CSV(b) },
		"text":     func(b *bytes.Buffer) error { b.WriteString(n.Text()); return nil },
	}
	wants := map[string][]string{
		"markdown": {
			"# Two \\& more\n",
			"- Use \\`a\\*b\\` of \\<x\\> \\& \\[y\\] [" + hash[:12] + "](<https://git.example.org/b?h=" + hash + ">) [review](<https://review.example.org/q/Iaaa",
			"## First contributions\n\n- Cid: Bob's first",
			"- empty: ",
		},
		"html": {
			"<title>Two &amp; more</title>",
			"Use `a*b` of &lt;x&gt; &amp; [y]",
			`<a href="https://git.example.org/b?h=` + hash + `">` + hash[:12] + "</a>",
		},
		"csv":  {"\ncommit,b,Use `a*b` of <x> & [y]," + hash + ",", "\nfailed,empty,", "\nfirst_contribution,group/a,Bob's first,"},
		"text": {"Two & more\n", "\nThanks to\n  Ann\n  Bob\n", "1 commits are left out: v1 has the same changes."},
	}
	for form, write := range forms {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		for _, want := range wants[form] {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%s: %q is not in\n%s", form, want, b.String())
			}
		}
	}
}

func TestOwnTemplates(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("mail.txt", "{{.Title}}:{{range .Groups}}{{range .Entries}} {{.Subject}} ({{short .Hash}}, {{day .When}}){{end}}{{end}}")
	write("page.html", "{{range .Groups}}{{range limit 1 .Entries}}<p>{{.Subject}}</p>{{end}}{{end}}")
	write("bad", "{{.Nothing}}")
	write("broken", "{{range}}")
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	entry := Entry{Subject: "A <b>", Hash: strings.Repeat("a", 40), When: 1_500_000_000}
	n := &Notes{Title: "T", Groups: []Group{{Name: "g", Entries: []Entry{entry, entry}}}}
	run := func(name string) (string, string, error) {
		own, err := Templates{Dir: dir}.Read(name)
		if err != nil {
			return "", "", err
		}
		var b bytes.Buffer
		err = own.Execute(t.Context(), &b, n)
		return b.String(), own.ContentType(), err
	}
	one := " A <b> (aaaaaaaaaaaa, 2017-07-14)"
	for name, want := range map[string][2]string{
		"mail.txt":  {"T:" + one + one, "text/plain; charset=utf-8"},
		"page.html": {"<p>A &lt;b&gt;</p>", "text/html; charset=utf-8"},
	} {
		text, kind, err := run(name)
		if err != nil || text != want[0] || kind != want[1] {
			t.Errorf("%s: %q %s %v, want %q", name, text, kind, err, want)
		}
	}
	for name, kind := range map[string]fault.Kind{
		"bad":           fault.Malformed,
		"broken":        fault.Malformed,
		"absent":        fault.NotFound,
		"../mail.txt":   fault.Invalid,
		".":             fault.Invalid,
		"link":          fault.Unavailable,
		`a\..\mail.txt`: fault.Invalid,
	} {
		text, _, err := run(name)
		if fault.KindOf(err) != kind || text != "" {
			t.Errorf("%s: %v, wrote %q", name, err, text)
		}
	}
	if _, err := (Templates{}).Read("mail.txt"); fault.KindOf(err) != fault.Invalid {
		t.Errorf("no directory: %v", err)
	}
}
