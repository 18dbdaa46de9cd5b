package report

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"ctl.internal/plugins/repoinfo/clones"
	"ctl.internal/plugins/repoinfo/commit"
	"ctl.internal/plugins/repoinfo/counts"
	"ctl.internal/plugins/repoinfo/history"
	"ctl.internal/sdk/fault"
)

// Maker makes reports of the projects of a folder.
type Maker struct {
	Folder  *clones.Folder
	Lister  *history.Lister
	Options counts.Options
	Skip    bool          // leave out the review server's own commits
	Timeout time.Duration // of one project
}

// parallel is how many projects are read at a time.
const parallel = 2

// Make compares ref1 with ref2 in the projects named, all when there is none. A
// project where that fails is listed as such.
func (m *Maker) Make(ctx context.Context, ref1, ref2 string, projects []string, progress func(done, total int)) (*Report, error) {
	if len(projects) == 0 {
		var err error
		if projects, err = m.Folder.Projects(ctx); err != nil {
			return nil, err
		}
	}
	var (
		mu     sync.Mutex
		total  Builder
		failed []Failed
		done   int
	)
	group, gctx := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	for _, project := range projects {
		group.Go(func() error {
			var part Builder
			err := m.one(gctx, project, ref1, ref2, &part)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				failed = append(failed, Failed{Project: project, Error: fault.All(err)[0].Text})
			} else {
				total.Merge(&part)
			}
			done++
			progress(done, len(projects))
			return gctx.Err()
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return total.Report(ref1, ref2, failed), nil
}

func (m *Maker) one(ctx context.Context, project, ref1, ref2 string, b *Builder) error {
	ctx, cancel := context.WithTimeout(ctx, m.Timeout)
	defer cancel()
	repo, release, err := m.Folder.Open(ctx, project)
	if err != nil {
		return err
	}
	defer release()
	tip, base, err := repo.Since(ctx, ref1, ref2)
	if err != nil {
		return err
	}
	q := history.Query{Tip: tip, Base: base, Filter: commit.Filter{Skip: m.Skip}, Stats: true, Lines: m.Options}
	_, err = m.Lister.Walk(ctx, repo, q, func(run []commit.Commit) error {
		for i := range run {
			b.Add(project, &run[i])
		}
		return nil
	})
	return err
}
