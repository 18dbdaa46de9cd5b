// Package clones owns the folder of repositories: it finds projects in it, says
// what state they are in, and mirrors them from elsewhere.
package clones

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"ctl.internal/plugins/repoinfo/gitcmd"
	"ctl.internal/plugins/repoinfo/history"
	"ctl.internal/plugins/repoinfo/refname"
	"ctl.internal/sdk/fault"
)

// Folder is a folder of clones, bare (a/b.git or a/b) or normal (a/b/.git); the
// path below it without ".git" is the project's name.
type Folder struct {
	AllRefs bool // references outside refs/heads and refs/tags may be read

	dir   string
	git   *gitcmd.Git
	gates gates
	packs int // from so many on, a mirror is packed
}

// NewFolder uses dir, which may be made later.
func NewFolder(dir string, git *gitcmd.Git) (*Folder, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "the directory of clones %s cannot be used", dir)
	}
	return &Folder{dir: abs, git: git, packs: manyPacks}, nil
}

// Dir is the folder.
func (f *Folder) Dir() string { return f.dir }

// manyPacks is where reading begins to suffer.
const manyPacks = 40

// Bounds of the search for clones.
const (
	maxDepth    = 12
	maxProjects = 100_000
)

// Open finds a project for reading. release must be called after the last read:
// until then nothing is removed from the repository.
func (f *Folder) Open(
	ctx context.Context,
	project string,
) (r history.Repo, release func(), err error) {
	if err := refname.Project(project); err != nil {
		return r, nil, err
	}
	dir, ok := f.findClone(project)
	if !ok {
		return r, nil, fault.New(
			fault.NotFound,
			"project %s was not found among the clones",
			project,
		)
	}
	if store := missingAlternate(dir); store != "" {
		return r, nil, cannotBorrow(project, store)
	}
	release, err = f.gates.acquireRead(ctx, project)
	if err != nil {
		return r, nil, err
	}
	return history.Repo{
		Git:     f.git,
		Project: project,
		Dir:     dir,
		AllRefs: f.AllRefs,
	}, release, nil
}

func (f *Folder) findClone(project string) (dir string, ok bool) {
	base := filepath.Join(f.dir, filepath.FromSlash(project))
	for _, dir := range []string{base + ".git", base, filepath.Join(base, ".git")} {
		if isRepository(dir) {
			return dir, true
		}
	}
	return "", false
}

// isRepository applies git's own test: HEAD, objects and references.
func isRepository(dir string) bool {
	info, err := os.Lstat(filepath.Join(dir, "HEAD"))
	if err != nil || info.IsDir() {
		return false
	}
	for _, sub := range []string{"objects", "refs"} {
		info, err := os.Stat(filepath.Join(dir, sub))
		if err != nil || !info.IsDir() {
			return false
		}
	}
	return true
}

// found is what the search came upon.
type found struct {
	project string
	dir     string // of git; the folder itself for a broken one
	kind    string // bare, normal or broken
	why     string // it is broken
}

// Projects lists the names of all projects that can be read.
func (f *Folder) Projects(ctx context.Context) ([]string, error) {
	all, err := f.searchClones(ctx)
	if err != nil {
		return nil, err
	}
	names := []string{}
	for _, p := range all {
		if p.kind != Broken {
			names = append(names, p.project)
		}
	}
	return names, nil
}

// Kinds of what is found: a clone without and with a work tree, and what cannot be
// read as a project.
const (
	Bare   = "bare"
	Normal = "normal"
	Broken = "broken"
)

func (f *Folder) searchClones(ctx context.Context) ([]found, error) {
	var list []found
	err := f.searchDirectory(ctx, f.dir, "", 0, &list)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil // nothing was cloned yet
	}
	if err != nil {
		return nil, err
	}
	sort.SliceStable(list, func(i, j int) bool {
		return list[i].project < list[j].project
	})
	for i := range list {
		if p := &list[i]; p.kind != Broken {
			dir, ok := f.findClone(p.project)
			if ok && dir != p.dir {
				p.kind, p.why = Broken, "project "+p.project+" is read from "+dir+": rename this one, "+p.dir
			}
		}
	}
	return list, nil
}

func (f *Folder) searchDirectory(
	ctx context.Context,
	dir, name string,
	depth int,
	list *[]found,
) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		if name == "" {
			return err
		}
		*list = append(*list, found{
			project: strings.TrimSuffix(name, "/"),
			dir:     dir,
			kind:    Broken,
			why:     "the folder cannot be read: " + err.Error(),
		})
		return nil
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		info, err := os.Stat(path) // a link to a clone counts
		if err != nil || !info.IsDir() || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		project := strings.TrimSuffix(name+e.Name(), ".git")
		if len(*list) >= maxProjects {
			return fault.New(
				fault.TooBig,
				"the directory of clones %s has more than %d projects",
				f.dir,
				maxProjects,
			)
		}
		if p, ok := classifyDirectory(path); ok {
			p.project = project
			if err := refname.Project(project); err != nil {
				p.kind, p.why = Broken, fault.All(err)[0].Text+": rename "+path
			}
			*list = append(*list, p)
		} else if depth < maxDepth &&
			e.Type()&fs.ModeSymlink == 0 &&
			refname.Project(project) == nil {
			if err := f.searchDirectory(ctx, path, name+e.Name()+"/", depth+1, list); err != nil {
				return err
			}
		}
	}
	return nil
}

// classifyDirectory says what a folder is, when it is meant to be a clone.
func classifyDirectory(dir string) (p found, ok bool) {
	inner := filepath.Join(dir, ".git")
	info, err := os.Lstat(inner)
	switch {
	case isRepository(dir):
		return found{dir: dir, kind: Bare}, true
	case isRepository(inner):
		return found{dir: inner, kind: Normal}, true
	case err == nil && info.Mode().IsRegular():
		return found{dir: dir, kind: Broken,
			why: "a work tree whose repository lies elsewhere: put that, or a clone of it, here"}, true
	case strings.HasSuffix(dir, ".git"):
		return found{dir: dir, kind: Broken,
			why: "the folder holds no git repository: remove it, or clone into it again"}, true
	}
	return found{}, false
}
