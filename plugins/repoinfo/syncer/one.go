package syncer

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/semaphore"

	"ctl.internal/plugins/repoinfo/clones"
	"ctl.internal/plugins/repoinfo/gitcmd"
	"ctl.internal/plugins/repoinfo/history"
	"ctl.internal/plugins/repoinfo/turns"
	"ctl.internal/sdk/fault"
)

// syncProject brings one project up to date. What goes wrong is its status.
func (s *Syncer) syncProject(ctx context.Context, name string, sources map[string]clones.Source, places *semaphore.Weighted,
	user string, step func(string)) {
	st := s.Status(name)
	st.When, st.Err = time.Now(), nil
	if src, mirrored := sources[name]; mirrored {
		if places.Acquire(ctx, 1) != nil {
			return
		}
		step("fetching")
		_, st.Err = s.Folder.Mirror(ctx, src, s.Timeout)
		places.Release(1)
		s.mu.Lock()
		delete(s.cloning, name)
		s.mu.Unlock()
	}
	s.countProject(ctx, name, &st, user, step)
	if ctx.Err() != nil {
		return
	}
	if st.Err != nil {
		s.Log.Warn("a project could not be synced", "project", name, "error", st.Err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status[name] = st
}

// countProject keeps the counts, so that callers need not wait for them. A project whose
// references have not moved since is left alone.
func (s *Syncer) countProject(
	ctx context.Context,
	name string,
	st *Status,
	user string,
	step func(string),
) {
	ctx, cancel := context.WithTimeout(ctx, s.Timeout)
	defer cancel()
	repo, release, err := s.Folder.Open(ctx, name)
	if err != nil {
		if st.Err == nil {
			st.Err = err
		}
		return
	}
	defer release()
	refs, err := repo.References(ctx)
	if err == nil && (refs != st.refs || st.Unknown > 0) {
		turn := s.counting.New(user, name)
		defer turn.End()
		if err = turn.Begin(ctx); err == nil {
			err = s.countCommits(ctx, repo, turn, refs, st, step)
		}
	}
	st.Err = errors.Join(st.Err, err)
}

func (s *Syncer) countCommits(ctx context.Context, repo history.Repo, turn *turns.Turn, refs string, st *Status,
	step func(string)) error {
	res, err := s.Lister.Count(ctx, repo, s.Renames, turn, func(done int) {
		if done%4096 < 256 {
			step("counting")
		}
	})
	exit := (*gitcmd.ExitError)(nil)
	if st.Damaged = errors.As(err, &exit); st.Damaged {
		return fault.Wrap(fault.Internal, err,
			"%s: the history is damaged; git fsck names all that is missing, a new clone cures it", exit.Reason())
	}
	if err == nil {
		st.refs, st.Counted, st.Unknown = refs, res.Commits-res.Unknown, res.Unknown
	}
	return err
}

// Status returns what the last run did with a project.
func (s *Syncer) Status(project string) Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.status[project]
}

// Cloning reports whether a project is being fetched for the first time.
func (s *Syncer) Cloning(project string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cloning[project]
}
