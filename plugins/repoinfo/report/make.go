package report

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"ctl.internal/plugins/repoinfo/clones"
	"ctl.internal/plugins/repoinfo/commit"
	"ctl.internal/plugins/repoinfo/history"
	"ctl.internal/plugins/repoinfo/people"
	"ctl.internal/plugins/repoinfo/picks"
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
	total, err := m.read(ctx, p, false, turn, progress)
	if err != nil {
		return nil, err
	}
	return total.finishReport(p.Sections, p.Limit)
}

// List is Make that also returns the commits themselves, without merges, by project.
func (m *Maker) List(ctx context.Context, p *Plan, turn func(project string) *turns.Turn,
	progress func(done, total int)) (*Report, map[string]*Listed, error) {
	total, err := m.read(ctx, p, true, turn, progress)
	if err != nil {
		return nil, nil, err
	}
	r, err := total.finishReport(p.Sections, p.Limit)
	return r, total.listed, err
}

// read adds the projects of a plan up.
func (m *Maker) read(ctx context.Context, p *Plan, list bool, turn func(project string) *turns.Turn,
	progress func(done, total int)) (*builder, error) {
	sh := shape{
		interval:   p.Interval,
		mergeLines: p.MergeLines,
		filter:     p.Filter,
		lostSince:  p.lostSince(),
		now:        time.Now().Unix(),
	}
	total := &builder{shape: sh, listed: map[string]*Listed{}}
	total.Ref1, total.Ref2, total.Branch, total.Failed = p.Ref1, p.Ref2, p.Branch, append([]Failed{}, p.Failed...)
	var mu sync.Mutex
	done := 0
	group, gctx := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	for _, s := range p.Spans {
		group.Go(func() error {
			part := &builder{shape: sh}
			if list {
				part.listed = map[string]*Listed{s.Project: {Span: s}}
			}
			err := m.countProject(gctx, p, s, part, turn(s.Project))
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
				total.Failed = append(
					total.Failed,
					Failed{
						Project: s.Project,
						Error:   fault.All(err)[0].Text,
					},
				)
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
		return nil, nothingCompared(fault.Internal, total.Failed)
	}
	return total, nil
}

func (m *Maker) countProject(
	ctx context.Context,
	p *Plan,
	s Span,
	b *builder,
	turn *turns.Turn,
) error {
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
	names, err := m.People.Names(ctx, repo, cmp.Or(s.Names, s.Tip))
	if err != nil {
		return err
	}
	defer names.Close()
	b.projects.getTotal(s.Project) // also when there is no commit
	if p.Interval == byRelease {
		if b.releases, b.released, err = repo.Releases(ctx, s.Tip, s.Base); err != nil {
			return err
		}
		defer func() { b.released = nil }()
	}
	w := walker{
		ctx:    ctx,
		lister: m.Lister,
		repo:   repo,
		turn:   turn,
		who: func(c *commit.Commit) ([]Author, error) {
			return m.listAuthors(names, p.Machines, c)
		},
	}
	q := history.Query{
		Tip:      s.Tip,
		Base:     s.Base,
		View:     s.View,
		Path:     p.Path,
		Simplify: p.Simplify,
		Filter:   p.Filter,
		Renames:  p.Renames,
		Stats:    !p.NoLines,
	}
	q.Filter.Author, q.Filter.Organization = "", "" // those of the commit itself; the report asks for the people it shows
	q.Files = slices.Contains(p.Sections, Files)
	found := &picks.Found{}
	if p.Fresh && s.Base != "" {
		found, err = picks.Find(ctx, m.Lister, repo, s.Tip, s.Base, s.View, turn)
		if err != nil {
			return err
		}
		b.Uncompared = found.Unread
	}
	if l := b.listed[s.Project]; l != nil {
		l.Dropped = found.Dropped
	}
	err = w.walkCommits(q, func(c *commit.Commit, who []Author) error {
		if !p.wantsCommit(who) {
			return nil
		}
		if err := b.list(s.Project, c, who, found); err != nil {
			return err
		}
		if _, had := found.Same[string(c.Hash)]; had {
			b.Picked++
			return nil
		}
		return b.addCommit(s.Project, c, who)
	})
	if err != nil {
		return err
	}
	return m.readEarlier(p, s, b, w, q)
}

// readEarlier reads who was there before the period: in the history of the base, and earlier than its first moment. Lines are
// counted only where lost contributors are shown with theirs.
func (m *Maker) readEarlier(p *Plan, s Span, b *builder, w walker, q history.Query) error {
	q.Files, q.Stats = false, false
	if p.New == NewInHistory {
		q.Path, q.Simplify = "", false
	}
	earlier := func(c *commit.Commit, who []Author) error {
		b.addEarlier(c, who)
		return nil
	}
	newcomers := slices.Contains(p.Sections, Contributing) || slices.Contains(p.Sections, TimelineOf)
	if newcomers && s.Base != "" {
		base := q
		base.Tip, base.Base, base.Filter.Since, base.Filter.Until = s.Base, "", 0, 0
		if err := w.walkCommits(base, earlier); err != nil {
			return err
		}
	}
	if newcomers && p.Filter.Since > 1 {
		old := q
		old.Base, old.Filter.Since, old.Filter.Until = "", 0, p.Filter.Since-1
		if err := w.walkCommits(old, earlier); err != nil {
			return err
		}
	}
	if slices.Contains(p.Sections, Contributing) && p.Filter.Since > 1 {
		window := q
		window.Base, window.Stats, window.Path, window.Simplify = "", !p.NoLines, p.Path, p.Simplify
		window.Filter.Since, window.Filter.Until = max(1, b.lostSince), p.Filter.Since-1
		return w.walkCommits(window, func(c *commit.Commit, who []Author) error {
			if p.wantsCommit(who) {
				b.justBefore(s.Project, c, who)
			}
			return nil
		})
	}
	return nil
}

// walker reads the commits of one project.
type walker struct {
	ctx    context.Context
	lister *history.Lister
	repo   history.Repo
	turn   *turns.Turn
	who    func(*commit.Commit) ([]Author, error)
}

// walkCommits hands the commits of a query to take, with those who have a part in them.
func (w walker) walkCommits(
	q history.Query,
	take func(c *commit.Commit, who []Author) error,
) error {
	if q.Tip == "" || q.Tip == q.Base {
		return nil
	}
	_, err := w.lister.Walk(w.ctx, w.repo, q, w.turn, func(run []commit.Commit) error {
		for i := range run {
			who, err := w.who(&run[i])
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

// listAuthors lists the author of a commit and its co-authors, each person once.
func (m *Maker) listAuthors(
	names *people.Names,
	machines people.Machines,
	c *commit.Commit,
) ([]Author, error) {
	list := make([]Author, 0, 1)
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
		list = append(
			list,
			Author{
				Person:       p,
				Organization: m.People.Organization(p.Email, c.Author.When),
				Machine:      machines.Match(p),
			},
		)
		return nil
	}
	err := add(c.Author.Name, c.Author.Email)
	for _, co := range c.CoAuthors() {
		err = errors.Join(err, add(co.Name, co.Email))
	}
	return list, err
}

// wantsCommit reports whether a commit is one of the author and the organization that are asked for, by the names that the
// report shows: after mailmap and affiliations, co-authors included.
func (p *Plan) wantsCommit(who []Author) bool {
	f := &p.Filter
	return (f.Author == "" || slices.ContainsFunc(who, func(a Author) bool {
		return strings.EqualFold(a.Email, f.Author) ||
			strings.EqualFold(a.Name, f.Author) ||
			strings.EqualFold(a.Name+" <"+a.Email+">", f.Author)
	})) && (f.Organization == "" || slices.ContainsFunc(who, func(a Author) bool {
		return !a.Machine && strings.EqualFold(a.Organization, f.Organization)
	}))
}
