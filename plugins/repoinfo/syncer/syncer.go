// Package syncer decides when clones are mirrored and counted: all sources at an interval
// or on command, one failing project never harming the others. Fetching and counting
// have places of their own, so that a large history that is counted holds up no fetch.
// The work on one project is package clones' and package history's.
package syncer

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"ctl.internal/internal/together"
	"ctl.internal/plugins/repoinfo/clones"
	"ctl.internal/plugins/repoinfo/history"
	"ctl.internal/plugins/repoinfo/turns"
	"ctl.internal/sdk/fault"
)

// Syncer mirrors the sources and counts every clone. Make it with New.
type Syncer struct {
	Options

	counting *turns.Queue
	fetching *semaphore.Weighted // places of the syncs at the interval
	asked    *semaphore.Weighted // places of those on command

	mu      sync.Mutex
	turns   map[string]*semaphore.Weighted // by project: taken while it is at work
	status  map[string]Status
	cloning map[string]bool
}

// Options are what a Syncer works with.
type Options struct {
	Folder   *clones.Folder
	Lister   *history.Lister
	Renames  bool
	Sources  func(ctx context.Context) ([]clones.Source, error) // nil = nothing is mirrored
	Interval time.Duration                                      // 0 = only on command
	Parallel int                                                // fetches, and counts, at a time
	Timeout  time.Duration                                      // of one project: fetch, and count
	Log      *slog.Logger
}

// New makes a Syncer; nothing runs yet.
func New(o Options) *Syncer {
	o.Parallel = max(1, o.Parallel)
	const many = 1 << 30
	return &Syncer{
		Options:  o,
		fetching: semaphore.NewWeighted(int64(o.Parallel)),
		asked:    semaphore.NewWeighted(int64(o.Parallel)),
		counting: &turns.Queue{
			Places:  o.Parallel,
			Started: o.Parallel,
			Waiting: many,
			Total:   many,
			Slice:   time.Second,
		},
		turns:   map[string]*semaphore.Weighted{},
		status:  map[string]Status{},
		cloning: map[string]bool{},
	}
}

// Status is what the last run did with one project.
type Status struct {
	When    time.Time
	Err     error
	Counted int  // commits with known counts
	Unknown int  // commits whose counts cannot be known
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

// Run syncs at once and then at every interval, until ctx is done. A project that is
// still at work from the time before is left alone.
func (s *Syncer) Run(ctx context.Context) {
	var group sync.WaitGroup
	defer group.Wait()
	for {
		names, sources, err := s.listProjects(ctx, "")
		if err != nil &&
			ctx.Err() == nil &&
			fault.KindOf(err) != fault.NotFound { // none yet is no fault
			s.Log.Warn("the clones cannot be synced", "error", err)
		}
		for _, name := range names {
			if turn := s.projectTurn(name); turn.TryAcquire(1) {
				group.Go(func() {
					defer s.releaseTurn(name, turn)
					s.syncProject(ctx, name, sources, s.fetching, "interval", func(string) {})
				})
			}
		}
		if s.Interval <= 0 || together.Sleep(ctx, s.Interval) != nil {
			return
		}
	}
}

// Sync mirrors and counts all projects, or only one, and returns those that it looked at;
// what failed for one is in its Status. A project at work is waited for, then done again.
func (s *Syncer) Sync(ctx context.Context, only string, progress func(Step)) ([]string, error) {
	names, sources, err := s.listProjects(ctx, only)
	if len(names) == 0 {
		return nil, err
	}
	var group sync.WaitGroup
	var mu sync.Mutex
	done := 0
	for _, name := range names {
		group.Go(func() {
			step := func(text string) {
				mu.Lock()
				defer mu.Unlock()
				progress(Step{
					Project: name,
					Text:    text,
					Done:    done,
					Total:   len(names),
				})
			}
			turn := s.projectTurn(name)
			if !turn.TryAcquire(1) {
				step("waiting for the sync of this project that runs")
				if turn.Acquire(ctx, 1) != nil {
					return
				}
			}
			defer s.releaseTurn(name, turn)
			s.syncProject(ctx, name, sources, s.asked, "asked "+only, step)
			mu.Lock()
			done++
			mu.Unlock()
			step("done")
		})
	}
	group.Wait()
	return names, errors.Join(err, ctx.Err())
}

// listProjects lists what there is to sync. The names are valid beside an error, too.
func (s *Syncer) listProjects(
	ctx context.Context,
	only string,
) ([]string, map[string]clones.Source, error) {
	var list []clones.Source
	var sourcesErr error
	if s.Sources != nil {
		list, sourcesErr = s.Sources(ctx)
	}
	names, err := s.Folder.Projects(ctx)
	if err != nil {
		return nil, nil, err
	}
	have := slices.Clone(names)
	sources := map[string]clones.Source{}
	for _, src := range list {
		sources[src.Project] = src
		names = append(names, src.Project)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if len(names) == 0 && sourcesErr == nil {
		return nil, nil, fault.New(fault.NotFound,
			"there is nothing to sync: %s holds no clone, and etc/repoinfo.yaml names no source", s.Folder.Dir())
	}
	if only != "" {
		if !slices.Contains(names, only) {
			return nil, nil, errors.Join(sourcesErr,
				fault.New(
					fault.NotFound,
					"project %s is neither among the clones nor among the sources",
					only,
				))
		}
		names = []string{only}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range names {
		_, mirrored := sources[name]
		if mirrored && !slices.Contains(have, name) {
			s.cloning[name] = true
		}
	}
	return names, sources, sourcesErr
}

// projectTurn is taken while somebody is at work on the project.
func (s *Syncer) projectTurn(project string) *semaphore.Weighted {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.turns[project] == nil {
		s.turns[project] = semaphore.NewWeighted(1)
	}
	return s.turns[project]
}

func (s *Syncer) releaseTurn(project string, turn *semaphore.Weighted) {
	s.mu.Lock()
	delete(s.cloning, project)
	s.mu.Unlock()
	turn.Release(1)
}
