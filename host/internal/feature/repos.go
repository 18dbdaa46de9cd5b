package feature

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/home"
	"ctl.internal/internal/nearest"
	"ctl.internal/sdk/fault"
)

// maxRepo bounds a file of features, in bytes.
const maxRepo = 1 << 20

// AddRepository adds the features of a file (a path or file:// address) to the
// catalogue and keeps its text. Those marked auto are installed, with install all.
func (m *Manager) AddRepository(ctx context.Context, url string, install bool) (RepoInfo, Change, error) {
	b, path, err := readRepo(url)
	if err != nil {
		return RepoInfo{}, Change{}, err
	}
	r, ps := ParseRepository(path, b)
	if len(ps) == 0 {
		ps = r.grantless()
	}
	if err := home.Fatal(ps); err != nil {
		return RepoInfo{}, Change{}, fault.Wrap(fault.Invalid, err, "%v", err)
	}
	record := repoRecord{path, b}
	value, err := json.Marshal(record)
	if err != nil {
		return RepoInfo{}, Change{}, err
	}
	c, err := m.changing(ctx, func() (Change, error) {
		if _, again := m.added[r.Name]; !again && slices.ContainsFunc(m.repo.Repositories(), func(o *Repository) bool { return o.Name == r.Name }) {
			return Change{}, fault.New(fault.Exists, "a repository %q is in the catalogue already", r.Name)
		}
		added := maps.Clone(m.added)
		added[r.Name] = record
		return m.recatalogue(ctx, added, func(s *state) {
			if install {
				for _, f := range r.Features {
					if f.Ready() && !s.requires(f.Name) {
						s.require(Requirement{Name: f.Name})
					}
				}
			}
		}, datastore.Put(namespace, repoPrefix+r.Name, value))
	})
	return RepoInfo{r.Name, path, true}, c, err
}

func readRepo(url string) ([]byte, string, error) {
	path, isFile := strings.CutPrefix(url, "file://")
	if !isFile && strings.Contains(url, "://") {
		return nil, "", fault.New(fault.Unsupported, "%s: repositories are added from files only; fetch it first", url)
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, "", fault.Wrap(fault.Invalid, err, "%v", err)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, "", fault.Wrap(fault.NotFound, err, "%v", err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxRepo+1))
	if err != nil {
		return nil, "", fault.Wrap(fault.Invalid, err, "%v", err)
	}
	if len(b) > maxRepo {
		return nil, "", fault.New(fault.TooBig, "%s has more than %d bytes", path, maxRepo)
	}
	return b, path, nil
}

// RemoveRepository takes away a repository that was added. While features of it
// are installed that is refused, unless uninstall is asked for.
func (m *Manager) RemoveRepository(ctx context.Context, name string, uninstall bool) (Change, error) {
	return m.changing(ctx, func() (Change, error) { return m.removeRepository(ctx, name, uninstall) })
}

func (m *Manager) removeRepository(ctx context.Context, name string, uninstall bool) (Change, error) {
	if _, ok := m.added[name]; !ok {
		for _, r := range m.repo.Repositories() {
			if r.Name == name {
				return Change{}, fault.New(fault.Denied, "repository %s is the file %s; remove that and run feature:repo-refresh", name, r.URL)
			}
		}
		return Change{}, fault.New(fault.NotFound, "no repository %q was added%s", name, nearest.Hint(name, slices.Collect(maps.Keys(m.added))))
	}
	var used []string
	for _, f := range m.plan.Features {
		if f.Repository == name {
			used = append(used, f.Name)
		}
	}
	if len(used) > 0 && !uninstall {
		return Change{}, fault.New(fault.InUse, "features of repository %s are installed: %s; uninstall them first, or use -u", name, strings.Join(used, ", "))
	}
	added := maps.Clone(m.added)
	delete(added, name)
	return m.recatalogue(ctx, added, func(s *state) {
		s.Auto = slices.DeleteFunc(s.Auto, func(n string) bool { return n == name })
		for _, n := range used {
			s.release(n)
		}
	}, datastore.Delete(namespace, repoPrefix+name))
}

// Refresh reads the files of the catalogue again and applies what follows, such
// as newer versions of what is installed.
func (m *Manager) Refresh(ctx context.Context) (Change, error) {
	return m.changing(ctx, func() (Change, error) { return m.recatalogue(ctx, m.added, func(*state) {}) })
}

// recatalogue changes catalogue and state together, or neither.
func (m *Manager) recatalogue(ctx context.Context, added map[string]repoRecord, edit func(*state), ops ...datastore.Op) (Change, error) {
	repo, problems, err := readCatalogue(m.o.Dir, added)
	if err != nil {
		return Change{}, err
	}
	oldRepo, oldBroken := m.repo, m.broken
	restore := func() { m.set(func() { m.repo, m.broken = oldRepo, oldBroken }) }
	m.set(func() { m.repo = repo })
	next := m.state.clone()
	edit(&next)
	m.requireAuto(&next)
	_, broken := m.salvage(next)
	m.set(func() { m.broken = broken })
	for name, why := range broken {
		if oldBroken[name] == nil {
			restore()
			return Change{}, fault.Wrap(fault.KindOf(why), why, "the catalogue is left as it was, because %s could not be had any more: %v", name, why)
		}
	}
	c, err := m.change(ctx, next, false, Agreement{}, ops...)
	if err != nil {
		restore()
		return Change{}, err
	}
	m.set(func() { m.added, m.problems = added, problems })
	return c, nil
}

// Check validates the catalogue of a home offline, for `ctl config validate`:
// that every file parses and every feature that is ready can be resolved.
func Check(dir home.Dir) []home.Problem {
	repo, ps, err := readCatalogue(dir, nil)
	if err != nil && len(ps) > 0 {
		return ps
	}
	if err != nil {
		return []home.Problem{{File: dir.Catalogue()[0], Text: err.Error()}}
	}
	files := map[string]string{} // by name of the repository
	for _, path := range dir.Catalogue() {
		if b, err := os.ReadFile(path); err == nil {
			if r, _ := ParseRepository(path, b); r != nil {
				files[r.Name] = path
			}
		}
	}
	for _, f := range repo.All() {
		if !f.Ready() {
			continue
		}
		if _, err := Closure([]Requirement{{f.Name, Exactly(f.Version)}}, repo); err != nil {
			ps = append(ps, home.Problem{File: files[f.Repository], Key: f.Name, Text: fmt.Sprint(err), Warning: fault.KindOf(err) == fault.Unsupported})
		}
	}
	return ps
}
