package counts

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"ctl.internal/plugins/repoinfo/gitcmd"
)

// wholeCommits returns those of the commits at index open whose trees and blobs are all in the
// repository. Trees are read, contents are not, so that a clone without contents costs
// a few processes for a run of commits and not one for each commit.
func (d *Differ) wholeCommits(ctx context.Context, hashes [][]byte, open []int) ([]int, error) {
	out, err := d.Git.Output(ctx, gitcmd.Call{
		Dir:   d.Dir,
		Args:  []string{"log", "--no-walk=unsorted", "--stdin", "--format=%H %T"},
		Stdin: string(joinHashes(hashes, open)),
	})
	if err != nil && !isExitError(err) {
		return nil, err
	}
	trees, ids := map[string][]string{}, map[string]bool{}
	for line := range strings.Lines(string(out)) {
		if hash, tree, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			trees[hash], ids[tree] = []string{tree}, true
		}
	}
	if open, err = d.commitsHaving(ctx, hashes, open, trees, ids); err != nil {
		return nil, err
	}
	out, err = d.Git.Output(ctx, gitcmd.Call{
		Dir:   d.Dir,
		Args:  append(diffTree("--raw"), "--no-renames", "--no-abbrev", "--no-color"),
		Stdin: string(joinHashes(hashes, open)),
	})
	if isExitError(err) {
		return open, nil // of a tree further down: what the caller finds one by one
	}
	if err != nil {
		return nil, err
	}
	needs, ids := parseNeededBlobs(out)
	return d.commitsHaving(ctx, hashes, open, needs, ids)
}

// commitsHaving returns those of the commits whose needs are in the repository. Of the
// commands of git only rev-list answers for objects of a partial clone without fetching.
func (d *Differ) commitsHaving(ctx context.Context, hashes [][]byte, open []int, needs map[string][]string,
	ids map[string]bool) ([]int, error) {
	var ask strings.Builder
	for id := range ids {
		ask.WriteString(id + "\n")
	}
	out, err := d.Git.Output(ctx, gitcmd.Call{
		Dir:   d.Dir,
		Stdin: ask.String(),
		Args: []string{"rev-list", "--no-walk", "--objects",
			"--no-object-names", "--ignore-missing", "--missing=allow-any", "--filter=tree:0", "--stdin"},
	})
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(out)) {
		delete(ids, strings.TrimSpace(line))
	}
	return slices.DeleteFunc(open, func(i int) bool {
		return slices.ContainsFunc(needs[string(hashes[i])], func(id string) bool {
			return ids[id]
		})
	}), nil
}

// parseNeededBlobs reads diff-tree --raw: the contents that each commit needs for its counts.
func parseNeededBlobs(out []byte) (needs map[string][]string, ids map[string]bool) {
	needs, ids = map[string][]string{}, map[string]bool{}
	hash := ""
	for line := range bytes.Lines(out) {
		f := strings.Fields(string(line))
		if len(f) == 1 && line[0] != ':' {
			hash = f[0]
			continue
		}
		if len(f) < 5 || f[2] == f[3] { // only the mode changed
			continue
		}
		for side, mode := range []string{strings.TrimPrefix(f[0], ":"), f[1]} {
			id := f[2+side]
			if mode != "000000" && mode != "160000" {
				needs[hash] = append(needs[hash], id)
				ids[id] = true
			}
		}
	}
	return needs, ids
}
