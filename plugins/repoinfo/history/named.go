package history

import (
	"bufio"
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"ctl.internal/plugins/repoinfo/gitcmd"
)

// Named is how one commit names another: by the beginning of its hash, by its subject, or by both.
type Named struct {
	By      string // full hash of the commit that names; what it names is older
	Hash    string
	Subject string
}

// FindNamed returns the full hashes of the commits that are named, several where the name is ambiguous. They are
// searched in the history of tip below the commit that names and, where there is none, among what base has besides.
func (r Repo) FindNamed(
	ctx context.Context,
	tip, base string,
	wanted []Named,
) (map[Named][]string, error) {
	found := map[Named][]string{}
	if len(wanted) == 0 {
		return found, nil
	}
	s := newNameSearch(wanted)
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
		if hash != "commit" { // the line that git writes before each
			s.see(hash, normalizeSubject(subject))
		}
	}
}

// nameSearch looks for commits by name.
type nameSearch struct {
	open      map[Named]*nameMatches
	by        map[string][]*nameMatches // that begin to be searched below a commit
	bySubject map[string][]*nameMatches
	byHash    []*nameMatches
	anywhere  bool
}

// nameMatches are the commits that one name may mean.
type nameMatches struct {
	name              Named
	below             bool // the commit that names was seen
	byHash, bySubject []string
}

func newNameSearch(wanted []Named) *nameSearch {
	s := &nameSearch{
		open:      map[Named]*nameMatches{},
		by:        map[string][]*nameMatches{},
		bySubject: map[string][]*nameMatches{},
	}
	for _, name := range wanted {
		if s.open[name] != nil {
			continue
		}
		m := &nameMatches{name: name}
		s.open[name] = m
		s.by[name.By] = append(s.by[name.By], m)
		if name.Hash != "" {
			s.byHash = append(s.byHash, m)
		}
		if subject := normalizeSubject(name.Subject); subject != "" {
			s.bySubject[subject] = append(s.bySubject[subject], m)
		}
	}
	return s
}

// normalizeSubject makes one of the ways in which blanks are written.
func normalizeSubject(subject string) string {
	return strings.Join(strings.Fields(strings.ToValidUTF8(subject, "\uFFFD")), " ")
}

// see notes which names mean a commit.
func (s *nameSearch) see(hash, subject string) {
	for _, m := range s.bySubject[subject] {
		if m.below || s.anywhere {
			m.bySubject = append(m.bySubject, hash)
		}
	}
	for _, m := range s.byHash {
		if (m.below || s.anywhere) && strings.HasPrefix(hash, m.name.Hash) {
			m.byHash = append(m.byHash, hash)
		}
	}
	for _, m := range s.by[hash] {
		m.below = true
	}
}

// closeFound ends the search for the names that mean a commit. A hash counts more than a subject, which decides between
// several.
func (s *nameSearch) closeFound(found map[Named][]string) {
	for name, m := range s.open {
		hashes := m.byHash
		if len(hashes) == 0 {
			hashes = m.bySubject
		}
		both := slices.DeleteFunc(slices.Clone(m.byHash), func(hash string) bool {
			return !slices.Contains(m.bySubject, hash)
		})
		if len(both) > 0 {
			hashes = both
		}
		if len(hashes) > 0 {
			found[name] = hashes
			delete(s.open, name)
		}
	}
}
