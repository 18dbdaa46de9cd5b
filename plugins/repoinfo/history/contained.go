package history

import (
	"bufio"
	"context"
	"errors"
	"strings"

	"ctl.internal/plugins/repoinfo/gitcmd"
)

// ResolveHashes returns the full hashes of commits by their shortened ones. What names no commit, or several, is left
// out. It does not say whether a branch leads to them.
func (r Repo) ResolveHashes(ctx context.Context, hashes []string) (map[string]string, error) {
	full := map[string]string{}
	if len(hashes) == 0 {
		return full, nil
	}
	names := make([]string, len(hashes))
	for i, hash := range hashes {
		names[i] = hash + "^{commit}"
	}
	objects, err := r.Objects(ctx, names...)
	if err != nil {
		return nil, err
	}
	for i, o := range objects {
		// a branch may have the name of a hash, and git prefers it
		if o.Kind == "commit" && strings.HasPrefix(o.Hash, hashes[i]) {
			full[hashes[i]] = o.Hash
		}
	}
	return full, nil
}

// Contains returns those of the commits, given by full hashes, that are in the history of tip.
func (r Repo) Contains(ctx context.Context, tip string, hashes []string) (map[string]bool, error) {
	contained := map[string]bool{}
	if len(hashes) == 0 {
		return contained, nil
	}
	for _, hash := range hashes {
		contained[hash] = true
	}
	call := gitcmd.Call{
		Dir:   r.Dir,
		Args:  []string{"rev-list", "--stdin"},
		Stdin: strings.Join(hashes, "\n") + "\n^" + tip + "\n",
	}
	p, err := r.Git.Start(ctx, call)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	lines := bufio.NewScanner(p.Stdout)
	for lines.Scan() {
		delete(contained, lines.Text())
	}
	return contained, errors.Join(lines.Err(), p.Wait())
}
