package history

import (
	"bufio"
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"

	"ctl.internal/plugins/repoinfo/commit"
	"ctl.internal/plugins/repoinfo/gitcmd"
)

// Named is how one commit names another: by the beginning of its hash, by its subject, or by both.
type Named struct {
	By      string // full hash of the commit that names; what it names is older
	Hash    string
	Subject string
}

// FindNamed returns the full hashes of the commits that are named, several where the name is ambiguous: of more than
// maxMatches the first in the order of the history. They are searched in the history of tip below the commit that names
// and, where there is none, among what base has besides. A hash and a subject together count most; then a hash of at
// least commit.MinHash digits, then a subject.
func (r Repo) FindNamed(
	ctx context.Context,
	tip, base string,
	wanted []Named,
) (map[Named][]string, error) {
	found := map[Named][]string{}
	missing, err := r.findMissingHashes(ctx, wanted)
	if err != nil {
		return nil, err
	}
	s := newNameSearch(wanted, missing)
	if len(s.open) == 0 {
		return found, nil
	}
	if err := r.searchNames(ctx, s, "--topo-order", tip); err != nil {
		return nil, err
	}
	s.closeFound(found)
	if len(s.open) == 0 {
		return found, nil
	}
	s.anywhere = true // base is another history: nothing in it is above the commit that names
	if err := r.searchNames(ctx, s, base, "^"+tip); err != nil {
		return nil, err
	}
	s.closeFound(found)
	return found, nil
}

// findMissingHashes returns the hashes in names with which no object of the repository begins.
func (r Repo) findMissingHashes(ctx context.Context, wanted []Named) (map[string]bool, error) {
	missing := map[string]bool{}
	asked := map[string]bool{}
	for _, name := range wanted {
		if name.Hash != "" {
			asked[name.Hash] = true
		}
	}
	if len(asked) == 0 {
		return missing, nil
	}
	hashes := slices.Collect(maps.Keys(asked))
	call := gitcmd.Call{
		Dir:   r.Dir,
		Args:  []string{"cat-file", "--batch-check"},
		Stdin: strings.Join(hashes, "\n") + "\n",
	}
	out, err := r.Git.Output(ctx, call)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(out)) {
		hash, isMissing := strings.CutSuffix(strings.TrimSuffix(line, "\n"), " missing")
		if isMissing { // an ambiguous one is not
			missing[hash] = true
		}
	}
	return missing, nil
}

// maxSubject is how many bytes of a line with a hash and a subject are read.
const maxSubject = 64 << 10

// searchNames shows the commits of a walk to a search.
func (r Repo) searchNames(ctx context.Context, s *nameSearch, revisions ...string) error {
	call := gitcmd.Call{
		Dir:  r.Dir,
		Args: append([]string{"rev-list", "--encoding=UTF-8", "--format=%H %s"}, revisions...),
	}
	p, err := r.Git.Start(ctx, call)
	if err != nil {
		return err
	}
	defer p.Close()
	lines := bufio.NewReaderSize(p.Stdout, maxSubject)
	for {
		line, cut, err := lines.ReadLine()
		for ; cut && err == nil; _, cut, err = lines.ReadLine() {
			line = slices.Clone(line) // the rest of a longer line overwrites it
		}
		if errors.Is(err, io.EOF) {
			return p.Wait()
		}
		if err != nil {
			return err
		}
		hash, subject, _ := strings.Cut(string(line), " ")
		if hash == "commit" { // the line that git writes before each
			continue
		}
		s.see(hash, normalizeSubject(subject))
		if s.left == 0 {
			return nil
		}
	}
}

// maxMatches are the commits that one name may mean.
const maxMatches = 50

// keyDigits are the digits of a hash by which names are looked up; a name has at least as many.
const keyDigits = 4

// nameSearch looks for commits by name.
type nameSearch struct {
	open      map[Named]*nameMatches
	left      int                       // names whose search has not ended
	by        map[string][]*nameMatches // that begin to be searched below a commit
	bySubject map[string][]*nameMatches
	byHash    map[string][]*nameMatches // by the first digits
	anywhere  bool
}

// nameMatches are the commits that one name may mean.
type nameMatches struct {
	hash, subject     string // empty: not searched by it
	below             bool   // the commit that names was seen
	ended             bool
	both              string // the commit that both mean
	byHash, bySubject []string
}

// newNameSearch leaves out the hashes that are missing, and names that have nothing besides.
func newNameSearch(wanted []Named, missing map[string]bool) *nameSearch {
	s := &nameSearch{
		open:      map[Named]*nameMatches{},
		by:        map[string][]*nameMatches{},
		bySubject: map[string][]*nameMatches{},
		byHash:    map[string][]*nameMatches{},
	}
	for _, name := range wanted {
		m := &nameMatches{subject: normalizeSubject(name.Subject)}
		if len(name.Hash) >= keyDigits && !missing[name.Hash] {
			m.hash = name.Hash
		}
		if s.open[name] != nil || m.hash == "" && m.subject == "" {
			continue
		}
		s.open[name] = m
		s.by[name.By] = append(s.by[name.By], m)
		if m.hash != "" {
			key := m.hash[:keyDigits]
			s.byHash[key] = append(s.byHash[key], m)
		}
		if m.subject != "" {
			s.bySubject[m.subject] = append(s.bySubject[m.subject], m)
		}
	}
	s.left = len(s.open)
	return s
}

// normalizeSubject makes one of the ways in which blanks are written.
func normalizeSubject(subject string) string {
	return strings.Join(strings.Fields(strings.ToValidUTF8(subject, "\uFFFD")), " ")
}

// see notes which names mean a commit.
func (s *nameSearch) see(hash, subject string) {
	for _, m := range s.bySubject[subject] {
		if s.searches(m) && len(m.bySubject) < maxMatches {
			m.bySubject = append(m.bySubject, hash)
			s.endIfFull(m)
		}
	}
	for _, m := range s.byHash[hash[:keyDigits]] {
		if !s.searches(m) || !strings.HasPrefix(hash, m.hash) {
			continue
		}
		if len(m.byHash) < maxMatches {
			m.byHash = append(m.byHash, hash)
		}
		if m.subject != "" && m.subject == subject {
			m.both = hash
		}
		s.endIfFull(m)
	}
	for _, m := range s.by[hash] {
		m.below = true
	}
}

// searches reports whether a commit may be one that a name means.
func (s *nameSearch) searches(m *nameMatches) bool {
	return !m.ended && (m.below || s.anywhere)
}

// endIfFull ends the search for a name for which nothing else counts any more.
func (s *nameSearch) endIfFull(m *nameMatches) {
	bySubject := m.subject == "" || len(m.bySubject) == maxMatches
	byHash := m.hash == "" || len(m.byHash) == maxMatches
	if m.both != "" || bySubject && byHash {
		m.ended = true
		s.left--
	}
}

// closeFound ends the search for the names that mean a commit.
func (s *nameSearch) closeFound(found map[Named][]string) {
	for name, m := range s.open {
		hashes := m.bySubject
		switch {
		case m.both != "":
			hashes = []string{m.both}
		case len(m.byHash) > 0 && len(m.hash) >= commit.MinHash:
			hashes = m.byHash
		}
		if len(hashes) == 0 {
			continue
		}
		found[name] = hashes
		delete(s.open, name)
		if !m.ended {
			m.ended = true
			s.left--
		}
	}
}
