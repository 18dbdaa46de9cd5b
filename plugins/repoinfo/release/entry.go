// Package release answers what is asked when a release is made: what is new in it, what its branch lacks, how it
// differs from the one before, and the notes that are published with it.
//
// The decisions (findMissed, compareSides, groupEntries) read no repository: package report lists the commits, and
// maker.go brings both together.
package release

import (
	"cmp"
	"net/url"
	"strings"

	"ctl.internal/plugins/repoinfo/report"
)

// Links are the addresses that commits and changes are shown at; empty ones are not linked.
type Links struct {
	Commit string // with {project} and {hash}
	Change string // with {change_id}, perhaps {project}
}

// commitURL is the address of a commit.
func (l Links) commitURL(project, hash string) string {
	return expandLink(l.Commit, project, "{hash}", hash)
}

// changeURL is the address of a change on the review server.
func (l Links) changeURL(project, changeID string) string {
	return expandLink(l.Change, project, "{change_id}", changeID)
}

// expandLink puts values into an address. The slashes of a project's name stay.
func expandLink(address, project, name, value string) string {
	if address == "" || value == "" {
		return ""
	}
	parts := strings.Split(project, "/")
	for i := range parts {
		parts[i] = escapePart(parts[i])
	}
	return strings.NewReplacer(
		"{project}",
		strings.Join(parts, "/"),
		name,
		escapePart(value),
	).Replace(address)
}

// escapePart escapes a value for a path and for a query.
func escapePart(value string) string {
	return strings.NewReplacer("&", "%26", "+", "%2B").Replace(url.PathEscape(value))
}

// Person is one who has a part in a release.
type Person struct {
	Name         string `json:"name"`
	Email        string `json:"email,omitempty"`
	Organization string `json:"organization,omitempty"`
}

// Entry is a commit with all that is shown of it.
type Entry struct {
	Project   string   `json:"project"`
	Hash      string   `json:"hash"`
	URL       string   `json:"url,omitempty"`
	Subject   string   `json:"subject"`
	When      int64    `json:"committed_date"` // seconds since the epoch; 0 = no readable date
	Authors   []Person `json:"authors"`        // the author and then the co-authors
	Machine   bool     `json:"machine,omitempty"`
	ChangeID  string   `json:"change_id,omitempty"`
	ChangeURL string   `json:"change_url,omitempty"`
	Undone    string   `json:"reverted_by,omitempty"` // a commit of the same list
}

// Short is the beginning of the hash, as git shows it.
func (e Entry) Short() string { return shortenHash(e.Hash) }

// By are the names of the people, separated by commas.
func (e Entry) By() string {
	names := make([]string, 0, len(e.Authors))
	for _, p := range e.Authors {
		names = append(names, p.Name)
	}
	return strings.Join(names, ", ")
}

func shortenHash(hash string) string {
	return hash[:min(len(hash), 12)]
}

// newPerson is what is shown of an author.
func newPerson(a report.Author) Person {
	p := Person{Name: cmp.Or(a.Name, a.Email), Email: a.Email}
	if !a.Machine {
		p.Organization = a.Organization
	}
	return p
}

// newEntry is what is shown of a commit.
func (l Links) newEntry(project string, c *report.Commit) Entry {
	e := Entry{
		Project: project,
		Hash:    c.Hash,
		URL:     l.commitURL(project, c.Hash),
		Subject: c.Subject,
		When:    c.When,
		Machine: c.Who[0].Machine,
		Undone:  c.Undone,
	}
	for _, a := range c.Who {
		e.Authors = append(e.Authors, newPerson(a))
	}
	if n := len(c.ChangeIDs); n > 0 {
		e.ChangeID = c.ChangeIDs[n-1]
		e.ChangeURL = l.changeURL(project, e.ChangeID)
	}
	return e
}
