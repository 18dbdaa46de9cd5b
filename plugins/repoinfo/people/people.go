// Package people knows who the authors of commits are: git's mailmaps join the addresses
// of one person, and a file of affiliations says for whom they worked when.
package people

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"strings"

	"ctl.internal/plugins/repoinfo/gitcmd"
	"ctl.internal/plugins/repoinfo/history"
	"ctl.internal/sdk/fault"
)

// Person is an author after all mailmaps. Email is in lower case and is what distinguishes
// persons apart; one without an address is known by the name.
type Person struct{ Name, Email string }

// Key distinguishes persons.
func (p Person) Key() string { return cmp.Or(p.Email, p.Name) }

// Directory is what is known of people in all projects.
type Directory struct {
	Machines Machines // unless a request names others
	mailmap  string   // a file for all projects, absolute; empty = none
	version  string   // of the affiliations
	affiliations
}

// Version changes when a site-wide file does.
func (d *Directory) Version() (string, error) {
	if d.mailmap == "" {
		return d.version, nil
	}
	text, err := os.ReadFile(d.mailmap)
	return d.version + " " + digestText(text), err
}

func digestText(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// New reads the site-wide files; empty paths are none.
func New(mailmap, affiliationsFile string) (*Directory, error) {
	d := &Directory{
		mailmap: mailmap,
		affiliations: affiliations{emails: map[string][]term{},
			domains: map[string][]term{}},
	}
	if mailmap != "" {
		if _, err := os.Stat(mailmap); err != nil {
			return nil, fault.At(fault.Invalid, "mailmap", "the file cannot be read: %v", err)
		}
	}
	if affiliationsFile == "" {
		return d, nil
	}
	text, err := os.ReadFile(affiliationsFile)
	if err != nil {
		return nil, fault.At(fault.Invalid, "affiliations", "the file cannot be read: %v", err)
	}
	d.version = digestText(text)
	return d, d.affiliations.readAffiliations(affiliationsFile, bytes.NewReader(text))
}

// Names resolves the names in one project. It belongs to one goroutine and must be closed.
type Names struct {
	ctx  context.Context
	git  *gitcmd.Git
	call gitcmd.Call
	proc *gitcmd.Process
	out  *bufio.Reader
	seen map[string]Person
	none bool // there is no mailmap
}

// maxSeen bounds the memory of Names; real projects have some ten thousand authors.
const maxSeen = 200_000

// Names uses the .mailmap in the tree of a commit and the site-wide one, which wins. git
// itself reads them.
func (d *Directory) Names(ctx context.Context, r history.Repo, commit string) (*Names, error) {
	n := &Names{
		ctx:  ctx,
		git:  r.Git,
		seen: map[string]Person{},
		call: gitcmd.Call{
			Dir:   r.Dir,
			Input: true,
			Args:  []string{"check-mailmap", "--stdin"},
			Config: []string{"mailmap.blob=" + commit + ":.mailmap",
				"mailmap.file=" + d.mailmap},
		},
	}
	if d.mailmap == "" {
		out, err := r.Git.Output(ctx, gitcmd.Call{Dir: r.Dir,
			Args: []string{"ls-tree", "--name-only", commit, "--", ".mailmap"}})
		_, ran := gitcmd.ExitCode(err)
		if err != nil && !ran {
			return nil, err
		}
		n.none = len(out) == 0
	}
	return n, nil
}

// Who returns the person that a name and an address stand for.
func (n *Names) Who(name, email []byte) (Person, error) {
	key := string(name) + "\x00" + string(email)
	if p, ok := n.seen[key]; ok {
		return p, nil
	}
	raw := string(name) + " <" + string(email) + ">"
	mapped := raw
	if !n.none && len(email) > 0 && !strings.ContainsAny(string(name)+string(email), "<>\n\r\x00") {
		var err error
		if mapped, err = n.askGit(raw); err != nil {
			return Person{}, err
		}
	}
	p := parsePerson(mapped)
	if len(n.seen) >= maxSeen {
		clear(n.seen)
	}
	n.seen[key] = p
	return p, nil
}

func parsePerson(text string) Person {
	open := strings.LastIndexByte(text, '<')
	name := strings.ToValidUTF8(strings.TrimSpace(text[:open]), "\uFFFD")
	email := strings.ToLower(strings.ToValidUTF8(strings.TrimSuffix(text[open+1:], ">"), "\uFFFD"))
	return Person{Name: name, Email: email}
}

func (n *Names) askGit(line string) (string, error) {
	if n.proc == nil {
		p, err := n.git.Start(n.ctx, n.call)
		if err != nil {
			return "", err
		}
		n.proc, n.out = p, bufio.NewReader(p.Stdout)
	}
	if _, err := n.proc.Stdin.Write([]byte(line + "\n")); err != nil {
		return "", n.proc.Ended(err)
	}
	text, err := n.out.ReadString('\n')
	if err != nil {
		return "", n.proc.Ended(err)
	}
	text = strings.TrimSuffix(text, "\n")
	if !strings.Contains(text, "<") {
		return "", fmt.Errorf("git check-mailmap printed %.100q", text)
	}
	return text, nil
}

// Close ends git.
func (n *Names) Close() {
	if n.proc != nil {
		n.proc.Close()
	}
}
