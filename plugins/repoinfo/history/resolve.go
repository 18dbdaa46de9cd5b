package history

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"ctl.internal/plugins/repoinfo/commit"
	"ctl.internal/plugins/repoinfo/gitcmd"
	"ctl.internal/plugins/repoinfo/refname"
	"ctl.internal/sdk/fault"
)

// Repo is a repository that is read.
type Repo struct {
	Git     *gitcmd.Git
	Project string
	Dir     string // its git directory, absolute
	AllRefs bool   // references outside refs/heads and refs/tags may be read
}

// Resolve returns the commits that references name, in order: a branch first,
// then a tag, a full reference, a hash. kind is used in the error of the first
// one that names nothing ("branch", "reference").
func (r Repo) Resolve(ctx context.Context, kind string, refs ...string) ([]string, error) {
	var names []string
	for _, ref := range refs {
		if strings.HasPrefix(ref, "refs/") &&
			!r.AllRefs &&
			!strings.HasPrefix(ref, "refs/heads/") &&
			!strings.HasPrefix(ref, "refs/tags/") {
			return nil, fault.New(fault.Denied,
				"%s %s of project %s is neither a branch nor a tag: the setting all_refs opens the others", kind, ref, r.Project)
		}
		names = append(names, refCandidates(ref)...)
	}
	objects, err := r.Objects(ctx, names...)
	if err != nil {
		return nil, err
	}
	hashes := make([]string, len(refs))
	for i, ref := range refs {
		n := len(refCandidates(ref))
		at := slices.IndexFunc(objects[:n], func(o Object) bool {
			return o.Kind == "commit"
		})
		if at >= 0 {
			hashes[i] = objects[at].Hash
		}
		objects = objects[n:]
		if hashes[i] == "" && ref == "HEAD" {
			return nil, r.noHead(ctx)
		}
		if at == 2 && refname.Hash(ref) {
			if ok, err := r.isReachable(ctx, hashes[i]); err != nil {
				return nil, err
			} else if !ok {
				hashes[i] = ""
			}
		}
		if hashes[i] == "" {
			return nil, fault.New(
				fault.NotFound,
				"%s %s was not found in project %s",
				kind,
				ref,
				r.Project,
			)
		}
	}
	return hashes, nil
}

// Object is what a name stands for; its zero value is nothing.
type Object struct {
	Hash, Kind string // Kind: "commit", "blob", …
	Size       int64
}

// Objects returns what names stand for, in their order.
func (r Repo) Objects(ctx context.Context, names ...string) ([]Object, error) {
	out, err := r.Git.Output(
		ctx,
		gitcmd.Call{
			Dir:   r.Dir,
			Args:  []string{"cat-file", "--batch-check"},
			Stdin: strings.Join(names, "\n") + "\n",
		},
	)
	if err != nil {
		return nil, err
	}
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(lines) != len(names) {
		return nil, fault.New(
			fault.Internal,
			"git cat-file answered %d lines instead of %d",
			len(lines),
			len(names),
		)
	}
	objects := make([]Object, len(names))
	for i, line := range lines {
		if f := strings.Fields(line); len(f) == 3 {
			size, err := strconv.ParseInt(f[2], 10, 64)
			if err == nil {
				objects[i] = Object{f[0], f[1], size}
			}
		}
	}
	return objects, nil
}

// isReachable reports whether a branch or a tag leads to a commit: a hash must not open
// what the references that are closed lead to.
func (r Repo) isReachable(ctx context.Context, hash string) (bool, error) {
	if r.AllRefs {
		return true, nil
	}
	open, err := r.readableRefArgs(ctx)
	if err != nil {
		return false, err
	}
	out, err := r.Git.Output(
		ctx,
		gitcmd.Call{
			Dir:  r.Dir,
			Args: append([]string{"rev-list", "--max-count=1", hash, "--not"}, open...),
		},
	)
	return err == nil && len(out) == 0, err
}

// readableRefArgs are git's arguments for all that may be read: branches, tags, and HEAD, which in a clone without branches leads
// to a commit of its own.
func (r Repo) readableRefArgs(ctx context.Context) ([]string, error) {
	args := []string{"--branches", "--tags"}
	head, err := r.Head(ctx)
	if head != "" {
		args = append(args, head)
	}
	return args, err
}

// Head is the commit that HEAD names, empty if there is none yet.
func (r Repo) Head(ctx context.Context) (string, error) {
	objects, err := r.Objects(ctx, "HEAD^{commit}")
	if err != nil || objects[0].Kind != "commit" {
		return "", err
	}
	return objects[0].Hash, nil
}

// noHead says why HEAD names no commit.
func (r Repo) noHead(ctx context.Context) error {
	out, err := r.Git.Output(
		ctx,
		gitcmd.Call{
			Dir:  r.Dir,
			Args: []string{"symbolic-ref", "--quiet", "HEAD"},
		},
	)
	if _, ran := gitcmd.ExitCode(err); err != nil && !ran {
		return err
	}
	branch := strings.TrimPrefix(strings.TrimSpace(string(out)), "refs/heads/")
	return fault.New(
		fault.NotFound,
		"branch %s was not found in project %s: its HEAD names this branch, and there is no commit yet",
		cmp.Or(branch, "HEAD"),
		r.Project,
	)
}

// refCandidates are what a name may mean, in order; git prints a branch whose name is also that of a tag as heads/NAME.
func refCandidates(ref string) []string {
	names := []string{"refs/heads/" + ref + "^{commit}", "refs/tags/" + ref + "^{commit}"}
	switch {
	case strings.HasPrefix(ref, "refs/"), ref == "HEAD", refname.Hash(ref):
		names = append(names, ref+"^{commit}")
	case strings.HasPrefix(ref, "heads/"), strings.HasPrefix(ref, "tags/"):
		names = append(names, "refs/"+ref+"^{commit}")
	}
	return names
}

// View is a digest of all that changes histories and counts besides the objects: where a
// shallow clone ends, grafts, replaced objects, attributes. It is empty without any.
func (r Repo) View(ctx context.Context) (string, error) {
	replaced, err := r.replacedObjects(ctx)
	if err != nil {
		return "", err
	}
	sum, found := sha256.New(), len(replaced) > 0
	sum.Write(replaced)
	for _, name := range []string{"shallow", "info/grafts", "info/attributes", "config"} {
		text, err := os.ReadFile(filepath.Join(r.Dir, name))
		if errors.Is(err, fs.ErrNotExist) || len(text) == 0 || (name == "config" && !found) {
			continue // the configuration counts only with attributes, whose drivers it defines
		}
		if err != nil {
			return "", err
		}
		found = true
		fmt.Fprintf(sum, "\x00%s\x00", name)
		sum.Write(text)
	}
	if !found {
		return "", nil
	}
	return hex.EncodeToString(sum.Sum(nil)[:16]), nil
}

// replacedObjects lists the replaced objects. git is asked only where there may be some.
func (r Repo) replacedObjects(ctx context.Context) ([]byte, error) {
	packed, err := os.ReadFile(filepath.Join(r.Dir, "packed-refs"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	loose := false
	for _, name := range []string{"refs/replace", "reftable"} {
		_, err := os.Lstat(filepath.Join(r.Dir, name))
		loose = loose || err == nil
	}
	if !loose && !bytes.Contains(packed, []byte(" refs/replace/")) {
		return nil, nil
	}
	return r.Git.Output(ctx, gitcmd.Call{Dir: r.Dir,
		Args: []string{"for-each-ref", "--format=%(objectname) %(refname)", "refs/replace/"}})
}

// readShallow reads the commits where a shallow clone ends. Git shows them as roots,
// which their counts must not say.
func readShallow(dir string) map[string]bool {
	data, err := os.ReadFile(filepath.Join(dir, "shallow"))
	if err != nil {
		return nil
	}
	set := map[string]bool{}
	for line := range strings.Lines(string(data)) {
		set[strings.TrimSpace(line)] = true
	}
	return set
}

// Default returns the commit that a caller means who names no branch: that of
// master, or of HEAD where there is no master.
func (r Repo) Default(ctx context.Context) (string, error) {
	objects, err := r.Objects(ctx, "refs/heads/master^{commit}", "HEAD^{commit}")
	if err != nil {
		return "", err
	}
	for _, o := range objects {
		if o.Kind == "commit" {
			return o.Hash, nil
		}
	}
	return "", r.noHead(ctx)
}

// MergeBase returns the common parent of two commits. Unrelated histories are a
// fault of kind Exists (a conflict).
func (r Repo) MergeBase(ctx context.Context, a, b string) (string, error) {
	out, err := r.Git.Output(ctx, gitcmd.Call{
		Dir:  r.Dir,
		Args: []string{"merge-base", a, b},
	})
	if code, ran := gitcmd.ExitCode(err); ran && code == 1 {
		return "", fault.Wrap(
			fault.Exists,
			err,
			"the two references have no common ancestor in project %s",
			r.Project,
		)
	}
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(string(out)), nil
}

// Branches lists the short names of all branches by name.
func (r Repo) Branches(ctx context.Context) ([]string, error) {
	out, err := r.Git.Output(ctx, gitcmd.Call{Dir: r.Dir,
		Args: []string{"for-each-ref", "--format=%(refname)", "refs/heads/"}})
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
	out, err := r.Git.Output(ctx, gitcmd.Call{Dir: r.Dir,
		Args: []string{"for-each-ref", "--format=%(objectname) %(refname)", "refs/heads/", "refs/tags/"}})
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

// Committed is when a commit was committed, in seconds since the epoch.
func (r Repo) Committed(ctx context.Context, hash string) (int64, error) {
	out, err := r.Git.Output(
		ctx,
		gitcmd.Call{
			Dir:  r.Dir,
			Args: []string{"cat-file", "commit", hash},
		},
	)
	if err != nil {
		return 0, err
	}
	c := commit.Parse([]byte(hash), out)
	return c.Committer.When, nil
}
