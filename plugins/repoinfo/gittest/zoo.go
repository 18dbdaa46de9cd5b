package gittest

import (
	"fmt"
	"strings"
	"testing"
)

// Zoo fills a repository with every kind of commit that lists and counts stumble
// over: roots, merges, an octopus, binary files, renames, odd encodings and
// paths, empty e-mail addresses, empty commits, the review server's own commits.
func Zoo(t testing.TB, dir string) *Repo {
	t.Helper()
	r := New(t, dir)
	lines := func(n int, tag string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "%s line %d\n", tag, i)
		}
		return b.String()
	}
	var s Stream
	root := s.Add(Commit{
		Root:    true,
		Message: "Initial commit\n",
		Files: map[string]string{
			"a.txt":     lines(10, "a"),
			"dir/b.txt": lines(5, "b"),
		},
	})
	s.Add(Commit{
		Author:  "Ünal <Unal@Example.ORG>",
		Zone:    "-0400",
		Files:   map[string]string{"a.txt": lines(12, "a")},
		Message: "Longer a\n\nWith a body.\n\nCo-Authored-By: Carl <carl@corp.example>\nChange-Id: I1\n",
	})
	s.Add(Commit{Message: "Empty\n", Zone: "+0545"})
	s.Add(Commit{
		Message: "Binary\n",
		Files:   map[string]string{"logo.bin": "\x00\x01\x02\n\x00"},
	})
	s.Add(Commit{
		Message: "Rename\n",
		Lines:   []string{`R "dir/b.txt" "dir/c.txt"`},
	})
	s.Add(Commit{
		Message: "Odd paths\n",
		Files: map[string]string{
			"tab\there": "x\n",
			"new\nline": "y\n",
			"ünï":       "z\n",
			`quo"te`:    "q\n",
		},
	})
	s.Add(Commit{
		Message:  "Gr\xfc\xdfe\n",
		Encoding: "ISO-8859-1",
		Author:   "J\xf6rg <j@example.org>",
		Files:    map[string]string{"d": "no newline at end"},
	})
	s.Add(Commit{
		Message: "invalid \xff\xfe bytes\n",
		Files:   map[string]string{"d": "another\nending"},
	})
	main := s.Add(Commit{
		Author:    "Nobody <>",
		Committer: "Nobody <>",
		Message:   "No address",
	})
	one := s.Add(Commit{
		Branch:  "one",
		Parents: []int{root},
		Author:  "Eve <eve@corp.example>",
		Files:   map[string]string{"one": lines(3, "1")},
	})
	two := s.Add(Commit{Branch: "two", Parents: []int{root},
		Files: map[string]string{
			"two":   lines(4, "2"),
			"a.txt": lines(10, "a"),
		}})
	three := s.Add(Commit{
		Branch:  "three",
		Parents: []int{root},
		Files:   map[string]string{"three": lines(2, "3")},
	})
	m := s.Add(Commit{
		Parents: []int{main, one},
		Message: "Merge branch 'one'\n",
		Files:   map[string]string{"one": lines(3, "1")},
	})
	o := s.Add(Commit{
		Parents: []int{m, two, three},
		Message: "Octopus\n",
		Files: map[string]string{
			"two":   lines(4, "2"),
			"three": lines(2, "3"),
		},
	})
	s.Add(Commit{
		Parents:   []int{o, one},
		Committer: "Gerrit Code Review <gerrit@example.org>",
		Message:   "Merge \"Longer a\"\n",
		Lines:     []string{`D "logo.bin"`},
	})
	s.Add(Commit{
		Committer: "Gerrit Code Review <gerrit@example.org>",
		Message:   "Updated zoo\nProject: other abc\n",
		Files:     map[string]string{"sub": "s\n"},
	})
	s.Add(Commit{
		Message: "After\n",
		Files:   map[string]string{"a.txt": lines(11, "changed")},
	})
	other := s.Add(Commit{
		Branch:  "unrelated",
		Root:    true,
		Message: "Another root\n",
		Files:   map[string]string{"u": "u\n"},
	})
	s.Raw(fmt.Sprintf(
		"reset refs/tags/light\nfrom :%d\n\ntag v1\nfrom :%d\ntagger T <t@example.org> 1500000000 +0000\ndata 3\nv1\n\n",
		m,
		o,
	))
	s.Raw(fmt.Sprintf(
		"reset refs/heads/stable/boron\nfrom :%d\n\nreset refs/tags/u\nfrom :%d\n\n",
		main,
		other,
	))
	r.Import(s.String())
	return r
}

// Long fills a repository with n small commits in one line.
func Long(t testing.TB, dir string, n int) *Repo {
	t.Helper()
	r := New(t, dir)
	var s Stream
	s.Add(Commit{
		Root:  true,
		Files: map[string]string{"f": "0\n"},
	})
	for i := 1; i < n; i++ {
		s.Add(Commit{Author: fmt.Sprintf("A%d <a%d@c%d.example>", i%97, i%97, i%7),
			Files: map[string]string{fmt.Sprintf("d%d/f%d", i%50, i%500): fmt.Sprintf("%d\n%d\n", i, i/2)}})
	}
	r.Import(s.String())
	return r
}
