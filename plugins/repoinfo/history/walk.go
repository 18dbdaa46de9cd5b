package history

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"ctl.internal/plugins/repoinfo/commit"
	"ctl.internal/plugins/repoinfo/counts"
	"ctl.internal/plugins/repoinfo/gitcmd"
)

// Lister walks histories.
type Lister struct {
	Counts       *counts.Store
	MessageLimit int // bytes of a message; what is longer is cut and told
	Workers      int // git processes that count at once for one walk; 0 = one per CPU
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
	chunk *commit.Chunk
	done  chan error
}

// Walk lists commits and hands them to emit in git's order, a run at a time. A
// run is valid during the call only.
func (l *Lister) Walk(ctx context.Context, r Repo, q Query, emit func([]commit.Commit) error) (res Result, err error) {
	if q.Stats {
		res, err = l.counted(ctx, r, &q, emit)
	} else {
		// One goroutine: while it works, git fills the pipe, and the next read is a
		// large one. A second goroutine would mostly wake up and fall asleep.
		chunk := &commit.Chunk{}
		err = l.read(ctx, r, &q, func() *commit.Chunk { return chunk }, func(c *commit.Chunk) error {
			defer c.Reset()
			return res.take(&q, c.Commits, emit)
		})
	}
	if errors.Is(err, errEnough) {
		err = nil
	}
	return res, err
}

// counted is Walk with counts: runs are counted by several workers and put back
// in order.
func (l *Lister) counted(ctx context.Context, r Repo, q *Query, emit func([]commit.Commit) error) (res Result, err error) {
	workers := l.Workers
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	group, ctx := errgroup.WithContext(ctx)
	ordered := make(chan job, 2*workers+2)
	work := make(chan job)
	pool := sync.Pool{New: func() any { return &commit.Chunk{} }}
	table, release := l.Counts.Use(r.Project, q.Lines, len(q.Tip)/2)
	defer release()
	boundary := shallow(r.Dir)

	group.Go(func() error {
		defer close(ordered)
		defer close(work)
		return l.read(ctx, r, q, func() *commit.Chunk { return pool.Get().(*commit.Chunk) }, func(c *commit.Chunk) error {
			j := job{chunk: c, done: make(chan error, 1)}
			stations := []chan job{ordered, work}
			if table.Known(c.Commits) {
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
	for range workers {
		group.Go(func() error {
			d := &counts.Differ{Git: r.Git, Dir: r.Dir, Options: q.Lines, Boundary: boundary}
			defer d.Close()
			for j := range work {
				j.done <- table.Fill(ctx, d, j.chunk.Commits)
			}
			return nil
		})
	}
	group.Go(func() error {
		for j := range ordered {
			select {
			case err := <-j.done:
				if err != nil {
					return err
				}
			case <-ctx.Done():
				return ctx.Err()
			}
			if err := res.take(q, j.chunk.Commits, emit); err != nil {
				return err
			}
			j.chunk.Reset()
			pool.Put(j.chunk)
		}
		return nil
	})
	err = group.Wait() // before res is read
	return res, err
}

// read turns git's output into chunks of wanted commits.
func (l *Lister) read(ctx context.Context, r Repo, q *Query, empty func() *commit.Chunk, send func(*commit.Chunk) error) error {
	p, err := r.Git.Start(ctx, r.Dir, false, q.args()...)
	if err != nil {
		return err
	}
	defer p.Close()
	scan := commit.NewScanner(p.Stdout, l.MessageLimit, q.Offset)
	sent := 0
	for most := 8; ; most *= 2 { // small runs first: an early first byte
		chunk := empty()
		scanErr := scan.Fill(chunk, most)
		if scanErr != nil && !errors.Is(scanErr, io.EOF) {
			if err := p.Wait(); err != nil {
				return err
			}
			return scanErr
		}
		if !chunk.Seal() {
			return errors.New("git log printed something that is no commit")
		}
		chunk.Keep(q.keep)
		sent += len(chunk.Commits)
		if len(chunk.Commits) == 0 {
			chunk.Reset()
		} else if err := send(chunk); err != nil {
			return err
		}
		if scanErr != nil {
			return p.Wait()
		}
		if q.Limit > 0 && sent > q.Limit {
			return nil
		}
		most = min(most, 1<<20)
	}
}

// take hands a run on, up to the limit.
func (res *Result) take(q *Query, commits []commit.Commit, emit func([]commit.Commit) error) error {
	enough := false
	if left := q.Limit - res.Commits; q.Limit > 0 && len(commits) > left {
		commits, enough = commits[:left], true
	}
	if len(commits) > 0 {
		res.Next = commits[len(commits)-1].Position + 1
		res.Commits += len(commits)
		for i := range commits {
			if commits[i].State == commit.Unknown {
				res.Unknown++
			}
		}
		if err := emit(commits); err != nil {
			return err
		}
	}
	if enough {
		res.More = true
		return errEnough
	}
	return nil
}

// Count fills the persistent counts for everything that branches and tags
// reach, and returns how many commits that were and how many lack an object.
func (l *Lister) Count(ctx context.Context, r Repo, o counts.Options, progress func(done int)) (res Result, err error) {
	out, err := r.Git.Output(ctx, gitcmd.Call{Dir: r.Dir, Args: []string{"rev-parse", "--show-object-format"}})
	if err != nil {
		return res, err
	}
	size := 20
	if strings.TrimSpace(string(out)) == "sha256" {
		size = 32
	}
	table, release := l.Counts.Use(r.Project, o, size)
	defer release()
	d := &counts.Differ{Git: r.Git, Dir: r.Dir, Options: o, Boundary: shallow(r.Dir)}
	defer d.Close()
	p, err := r.Git.Start(ctx, r.Dir, false, "rev-list", "--branches", "--tags")
	if err != nil {
		return res, err
	}
	defer p.Close()
	err = hashes(p.Stdout, func(run []commit.Commit) error {
		if err := table.Fill(ctx, d, run); err != nil {
			return err
		}
		if err := res.take(&Query{}, run, func([]commit.Commit) error { return nil }); err != nil {
			return err
		}
		progress(res.Commits)
		return nil
	})
	if err != nil {
		return res, err
	}
	return res, p.Wait()
}

// shallow reads the commits where a shallow clone ends. Git shows them as roots,
// which their counts must not say.
func shallow(dir string) map[string]bool {
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
