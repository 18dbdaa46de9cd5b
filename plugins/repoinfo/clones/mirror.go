package clones

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"ctl.internal/plugins/repoinfo/gitcmd"
	"ctl.internal/plugins/repoinfo/history"
	"ctl.internal/plugins/repoinfo/refname"
	"ctl.internal/sdk/fault"
)

// Source is a repository to mirror.
type Source struct {
	Project string
	URL     string
	// Header is sent with every HTTP request ("Authorization: …"); it travels in
	// the child's environment, never in its arguments.
	Header string
}

// Limits of one project's mirroring.
const (
	askTimeout  = time.Minute
	gateTimeout = time.Minute
)

// mirrorKey marks the clones that mirroring made; the others are the
// operator's own and are never written to.
const mirrorKey = "ctl.mirror"

// Mirror brings one project up to date: branches and tags only, deleted ones
// removed. A project that is not there yet appears when it is whole. changed
// says whether any reference moved.
func (f *Folder) Mirror(
	ctx context.Context,
	s Source,
	timeout time.Duration,
) (changed bool, err error) {
	if err := refname.Project(s.Project); err != nil {
		return false, err
	}
	unlock, err := f.lockProject(s.Project)
	if err != nil {
		return false, err
	}
	defer unlock()
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	dir, there := f.findClone(s.Project)
	if there && !f.isMirror(dir) {
		return false, fault.New(fault.Exists,
			"project %s is a clone that was not made by mirroring: take it off the sources, or remove %s", s.Project, dir)
	}
	if !there {
		return true, f.createClone(ctx, s)
	}
	before, err := f.refsState(ctx, dir)
	if err != nil {
		return false, err
	}
	if err := retryUnlocked(dir, func() error {
		return f.fetchRefs(ctx, dir, s)
	}); err != nil {
		return false, err
	}
	after, err := f.refsState(ctx, dir)
	if err != nil || before == after {
		return false, err
	}
	return true, retryUnlocked(dir, func() error {
		return f.maintainClone(ctx, dir, s.Project)
	})
}

// createClone clones beside the project's place and moves the result there, so that
// no reader sees a partial clone. The next attempt uses what a failed attempt left.
func (f *Folder) createClone(ctx context.Context, s Source) error {
	work := f.hiddenPath("incoming", s.Project)
	if !isRepository(work) {
		if err := f.initMirror(ctx, work, "sha1"); err != nil {
			return err
		}
	}
	err := retryUnlocked(work, func() error { return f.fetchRefs(ctx, work, s) })
	if format := otherFormat(err); format != "" {
		if err = f.initMirror(ctx, work, format); err == nil {
			err = f.fetchRefs(ctx, work, s)
		}
	}
	if err != nil {
		return err
	}
	if err := retryUnlocked(work, func() error {
		return f.maintainClone(ctx, work, s.Project)
	}); err != nil {
		return err
	}
	place := filepath.Join(f.dir, filepath.FromSlash(s.Project)+".git")
	if err := os.MkdirAll(filepath.Dir(place), 0o755); err != nil {
		return err
	}
	if info, err := os.Lstat(place); err == nil && info.IsDir() {
		if err := os.Remove(place); err != nil { // only what is empty goes
			return fault.New(
				fault.Exists,
				"%s blocks a clone and is not a repository: remove it",
				place,
			)
		}
	}
	return os.Rename(work, place)
}

// initMirror makes an empty mirror in place of whatever is there; format is the one of its
// object names.
func (f *Folder) initMirror(ctx context.Context, dir, format string) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return fault.Wrap(
			fault.Unavailable,
			err,
			"the directory of clones %s cannot be written: %v",
			f.dir,
			err,
		)
	}
	for _, args := range [][]string{{"init", "--quiet", "--initial-branch=master", "--object-format=" + format},
		{"config", mirrorKey, "true"}} {
		if _, err := f.git.Output(ctx, gitcmd.Call{
			Dir:  dir,
			Args: args,
		}); err != nil {
			return err
		}
	}
	return nil
}

// otherFormat returns the object format of a source, when a fetch failed because
// the mirror has another. Nothing reports it earlier for every transport.
func otherFormat(err error) string {
	for _, format := range []string{"sha1", "sha256"} {
		if gitcmd.Said(err, "mismatched algorithms") && gitcmd.Said(err, "server "+format+"\n") {
			return format
		}
	}
	return ""
}

// fetchRefs gets branches and tags and removes those that are gone, in one
// transaction, then lets HEAD follow. A branch whose name has become a folder of
// branches does not fit into a transaction of git's; such a fetch goes in steps.
func (f *Folder) fetchRefs(ctx context.Context, dir string, s Source) error {
	env := s.gitEnviron()
	err := f.runFetch(ctx, dir, s, env, "--atomic")
	if gitcmd.Said(err, "cannot lock ref") {
		err = f.runFetch(ctx, dir, s, env, "--no-atomic")
	}
	if err != nil {
		return s.explainError(err)
	}
	out, err := f.git.Output(ctx, gitcmd.Call{
		Dir:     dir,
		Network: true,
		Env:     env,
		Timeout: askTimeout,
		Args:    []string{"ls-remote", "--symref", "--end-of-options", s.URL, "HEAD"},
	})
	if err != nil {
		return s.explainError(err)
	}
	line, _, _ := strings.Cut(string(out), "\n")
	target, _, ok := strings.Cut(strings.TrimPrefix(line, "ref: "), "\t")
	if !ok || !strings.HasPrefix(target, "refs/heads/") || refname.Ref("HEAD", target) != nil {
		return nil // a server that does not say so: HEAD stays
	}
	_, err = f.git.Output(
		ctx,
		gitcmd.Call{
			Dir:  dir,
			Args: []string{"symbolic-ref", "HEAD", target},
		},
	)
	return err
}

func (f *Folder) runFetch(
	ctx context.Context,
	dir string,
	s Source,
	env []string,
	mode string,
) error {
	_, err := f.git.Output(ctx, gitcmd.Call{
		Dir:        dir,
		Network:    true,
		Env:        env,
		Timeout:    24 * time.Hour,
		Background: true,
		Args: []string{"fetch", "--quiet", "--prune", mode, "--force", "--no-tags", "--no-write-fetch-head",
			"--no-auto-maintenance",
			"--no-recurse-submodules", "--end-of-options", s.URL, "+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"},
	})
	return err
}

func (s Source) gitEnviron() []string {
	if s.Header == "" {
		return nil
	}
	// A header would go along to wherever the server redirects to.
	return []string{"GIT_CONFIG_COUNT=2", "GIT_CONFIG_KEY_0=http." + s.URL + ".extraHeader",
		"GIT_CONFIG_VALUE_0=" + s.Header,
		"GIT_CONFIG_KEY_1=http.followRedirects", "GIT_CONFIG_VALUE_1=false"}
}

func (s Source) explainError(err error) error {
	if exit := (*gitcmd.ExitError)(nil); errors.As(err, &exit) {
		return fault.Wrap(fault.Downstream, err, "%s (mirrored from %s)", exit.Reason(), s.URL)
	}
	return err
}

// maintainClone writes the commit graph, which makes every later walk cheaper, and packs
// a clone that has become fragmented, while there is no reader.
func (f *Folder) maintainClone(ctx context.Context, dir, project string) error {
	if _, err := f.git.Output(ctx, gitcmd.Call{
		Dir: dir,
		Args: []string{"commit-graph", "write", "--reachable",
			"--split"},
		Background: true,
		Timeout:    time.Hour,
	}); err != nil {
		return err
	}
	packs, err := filepath.Glob(filepath.Join(dir, "objects", "pack", "*.pack"))
	if err != nil || len(packs) < f.packs {
		return err
	}
	wait, cancel := context.WithTimeout(ctx, gateTimeout)
	defer cancel()
	release, err := f.gates.acquireWrite(wait, project)
	if err != nil {
		return ctx.Err() // somebody reads on and on: the next time, then
	}
	defer release()
	_, err = f.git.Output(ctx, gitcmd.Call{
		Dir:        dir,
		Args:       []string{"gc", "--quiet", "--prune=2.weeks.ago"},
		Background: true,
		Timeout:    time.Hour,
	})
	return err
}

// refsState changes when a reference of a mirror does.
func (f *Folder) refsState(ctx context.Context, dir string) (string, error) {
	return history.Repo{Git: f.git, Dir: dir}.References(ctx)
}

func (f *Folder) isMirror(dir string) bool {
	data, err := os.ReadFile(filepath.Join(dir, "config"))
	return err == nil && strings.Contains(string(data), "[ctl]\n\tmirror = true")
}

// lockProject keeps a second process (the old one during a reload) from mirroring the
// same project.
func (f *Folder) lockProject(project string) (unlock func(), err error) {
	path := f.hiddenPath("lock", project)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, fault.Wrap(
			fault.Unavailable,
			err,
			"the directory of clones %s cannot be written: %v",
			f.dir,
			err,
		)
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		_ = file.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, fault.New(fault.InUse, "project %s is being mirrored already", project)
		}
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return func() { _ = file.Close() }, nil
}

// hiddenPath is a place in the directory of clones that is no project.
func (f *Folder) hiddenPath(what, project string) string {
	return filepath.Join(
		f.dir,
		"."+what,
		strings.ReplaceAll(project, "/", "%"),
	) // no project has a "%"
}
