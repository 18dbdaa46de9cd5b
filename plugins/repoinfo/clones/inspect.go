package clones

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"ctl.internal/plugins/repoinfo/gitcmd"
	"ctl.internal/plugins/repoinfo/history"
)

// State says whether a clone can answer.
type State string

// Ok answers everything. Empty has no commits. Shallow and Partial lack
// history or objects, so some counts stay unknown. Damaged lacks commits, as only a
// walk finds out; lists that need them are aborted. Unreadable answers nothing.
const (
	Ok         State = "ok"
	Empty      State = "empty"
	Shallow    State = "shallow"
	Partial    State = "partial"
	Damaged    State = "damaged"
	Unreadable State = "unreadable"
)

// Info is what is known of one clone.
type Info struct {
	Project  string `json:"project"`
	Kind     string `json:"kind"`
	State    State  `json:"state"`
	Branches int    `json:"branches"`
	Tags     int    `json:"tags"`
	Mirrored bool   `json:"mirrored"`
	Problem  string `json:"problem,omitempty"`
}

// Inspect looks at every clone. A bad one is reported, not an error.
func (f *Folder) Inspect(ctx context.Context) ([]Info, error) {
	all, err := f.searchClones(ctx)
	if err != nil {
		return nil, err
	}
	list := make([]Info, len(all))
	for i, p := range all {
		if list[i], err = f.inspectClone(ctx, p); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func (f *Folder) inspectClone(ctx context.Context, p found) (Info, error) {
	info := Info{Project: p.project, Kind: p.kind, State: Ok}
	if p.kind == Broken {
		info.State, info.Problem = Unreadable, p.why
		return info, nil
	}
	info.Mirrored = f.isMirror(p.dir)
	if store := missingAlternate(p.dir); store != "" {
		info.State, info.Problem = Unreadable, cannotBorrow(p.project, store).Error()
		return info, nil
	}
	out, err := f.git.Output(ctx, gitcmd.Call{Dir: p.dir,
		Args: []string{"for-each-ref", "--format=%(refname)", "refs/heads/", "refs/tags/"}})
	if err != nil {
		if _, ran := gitcmd.ExitCode(err); !ran {
			return info, err
		}
		info.State, info.Problem = Unreadable, err.Error()
		return info, nil
	}
	for line := range strings.Lines(string(out)) {
		if strings.HasPrefix(line, "refs/heads/") {
			info.Branches++
		} else {
			info.Tags++
		}
	}
	promisors, _ := filepath.Glob(filepath.Join(p.dir, "objects", "pack", "*.promisor"))
	switch {
	case pathExists(filepath.Join(p.dir, "shallow")):
		info.State, info.Problem = Shallow, "history is cut: git fetch --unshallow completes it"
	case len(promisors) > 0:
		info.State, info.Problem = Partial, "a partial clone: the counts of commits whose objects are not here stay unknown"
	case info.Branches+info.Tags == 0:
		head, err := history.Repo{
			Git:     f.git,
			Project: p.project,
			Dir:     p.dir,
		}.Head(ctx)
		if err != nil {
			return info, err
		}
		if head == "" {
			info.State = Empty
		}
	}
	return info, nil
}

func pathExists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
