package feature

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/home"
	"ctl.internal/internal/nearest"
	"ctl.internal/sdk/fault"
)

// maxRepo bounds a file of features, in bytes.
const maxRepo = 1 << 20

// AddOptions are those of feature:repo-add.
type AddOptions struct {
	Install  bool   // all its features
	Unsigned bool   // the file need not be signed
	Key      string // public key to trust, in minisign's form
	By       string // who trusts it
}

// AddRepository adds the features of a file (a path or file:// address) to the
// catalogue and keeps its text. With Install all are installed.
// A key that is not trusted yet is an *UntrustedError.
func (m *Manager) AddRepository(
	ctx context.Context,
	url string,
	o AddOptions,
) (RepoInfo, Change, error) {
	b, path, err := readRepo(url)
	if err != nil {
		return RepoInfo{}, Change{}, err
	}
	r, ps := ParseRepository(path, b)
	if len(ps) == 0 {
		ps = r.findForbiddenGrants()
	}
	if err := home.Fatal(ps); err != nil {
		return RepoInfo{}, Change{}, fault.Wrap(fault.Invalid, err, "%v", err)
	}
	sig, err := readSignature(path)
	if err == nil {
		err = r.checkAddable(sig, o, time.Now())
	}
	if err != nil {
		return RepoInfo{}, Change{}, err
	}
	var signer Signer
	var trusted bool
	c, err := m.runChange(ctx, func() (Change, error) {
		before, again := m.added.repos[r.Name]
		if !again && m.repo.Repository(r.Name) != nil {
			return Change{}, fault.New(
				fault.Exists,
				"the repository %q is already in the catalogue",
				r.Name,
			)
		}
		if err := r.checkFollows(before, sig); err != nil {
			return Change{}, err
		}
		next, record := m.added.clone(), repoRecord{
			URL:  path,
			Text: b,
		}
		var ops []datastore.Op
		if sig != nil {
			var err error
			if signer, err = sig.trustedSigner(path, m.added.keys, o.Key, before.Key); err != nil {
				return Change{}, err
			}
			record.Signature, record.Key = sig.text, signer.Key
			known, have := m.added.keys[signer.ID]
			if trusted = !have || known.Revoked || known.Key != signer.Key; trusted {
				next.keys[signer.ID] = keyRecord{
					Key: signer.Key,
					By:  o.By,
					At:  time.Now().UTC(),
				}
				ops = append(ops, putJSON(keyPrefix+signer.ID, next.keys[signer.ID]))
			}
			if err := record.verifySignature(next.keys); err != nil {
				return Change{}, fault.New(fault.Denied, "%s: %v", path, err)
			}
		}
		next.repos[r.Name] = record
		return m.changeCatalogue(ctx, next, false, func(s *state) {
			if o.Install {
				for _, f := range r.Features {
					if f.Ready() && !s.hasRequirement(f.Name) {
						s.addRequirement(Requirement{Name: f.Name})
					}
				}
			}
		}, append(ops, putJSON(repoPrefix+r.Name, record))...)
	})
	if err == nil && trusted && m.o.Trusted != nil {
		m.o.Trusted(signer, o.By, true)
	}
	return RepoInfo{
		Name:     r.Name,
		URL:      path,
		Added:    true,
		SignedBy: signer.ID,
	}, c, err
}

// putJSON stores a record of strings, bytes and times.
func putJSON(key string, v any) datastore.Op {
	value, _ := json.Marshal(v)
	return datastore.Put(namespace, key, value)
}

func (r *Repository) isExpired(now time.Time) bool {
	return !r.Expires.IsZero() && !now.Before(r.Expires.AddDate(0, 0, 1))
}

// checkAddable checks what must be so before a key is looked at.
func (r *Repository) checkAddable(sig *signature, o AddOptions, now time.Time) error {
	switch {
	case sig == nil && o.Key != "":
		return fault.New(
			fault.Denied,
			"%s is not signed: there is no %s%s in the same directory, so --key cannot be checked",
			r.URL,
			r.URL,
			signatureSuffix,
		)
	case sig == nil && !o.Unsigned:
		return fault.New(fault.Denied, "%s is not signed: there is no %s%s in the same directory. Its author creates it with minisign -Sm %s; "+
			"--unsigned adds it without, which feature:repo-list and plugin:info then show", r.URL, r.URL, signatureSuffix, filepath.Base(r.URL))
	case sig == nil:
		return nil
	case r.isExpired(now):
		return fault.New(
			fault.Denied,
			"%s expired on %s: ask its author for a newer one",
			r.URL,
			r.Expires.Format(time.DateOnly),
		)
	}
	for _, f := range r.Features {
		for _, p := range f.Plugins {
			if p.SHA256 == "" {
				return fault.New(
					fault.Invalid,
					"%s: feature %s names plugin %s without its sha256; a signed catalogue must have the checksum of each program",
					r.URL,
					f.Name,
					p.Name,
				)
			}
		}
	}
	return nil
}

// checkFollows refuses an older catalogue in the place of a newer one, and one without a signature in that of a signed one.
func (r *Repository) checkFollows(before repoRecord, sig *signature) error {
	if before.Key != "" && sig == nil {
		return fault.New(
			fault.Denied,
			"the catalogue %s is signed, and %s is not: fetch its signature, or remove the catalogue with feature:repo-remove first",
			r.Name,
			r.URL,
		)
	}
	old, _ := ParseRepository(before.URL, before.Text)
	if old != nil && r.Serial < old.Serial {
		return fault.New(
			fault.Denied,
			"%s is older (serial %d) than the installed catalogue %s (serial %d)",
			r.URL,
			r.Serial,
			r.Name,
			old.Serial,
		)
	}
	return nil
}

func readRepo(url string) ([]byte, string, error) {
	path, isFile := strings.CutPrefix(url, "file://")
	if !isFile && strings.Contains(url, "://") {
		return nil, "", fault.New(
			fault.Unsupported,
			"%s: repositories are added from files only; fetch it first",
			url,
		)
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, "", fault.Wrap(fault.Invalid, err, "%v", err)
	}
	b, err := home.ReadBounded(path, maxRepo)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, "", fault.Wrap(fault.NotFound, err, "%v", err)
	case err != nil:
		return nil, "", fault.Wrap(fault.Invalid, err, "%v", err)
	}
	return b, path, nil
}

// RemoveRepository takes away a repository that was added. While features of it
// are installed that is refused, unless uninstall is asked for.
func (m *Manager) RemoveRepository(
	ctx context.Context,
	name string,
	uninstall bool,
) (Change, error) {
	return m.runChange(ctx, func() (Change, error) {
		if _, ok := m.added.repos[name]; !ok {
			if r := m.repo.Repository(name); r != nil {
				return Change{}, fault.New(
					fault.Denied,
					"repository %s is the file %s; remove this file and run feature:repo-refresh",
					name,
					r.URL,
				)
			}
			return Change{}, fault.New(
				fault.NotFound,
				"no added repository %q%s",
				name,
				nearest.Hint(name, slices.Collect(maps.Keys(m.added.repos))),
			)
		}
		var used []string
		for _, f := range m.plan.Features {
			if f.Repository == name {
				used = append(used, f.Name)
			}
		}
		if len(used) > 0 && !uninstall {
			return Change{}, fault.New(
				fault.InUse,
				"features of repository %s are installed: %s; uninstall them first, or use -u",
				name,
				strings.Join(used, ", "),
			)
		}
		next := m.added.clone()
		delete(next.repos, name)
		return m.changeCatalogue(ctx, next, false, func(s *state) {
			for _, n := range used {
				s.releaseRequirement(n)
			}
		}, datastore.Delete(namespace, repoPrefix+name))
	})
}

// Refresh reads the files of the catalogue again and applies what follows, such
// as newer versions of what is installed.
func (m *Manager) Refresh(ctx context.Context) (Change, error) {
	return m.runChange(ctx, func() (Change, error) {
		return m.changeCatalogue(ctx, m.added, false, func(*state) {})
	})
}

// changeCatalogue changes catalogue and state together, or neither: a feature that is installed and cannot be had any more
// is an error, unless it was revoked, or lose says that this is what is wanted.
func (m *Manager) changeCatalogue(
	ctx context.Context,
	next added,
	lose bool,
	edit func(*state),
	ops ...datastore.Op,
) (Change, error) {
	repo, problems, err := readCatalogue(m.o.Dir, next)
	if err != nil {
		return Change{}, err
	}
	before, had := m.repo, m.added
	m.withLock(func() { m.repo, m.added = repo, next })
	wanted := m.state.clone()
	edit(&wanted)
	c, err := m.changeState(ctx, wanted, wish{blame: func(name string, why error) error {
		if lose || errors.As(why, new(revokedError)) {
			return nil
		}
		return fault.Wrap(
			fault.KindOf(why),
			why,
			"the catalogue is unchanged, because %s is no longer available: %v",
			name,
			why,
		)
	}}, ops...)
	if err != nil {
		m.withLock(func() { m.repo, m.added = before, had })
		return Change{}, err
	}
	m.withLock(func() { m.problems = problems })
	return c, nil
}

// Check validates the catalogue of a home offline, for `ctl config validate`:
// that every file parses and every feature that is ready can be resolved.
func Check(dir home.Dir) []home.Problem {
	repo, ps, err := readCatalogue(dir, added{})
	if err != nil && len(ps) > 0 {
		return ps
	}
	if err != nil {
		return []home.Problem{{
			File: dir.Catalogue()[0],
			Text: err.Error(),
		}}
	}
	for _, f := range repo.All() {
		if !f.Ready() {
			continue
		}
		if _, err := Closure([]Requirement{{f.Name, Exactly(f.Version)}}, repo); err != nil {
			ps = append(
				ps,
				home.Problem{
					File:    repo.Repository(f.Repository).URL,
					Key:     f.Name,
					Text:    fmt.Sprint(err),
					Warning: fault.KindOf(err) == fault.Unsupported,
				},
			)
		}
	}
	return ps
}
