package history

import (
	"bufio"
	"context"
	"errors"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"ctl.internal/plugins/repoinfo/commit"
	"ctl.internal/plugins/repoinfo/counts"
	"ctl.internal/plugins/repoinfo/gitcmd"
	"ctl.internal/plugins/repoinfo/jobs"
	"ctl.internal/plugins/repoinfo/turns"
)

// Lister walks histories.
type Lister struct {
	Counts       *counts.Table
	Jobs         *jobs.Store
	MessageLimit int // bytes of a message; what is longer is cut

	mu      sync.Mutex
	unknown map[string]bool // projects with commits that cannot be counted
}

// Result is what is known after a walk.
type Result struct {
	Commits int
	Unknown int  // commits whose counts are not known
	More    bool // the limit was reached and there are more
	Next    int  // Offset of the next page
}

// errEnough ends a walk whose limit is reached.
var errEnough = errors.New("enough commits")

type job struct {
	run  []commit.Commit
	done chan error
}

// Walk lists commits and hands them to emit in git's order, a run at a time. Between two
// runs it pauses when the turn has lasted long enough; turn may be nil.
func (l *Lister) Walk(ctx context.Context, r Repo, q Query, turn *turns.Turn,
	emit func([]commit.Commit) error) (res Result, err error) {
	workers := runtime.GOMAXPROCS(0) // git processes that count at once
	group, ctx := errgroup.WithContext(ctx)
	ordered, work := make(chan job, 2*workers+2), make(chan job)
	group.Go(func() error {
		defer close(ordered)
		defer close(work)
		return l.readCommits(ctx, r, &q, func(run []commit.Commit) error {
			j := job{run: run, done: make(chan error, 1)}
			stations := []chan job{ordered, work}
			if !q.Files && (!q.Stats || l.Counts.Look(q.countOptions(), run) == 0) {
				j.done <- nil
				stations = stations[:1]
			}
			for _, to := range stations {
				select {
				case to <- j:
				case <-ctx.Done():
					return ctx.Err()
				}
			}
			return nil
		})
	})
	if q.Stats || q.Files {
		boundary := readShallow(r.Dir)
		for range workers {
			group.Go(func() error {
				d := &counts.Differ{
					Git:      r.Git,
					Dir:      r.Dir,
					Options:  q.countOptions(),
					Boundary: boundary,
					Files:    q.Files,
				}
				defer d.Close()
				for j := range work {
					j.done <- l.countRun(ctx, d, j.run)
				}
				return nil
			})
		}
	}
	group.Go(func() error {
		for {
			j, more, err := receiveYielding(ctx, turn, ordered)
			if err != nil || !more {
				return err
			}
			failed, _, err := receiveYielding(ctx, turn, j.done)
			if err := errors.Join(err, failed); err != nil {
				return err
			}
			if err := res.takeRun(&q, j.run, emit); err != nil {
				return err
			}
			if turn != nil {
				if err := turn.Pause(ctx); err != nil {
					return err
				}
			}
		}
	})
	err = group.Wait() // before res is read
	if errors.Is(err, errEnough) {
		err = nil
	}
	if err == nil && res.Unknown > 0 {
		l.noteUnknown(r.Project, true)
	}
	return res, err
}

// receiveYielding receives from a channel. While nothing comes, others may have the turn's place.
func receiveYielding[T any](
	ctx context.Context,
	turn *turns.Turn,
	ch <-chan T,
) (v T, ok bool, err error) {
	for {
		select {
		case v, ok = <-ch:
			return v, ok, nil
		default:
		}
		var late <-chan time.Time
		if turn != nil {
			late = turn.Late()
		}
		select {
		case v, ok = <-ch:
			return v, ok, nil
		case <-ctx.Done():
			return v, false, ctx.Err()
		case <-late:
			if err := turn.Pause(ctx); err != nil {
				return v, false, err
			}
		}
	}
}

func (l *Lister) countRun(ctx context.Context, d *counts.Differ, run []commit.Commit) error {
	if !d.Files {
		return l.Counts.Fill(ctx, d.Options, d, run)
	}
	hashes := make([][]byte, len(run))
	for i := range run {
		run[i].State, hashes[i] = commit.Unknown, run[i].Hash
	}
	return d.Count(ctx, hashes, func(i int, lines commit.Lines, files []commit.File) {
		run[i].State, run[i].Lines, run[i].Files = commit.Known, lines, files
	})
}

// takeRun hands a run on, up to the limit.
func (res *Result) takeRun(q *Query, run []commit.Commit, emit func([]commit.Commit) error) error {
	enough := false
	left := q.Limit - res.Commits
	if q.Limit > 0 && len(run) > left {
		run, enough = run[:left], true
	}
	if len(run) > 0 {
		res.Next = run[len(run)-1].Position + 1
		res.Commits += len(run)
		for i := range run {
			if run[i].State == commit.Unknown {
				res.Unknown++
			}
		}
		if err := emit(run); err != nil {
			return err
		}
	}
	if enough {
		res.More = true
		return errEnough
	}
	return nil
}

// Count keeps the counts of everything that branches and tags reach, and returns how many
// commits that were and how many lack an object.
func (l *Lister) Count(ctx context.Context, r Repo, renames bool, turn *turns.Turn,
	progress func(done int)) (res Result, err error) {
	q := Query{Renames: renames}
	if q.View, err = r.View(ctx); err != nil {
		return res, err
	}
	d := &counts.Differ{
		Git:      r.Git,
		Dir:      r.Dir,
		Options:  q.countOptions(),
		Boundary: readShallow(r.Dir),
	}
	defer d.Close()
	open, err := r.readableRefArgs(ctx)
	if err != nil {
		return res, err
	}
	p, err := r.Git.Start(
		ctx,
		gitcmd.Call{
			Dir:        r.Dir,
			Args:       append([]string{"rev-list"}, open...),
			Background: true,
		},
	)
	if err != nil {
		return res, err
	}
	defer p.Close()
	defer l.Counts.Flush()
	lines := bufio.NewScanner(p.Stdout)
	for more := true; more; {
		var run []commit.Commit
		for more = lines.Scan(); more; more = lines.Scan() {
			run = append(run, commit.Commit{Hash: []byte(lines.Text())})
			if len(run) == 2*runCommits {
				break
			}
		}
		if err := l.Counts.Fill(ctx, d.Options, d, run); err != nil {
			return res, err
		}
		if err := res.takeRun(&q, run, func([]commit.Commit) error {
			return nil
		}); err != nil {
			return res, err
		}
		progress(res.Commits)
		if err := turn.Pause(ctx); err != nil {
			return res, err
		}
	}
	if err := errors.Join(lines.Err(), p.Wait()); err != nil {
		return res, err
	}
	l.noteUnknown(r.Project, res.Unknown > 0)
	return res, nil
}

func (l *Lister) noteUnknown(project string, unknown bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.unknown == nil {
		l.unknown = map[string]bool{}
	}
	l.unknown[project] = unknown
}

// Incomplete reports whether commits of a project are known to lack objects: its answers
// with counts change when the objects come.
func (l *Lister) Incomplete(project string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.unknown[project]
}
