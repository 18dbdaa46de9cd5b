// Package meta reads the file about a project in its own repository: PROJECT_INFO.yaml,
// or the INFO.yaml that took its place. It may come from anybody who can push, so
// anchors, depth and size are bounded.
package meta

import (
	"context"
	"strconv"
	"strings"

	"ctl.internal/plugins/repoinfo/gitcmd"
	"ctl.internal/plugins/repoinfo/history"
	"ctl.internal/sdk/fault"
)

// Files are the names looked for in the root of a branch, the first one first.
var Files = [...]string{"PROJECT_INFO.yaml", "INFO.yaml"}

// Read returns the meta information in the tree of a commit.
func Read(ctx context.Context, r history.Repo, commit string) (map[string]any, error) {
	var feed strings.Builder
	for _, name := range Files {
		feed.WriteString(commit + ":" + name + "\n")
	}
	out, err := r.Git.Output(ctx, gitcmd.Call{Dir: r.Dir, Args: []string{"cat-file", "--batch-check"},
		Stdin: feed.String()})
	if err != nil {
		return nil, err
	}
	for i, line := range strings.Split(strings.TrimSuffix(string(out), "\n"), "\n") {
		f := strings.Fields(line)
		if len(f) != 3 || f[1] != "blob" || i >= len(Files) {
			continue
		}
		if size, err := strconv.ParseInt(f[2], 10, 64); err != nil || size > MaxBytes {
			return nil, fault.At(fault.Malformed, Files[i], "the file is longer than %d KiB", MaxBytes>>10)
		}
		text, err := r.Git.Output(ctx, gitcmd.Call{Dir: r.Dir, Args: []string{"cat-file", "blob", f[0]}})
		if err != nil {
			return nil, err
		}
		return Parse(Files[i], text)
	}
	return nil, fault.New(fault.NotFound, "project %s has neither %s nor %s", r.Project, Files[0], Files[1])
}
