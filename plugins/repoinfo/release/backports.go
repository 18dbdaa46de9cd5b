package release

import (
	"cmp"
	"fmt"
	"strings"

	"ctl.internal/plugins/repoinfo/commit"
	"ctl.internal/plugins/repoinfo/history"
	"ctl.internal/plugins/repoinfo/report"
)

// Backports are commits that a branch lacks although something says that it needs them.
type Backports struct {
	Branch   string             `json:"branch"`
	From     string             `json:"from,omitempty"` // empty = each project's default branch
	Missed   int                `json:"missed"`
	Projects []ProjectBackports `json:"projects"`
	Failed   []report.Failed    `json:"failed"`
}

// ProjectBackports are those of one project.
type ProjectBackports struct {
	Project string   `json:"project"`
	Tip     string   `json:"tip"`  // of From
	Base    string   `json:"base"` // of Branch
	Missed  []Missed `json:"missed"`
	Review  string   `json:"review"` // whether open changes were looked at: "asked", or why not
}

// Missed is a commit that was not backported.
type Missed struct {
	Entry
	Reasons []Reason `json:"reasons"`
	// Dropped is the commit of the branch that was the same change, and DroppedBy the one that reverted it there.
	Dropped   string `json:"dropped,omitempty"`
	DroppedBy string `json:"dropped_by,omitempty"`
}

// Kinds of reasons.
const (
	FixesPresent   = "fixes"           // it repairs a commit that the branch has
	FixesMissed    = "fixes_missed"    // it repairs a commit that is itself a missed backport
	FixesAmbiguous = "fixes_ambiguous" // it repairs one of several commits, and the branch has one of them
	RevertsPresent = "reverts"         // it undoes a commit that the branch has
	ChangeIsOpen   = "change_open"     // the review server has an open change for the branch with its Change-Id
)

// Reason is why a commit should be backported.
type Reason struct {
	Kind   string   `json:"kind"`
	Commit string   `json:"commit,omitempty"` // that is repaired or undone
	As     string   `json:"as,omitempty"`     // the commit of the branch that is the same change as Commit
	Among  []string `json:"among,omitempty"`  // the commits that an ambiguous name means
	Change int      `json:"change,omitempty"` // number of the open change
	URL    string   `json:"url,omitempty"`
	Text   string   `json:"text"`
}

// OpenChange is a change on the review server that is not merged yet.
type OpenChange struct {
	Number   int
	ChangeID string
}

// branchFacts are what is known of a branch when missed backports are looked for.
type branchFacts struct {
	name    string
	full    map[string]string          // full hashes, by the hashes that messages name
	named   map[history.Named][]string // full hashes, by the names that are no such hashes
	has     map[string]bool            // commits in the history of the branch, by full hashes
	dropped map[string]string          // commits that the branch reverts, with the commit that reverts
	open    map[string][]OpenChange    // by Change-Id
}

// missedFinder looks for missed backports among commits that a branch does not have.
type missedFinder struct {
	branchFacts
	listed map[string]*report.Commit
	missed map[string][]Reason
}

// findMissed returns the reasons for which commits should be backported, by hash. The list is that of commits that the
// branch does not have; those with Same are there under another hash, and those with Undone are given up.
func findMissed(list []report.Commit, facts branchFacts) map[string][]Reason {
	f := &missedFinder{
		branchFacts: facts,
		listed:      map[string]*report.Commit{},
		missed:      map[string][]Reason{},
	}
	for i := range list {
		f.listed[list[i].Hash] = &list[i]
	}
	for before := -1; before < len(f.missed); { // a repair of a missed backport may be listed before it
		before = len(f.missed)
		for i := len(list) - 1; i >= 0; i-- {
			c := &list[i]
			if c.Same != nil || c.Undone != "" {
				continue
			}
			if reasons := f.reasonsFor(c); len(reasons) > 0 {
				f.missed[c.Hash] = reasons
			}
		}
	}
	return f.missed
}

// reasonsFor lists why a commit should be backported.
func (f *missedFinder) reasonsFor(c *report.Commit) (reasons []Reason) {
	seen := map[string]bool{}
	for _, fix := range c.Fixes {
		hashes := f.fixedBy(c, fix)
		if len(hashes) == 0 || hashes[0] == c.Hash || seen[hashes[0]] {
			continue
		}
		seen[hashes[0]] = true
		if r := f.fixReason(hashes, fix); r != nil {
			reasons = append(reasons, *r)
		}
	}
	if hash := f.full[c.Reverts]; hash != "" {
		if as, present := f.findPresent(hash); present {
			reasons = append(reasons, f.newReason(RevertsPresent, "reverts", hash, as, ""))
		}
	}
	for _, id := range c.ChangeIDs {
		for _, change := range f.open[id] {
			text := fmt.Sprintf("change %d with its Change-Id is open on %s", change.Number, f.name)
			reasons = append(reasons, Reason{
				Kind:   ChangeIsOpen,
				Change: change.Number,
				Text:   text,
			})
		}
	}
	return reasons
}

// fixedBy are the commits that a trailer may mean.
func (f *missedFinder) fixedBy(c *report.Commit, fix commit.Fix) []string {
	if hash := f.full[fix.Hash]; hash != "" {
		return []string{hash}
	}
	return f.named[nameOf(c, fix)]
}

// nameOf is how a commit names the one that it repairs.
func nameOf(c *report.Commit, fix commit.Fix) history.Named {
	return history.Named{
		By:      c.Hash,
		Hash:    fix.Hash,
		Subject: fix.Subject,
	}
}

// fixReason is why a repair of one of the commits should be backported, nil if nothing says so.
func (f *missedFinder) fixReason(hashes []string, fix commit.Fix) *Reason {
	if len(hashes) > 1 {
		return f.ambiguousReason(hashes, fix)
	}
	hash := hashes[0]
	if as, present := f.findPresent(hash); present {
		r := f.newReason(FixesPresent, "fixes", hash, as, fix.Subject)
		return &r
	}
	if f.missed[hash] == nil {
		return nil
	}
	text := fmt.Sprintf(
		"fixes %s, which is a missed backport too",
		describeCommit(hash, cmp.Or(f.subjectOf(hash), fix.Subject)),
	)
	return &Reason{
		Kind:   FixesMissed,
		Commit: hash,
		Text:   text,
	}
}

// maxAmong is how many commits of an ambiguous name a text lists.
const maxAmong = 5

// ambiguousReason says which commits a trailer may mean, if the branch has one of them.
func (f *missedFinder) ambiguousReason(hashes []string, fix commit.Fix) *Reason {
	var short, has []string
	for _, hash := range hashes {
		if len(short) < maxAmong {
			short = append(short, shortenHash(hash))
		}
		if _, present := f.findPresent(hash); present {
			has = append(has, shortenHash(hash))
		}
	}
	if len(has) == 0 {
		return nil
	}
	name := fix.Hash
	if fix.Subject != "" {
		name = fmt.Sprintf("%q", fix.Subject)
	}
	text := fmt.Sprintf(
		"fixes %s, which may be each of %d commits (%s); %s has %s",
		name,
		len(hashes),
		strings.Join(short, ", "),
		f.name,
		strings.Join(has[:min(len(has), maxAmong)], ", "),
	)
	return &Reason{
		Kind:  FixesAmbiguous,
		Among: hashes,
		Text:  text,
	}
}

// findPresent reports whether the branch has a commit, or has it under another hash.
func (f *missedFinder) findPresent(hash string) (as string, present bool) {
	if f.dropped[hash] != "" {
		return "", false
	}
	if f.has[hash] {
		return "", true
	}
	if c := f.listed[hash]; c != nil && c.Same != nil {
		return c.Same.Hash, true
	}
	return "", false
}

// newReason is one that a commit of the branch gives.
func (f *missedFinder) newReason(kind, verb, hash, as, subject string) Reason {
	text := fmt.Sprintf(
		"%s %s, which %s has",
		verb,
		describeCommit(hash, cmp.Or(f.subjectOf(hash), subject)),
		f.name,
	)
	if as != "" {
		text += " as " + shortenHash(as)
	}
	return Reason{Kind: kind, Commit: hash, As: as, Text: text}
}

// subjectOf is the subject of a commit of the list.
func (f *missedFinder) subjectOf(hash string) string {
	if c := f.listed[hash]; c != nil {
		return c.Subject
	}
	return ""
}

// describeCommit names a commit the way that trailers do.
func describeCommit(hash, subject string) string {
	if subject == "" {
		return shortenHash(hash)
	}
	return fmt.Sprintf("%s (%q)", shortenHash(hash), subject)
}

// namedHashes are the hashes that messages of a list and of a branch name and that must be looked up.
func namedHashes(l *report.Listed) []string {
	var hashes []string
	seen := map[string]bool{}
	add := func(hash string) {
		if hash != "" && !seen[hash] {
			seen[hash] = true
			hashes = append(hashes, hash)
		}
	}
	for _, c := range l.Commits {
		for _, fix := range c.Fixes {
			if len(fix.Hash) >= commit.MinHash {
				add(fix.Hash)
			}
		}
		add(c.Reverts)
	}
	for hash := range l.Dropped {
		add(hash)
	}
	return hashes
}

// unresolvedNames are the commits that messages of a list name in another way than by a hash that is known.
func unresolvedNames(l *report.Listed, full map[string]string) (names []history.Named) {
	for i := range l.Commits {
		c := &l.Commits[i]
		if c.Same != nil || c.Undone != "" {
			continue
		}
		for _, fix := range c.Fixes {
			if full[fix.Hash] == "" {
				names = append(names, nameOf(c, fix))
			}
		}
	}
	return names
}

// newProjectBackports puts the missed backports of a project together.
func newProjectBackports(
	l *report.Listed,
	facts branchFacts,
	links Links,
	review string,
) ProjectBackports {
	p := ProjectBackports{
		Project: l.Project,
		Tip:     l.Tip,
		Base:    l.Base,
		Missed:  []Missed{},
		Review:  review,
	}
	reasons := findMissed(l.Commits, facts)
	for i := range l.Commits {
		c := &l.Commits[i]
		if reasons[c.Hash] == nil {
			continue
		}
		m := Missed{
			Entry:   links.newEntry(l.Project, c),
			Reasons: reasons[c.Hash],
		}
		for j := range m.Reasons {
			r := &m.Reasons[j]
			r.URL = links.commitURL(l.Project, r.Commit)
			if r.Kind == ChangeIsOpen {
				r.URL = links.changeURL(l.Project, m.ChangeID)
			}
		}
		if c.Gone != nil {
			m.Dropped, m.DroppedBy = c.Gone.Hash, l.Dropped[c.Gone.Hash]
		}
		p.Missed = append(p.Missed, m)
	}
	return p
}

// ReasonText joins the reasons.
func (m Missed) ReasonText() string {
	texts := make([]string, 0, len(m.Reasons)+1)
	for _, r := range m.Reasons {
		texts = append(texts, r.Text)
	}
	if m.DroppedBy != "" {
		had, by := shortenHash(m.Dropped), shortenHash(m.DroppedBy)
		texts = append(texts, fmt.Sprintf("the branch had it as %s and reverted it in %s", had, by))
	}
	return strings.Join(texts, "; ")
}
