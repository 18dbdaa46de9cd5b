package report

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"ctl.internal/plugins/repoinfo/clones"
	"ctl.internal/plugins/repoinfo/commit"
	"ctl.internal/plugins/repoinfo/history"
	"ctl.internal/plugins/repoinfo/people"
	"ctl.internal/plugins/repoinfo/turns"
	"ctl.internal/sdk/fault"
)

// Maker makes reports of the projects of a folder.
type Maker struct {
	Folder  *clones.Folder
	Lister  *history.Lister
	People  *people.Directory
	Timeout time.Duration // of one project
}

// Make reads the projects of a plan. A project where that fails is listed as such, and
// nothing of it is in the sums. turn gives the turn of one project's walk.
func (m *Maker) Make(ctx context.Context, p *Plan, turn func(project string) *turns.Turn,
	progress func(done, total int)) (*Report, error) {
	sh := shape{interval: p.Interval, mergeLines: p.MergeLines, filter: p.Filter}
	total := &builder{shape: sh}
	total.Ref1, total.Ref2, total.Branch, total.Failed = p.Ref1, p.Ref2, p.Branch, append([]Failed{}, p.Failed...)
	var mu sync.Mutex
	done := 0
	group, gctx := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	for _, s := range p.Spans {
		group.Go(func() error {
			part := &builder{shape: sh}
			err := m.one(gctx, p, s, part, turn(s.Project))
			mu.Lock()
			defer mu.Unlock()
			done++
			progress(done, len(p.Spans))
			switch busy := (*turns.BusyError)(nil); {
			case gctx.Err() != nil:
				return gctx.Err()
			case errors.As(err, &busy):
				return err
			case err != nil:
				total.Failed = append(total.Failed, Failed{Project: s.Project, Error: fault.All(err)[0].Text})
			default:
				total.merge(part)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	if total.Compared == 0 {
		return nil, nothing(fault.Internal, total.Failed)
	}
	return total.finish(p.Sections, p.Limit), nil
}

func (m *Maker) one(ctx context.Context, p *Plan, s span, b *builder, turn *turns.Turn) error {
	defer turn.End()
	if err := turn.Begin(ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, m.Timeout)
	defer cancel()
	repo, release, err := m.Folder.Open(ctx, s.Project)
	if err != nil {
		return err
	}
	defer release()
	names, err := m.People.Names(ctx, repo, s.Tip)
	if err != nil {
		return err
	}
	defer names.Close()
	b.projects.get(s.Project) // also when there is no commit
	q := history.Query{Tip: s.Tip, Base: s.Base, View: s.View, Path: p.Path, Simplify: p.Simplify, Filter: p.Filter,
		Renames: p.Renames, Stats: true}
	q.Files = slices.Contains(p.Sections, Files)
	people := slices.Contains(p.Sections, Contributing) || slices.Contains(p.Sections, TimelineOf)
	walk := func(q history.Query, take func(c *commit.Commit, who []author) error) error {
		if q.Tip == "" || q.Tip == q.Base {
			return nil
		}
		_, err := m.Lister.Walk(ctx, repo, q, turn, func(run []commit.Commit) error {
			for i := range run {
				who, err := m.who(names, &run[i])
				if err != nil {
					return err
				}
				if err := take(&run[i], who); err != nil {
					return err
				}
			}
			return nil
		})
		return err
	}
	err = walk(q, func(c *commit.Commit, who []author) error { return b.add(s.Project, c, who) })
	if err != nil || !people {
		return err
	}
	// Who was there before: in the history of the base, or earlier than the period.
	old := q
	old.Files = false
	switch {
	case s.Base != "":
		old.Tip, old.Base, old.Filter.Since, old.Filter.Until = s.Base, "", 0, 0
	case p.Filter.Since > 1:
		old.Filter.Since, old.Filter.Until = 0, p.Filter.Since-1
	default:
		return nil
	}
	return walk(old, func(c *commit.Commit, who []author) error { b.before(s.Project, c, who); return nil })
}

// who lists the author of a commit and its co-authors, each person once.
func (m *Maker) who(names *people.Names, c *commit.Commit) ([]author, error) {
	list := make([]author, 0, 1)
	add := func(name, email []byte) error {
		p, err := names.Who(name, email)
		if err != nil {
			return err
		}
		for _, a := range list {
			if a.Key() == p.Key() {
				return nil // named twice, counted once
			}
		}
		if p.Key() == "" {
			p.Name = "(none)"
		}
		list = append(list, author{Person: p, organization: m.People.Organization(p.Email, c.Author.When)})
		return nil
	}
	err := add(c.Author.Name, c.Author.Email)
	for _, co := range coAuthors(c.Message) {
		err = errors.Join(err, add(co[0], co[1]))
	}
	return list, err
}
