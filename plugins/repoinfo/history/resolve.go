package history

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"ctl.internal/plugins/repoinfo/gitcmd"
	"ctl.internal/plugins/repoinfo/refname"
	"ctl.internal/sdk/fault"
)

// Repo is a repository that is read.
type Repo struct {
	Git     *gitcmd.Git
	Project string
	Dir     string // its git directory, absolute
}

// Resolve returns the commits that references name, in order: a branch first,
// then a tag, a full reference, a hash. kind is used in the error of the first
// one that names nothing ("branch", "reference").
func (r Repo) Resolve(ctx context.Context, kind string, refs ...string) ([]string, error) {
	var feed strings.Builder
	counts := make([]int, len(refs))
	for i, ref := range refs {
		names := candidates(ref)
		counts[i] = len(names)
		for _, n := range names {
			feed.WriteString(n + "^{commit}\n")
		}
	}
	out, err := r.Git.Output(ctx, gitcmd.Call{Dir: r.Dir, Args: []string{"cat-file", "--batch-check"}, Stdin: feed.String()})
	if err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(bytes.NewReader(out))
	hashes := make([]string, len(refs))
	for i, ref := range refs {
		for range counts[i] {
			if !lines.Scan() {
				return nil, fault.New(fault.Internal, "git cat-file answered too few lines")
			}
			if f := strings.Fields(lines.Text()); hashes[i] == "" && len(f) == 3 && f[1] == "commit" {
				hashes[i] = f[0]
			}
		}
		if hashes[i] == "" {
			return nil, fault.New(fault.NotFound, "%s %s was not found in project %s", kind, ref, r.Project)
		}
	}
	return hashes, nil
}

func candidates(ref string) []string {
	names := []string{"refs/heads/" + ref, "refs/tags/" + ref}
	if strings.HasPrefix(ref, "refs/") || ref == "HEAD" || refname.Hash(ref) {
		names = append(names, ref)
	}
	return names
}

// Default returns the commit that a caller means who names no branch: that of
// master, or of HEAD where there is no master.
func (r Repo) Default(ctx context.Context) (string, error) {
	out, err := r.Git.Output(ctx, gitcmd.Call{Dir: r.Dir, Args: []string{"cat-file", "--batch-check"}, Stdin: "refs/heads/master^{commit}\nHEAD^{commit}\n"})
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(out)) {
		if f := strings.Fields(line); len(f) == 3 && f[1] == "commit" {
			return f[0], nil
		}
	}
	return "", fault.New(fault.NotFound, "branch master was not found in project %s, nor has it another default branch", r.Project)
}

// MergeBase returns the common parent of two commits. Unrelated histories are a
// fault of kind Exists (a conflict).
func (r Repo) MergeBase(ctx context.Context, a, b string) (string, error) {
	out, err := r.Git.Output(ctx, gitcmd.Call{Dir: r.Dir, Args: []string{"merge-base", a, b}})
	if code, ran := gitcmd.ExitCode(err); ran && code == 1 {
		return "", fault.Wrap(fault.Exists, err, "the two references have no common parent in project %s", r.Project)
	}
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(string(out)), nil
}

// Branches lists the short names of all branches by name.
func (r Repo) Branches(ctx context.Context) ([]string, error) {
	out, err := r.Git.Output(ctx, gitcmd.Call{Dir: r.Dir, Args: []string{"for-each-ref", "--format=%(refname)", "refs/heads/"}})
	if err != nil {
		return nil, err
	}
	names := []string{}
	for line := range strings.Lines(string(out)) {
		names = append(names, strings.TrimPrefix(strings.TrimSuffix(line, "\n"), "refs/heads/"))
	}
	return names, nil
}

// References is a digest of all branches and tags; it changes when one moves.
func (r Repo) References(ctx context.Context) (string, error) {
	out, err := r.Git.Output(ctx, gitcmd.Call{Dir: r.Dir, Args: []string{"for-each-ref", "--format=%(objectname) %(refname)", "refs/heads/", "refs/tags/"}})
	sum := sha256.Sum256(out)
	return hex.EncodeToString(sum[:]), err
}

// Since returns the commits between which the list of ref1 since ref2 lies: the
// commit of ref1 and the common parent of both.
func (r Repo) Since(ctx context.Context, ref1, ref2 string) (tip, base string, err error) {
	hashes, err := r.Resolve(ctx, "reference", ref1, ref2)
	if err != nil {
		return "", "", err
	}
	base, err = r.MergeBase(ctx, hashes[0], hashes[1])
	return hashes[0], base, err
}
