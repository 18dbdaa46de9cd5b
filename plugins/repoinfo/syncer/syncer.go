package syncer

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"ctl.internal/plugins/repoinfo/clones"
	"ctl.internal/plugins/repoinfo/counts"
	"ctl.internal/plugins/repoinfo/gitcmd"
	"ctl.internal/plugins/repoinfo/history"
	"ctl.internal/sdk/fault"
)

// Syncer mirrors the sources and counts every clone.
type Syncer struct {
	Folder   *clones.Folder
	Lister   *history.Lister
	Options  counts.Options
	Sources  func(ctx context.Context) ([]clones.Source, error) // nil = nothing is mirrored
	Interval time.Duration                                      // 0 = only on command
	Parallel int
	Timeout  time.Duration // of one project
	Log      *slog.Logger

	mu      sync.Mutex
	turn    chan struct{} // holds a token while a sync runs
	status  map[string]Status
	cloning map[string]bool
}

// Status is what the last run did with one project.
type Status struct {
	When    time.Time
	Err     error
	Counted int  // commits with known counts
	Unknown int  // commits whose counts cannot be told
	Damaged bool // git cannot walk the whole history
	refs    string
}

// Step is a piece of progress.
type Step struct {
	Project string
	Text    string
	Done    int // projects finished
	Total   int
}

// Run syncs at once and then at every interval, until ctx is done.
func (s *Syncer) Run(ctx context.Context) {
	for {
		if _, err := s.Sync(ctx, "", func(Step) {}); err != nil && ctx.Err() == nil {
			s.Log.Warn("the clones could not be synced", "error", err)
		}
		if s.Interval <= 0 {
			return
		}
		timer := time.NewTimer(s.Interval)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
	}
}

// Sync mirrors and counts all projects, or only one. It returns the projects it
// looked at; what failed for one is in its Status. Only one Sync runs at a time,
// the next one waits for its turn.
func (s *Syncer) Sync(ctx context.Context, only string, progress func(Step)) ([]string, error) {
	leave, err := s.enter(ctx, progress)
	if err != nil {
		return nil, err
	}
	defer leave()
	sources, sourcesErr := s.sources(ctx)
	names, err := s.Folder.Projects(ctx)
	if err != nil {
		return nil, err
	}
	byName := map[string]clones.Source{}
	for _, src := range sources {
		byName[src.Project] = src
		names = append(names, src.Project)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if only != "" {
		if !slices.Contains(names, only) {
			return nil, errors.Join(sourcesErr, fault.New(fault.NotFound, "project %s is neither among the clones nor among the sources", only))
		}
		names = []string{only}
	}
	s.expect(names, byName)
	group, gctx := errgroup.WithContext(ctx)
	group.SetLimit(max(1, s.Parallel))
	var mu sync.Mutex
	done := 0
	for _, name := range names {
		group.Go(func() error {
			step := func(text string) {
				mu.Lock()
				defer mu.Unlock()
				progress(Step{Project: name, Text: text, Done: done, Total: len(names)})
			}
			src, mirrored := byName[name]
			s.one(gctx, name, src, mirrored, step)
			mu.Lock()
			done++
			mu.Unlock()
			step("done")
			return gctx.Err()
		})
	}
	return names, errors.Join(group.Wait(), sourcesErr)
}

func (s *Syncer) enter(ctx context.Context, progress func(Step)) (leave func(), err error) {
	s.mu.Lock()
	if s.turn == nil {
		s.turn = make(chan struct{}, 1)
	}
	turn := s.turn
	s.mu.Unlock()
	select {
	case turn <- struct{}{}:
		return func() { <-turn }, nil
	default:
	}
	progress(Step{Text: "waiting for the sync that runs"})
	select {
	case turn <- struct{}{}:
		return func() { <-turn }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (s *Syncer) sources(ctx context.Context) ([]clones.Source, error) {
	if s.Sources == nil {
		return nil, nil
	}
	return s.Sources(ctx)
}

// one brings one project up to date. What goes wrong is its status.
func (s *Syncer) one(ctx context.Context, name string, src clones.Source, mirrored bool, step func(string)) {
	st := s.Status(name)
	st.When, st.Err = time.Now(), nil
	changed := false
	if mirrored {
		step("fetching")
		changed, st.Err = s.Folder.Mirror(ctx, src, s.Timeout)
		s.arrived(name)
	}
	if changed {
		s.Lister.Counts.Forget(name)
	}
	s.count(ctx, name, &st, step)
	if ctx.Err() != nil {
		return
	}
	if st.Err != nil {
		s.Log.Warn("a project could not be synced", "project", name, "error", st.Err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.status == nil {
		s.status = map[string]Status{}
	}
	s.status[name] = st
}

// count warms the counts, so that no caller has to wait for them. A project
// whose references have not moved since is left in peace.
func (s *Syncer) count(ctx context.Context, name string, st *Status, step func(string)) {
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
		var res history.Result
		res, err = s.Lister.Count(ctx, repo, s.Options, func(done int) {
			if done%4096 < 256 {
				step("counting")
			}
		})
		exit := (*gitcmd.ExitError)(nil)
		if st.Damaged = errors.As(err, &exit); st.Damaged {
			err = fault.Wrap(fault.Internal, err, "%s: the history is damaged; git fsck names all that is missing, a new clone cures it", exit.Reason())
		}
		if err == nil {
			st.refs, st.Counted, st.Unknown = refs, res.Commits-res.Unknown, res.Unknown
		}
	}
	st.Err = errors.Join(st.Err, err)
}

// Status returns what the last run did with a project.
func (s *Syncer) Status(project string) Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.status[project]
}

// Cloning reports whether a project is on its way here for the first time.
func (s *Syncer) Cloning(project string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cloning[project]
}

// expect notes which projects are about to be fetched.
func (s *Syncer) expect(names []string, sources map[string]clones.Source) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cloning = map[string]bool{}
	for _, name := range names {
		if _, mirrored := sources[name]; mirrored {
			s.cloning[name] = true
		}
	}
}

func (s *Syncer) arrived(project string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.cloning, project)
}
