package report

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
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
	Turns   *turns.Queue
	Timeout time.Duration // of one project
}

// Request is a report that is asked for.
type Request struct {
	Projects   []string // none = all
	Branch     string   // empty = each project's default
	Ref1, Ref2 string   // instead of a branch: ref1 down to the common parent of both
	Path       string
	Simplify   bool
	Filter     commit.Filter // Since and Until are the period
	Renames    bool
	MergeLines bool   // count lines of merges against their first parent
	Interval   string // one of Intervals
	Sections   []string
	Limit      int // entries of each list; 0 = all
}

// Plan is a request with its references resolved: what it yields does not change.
type Plan struct {
	Request
	Spans  []span
	Failed []Failed
}

// span is what is read of one project.
type span struct {
	Project, Tip, Base, View string
}

// Key names the plan's result.
func (p *Plan) Key() string {
	b, err := json.Marshal(p)
	if err != nil {
		panic(err) // there is nothing in it that JSON cannot write
	}
	return "report " + string(b)
}

// parallel is how many projects are read at a time.
const parallel = 2

// Plan resolves the references of a request. When it can be done in no project, that is
// an error with the reasons.
func (m *Maker) Plan(ctx context.Context, q Request) (*Plan, error) {
	projects := q.Projects
	if len(projects) == 0 {
		var err error
		if projects, err = m.Folder.Projects(ctx); err != nil {
			return nil, err
		}
		if len(projects) == 0 {
			return nil, fault.New(fault.NotFound, "there is nothing to compare: %s holds no clone", m.Folder.Dir())
		}
	}
	p := &Plan{Request: q}
	var mu sync.Mutex
	group, gctx := errgroup.WithContext(ctx)
	group.SetLimit(2 * parallel)
	var first error
	for _, project := range projects {
		group.Go(func() error {
			s, err := m.span(gctx, q, project)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				if first == nil || project < projects[0] {
					first = err
				}
				p.Failed = append(p.Failed, Failed{Project: project, Error: fault.All(err)[0].Text})
			} else {
				p.Spans = append(p.Spans, s)
			}
			return gctx.Err()
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	slices.SortFunc(p.Spans, func(x, y span) int { return strings.Compare(x.Project, y.Project) })
	slices.SortFunc(p.Failed, func(x, y Failed) int { return strings.Compare(x.Project, y.Project) })
	if len(p.Spans) == 0 {
		if len(projects) == 1 {
			return nil, first
		}
		return nil, nothing(fault.KindOf(first), p.Failed)
	}
	return p, nil
}

// nothing is the error of a report that compared nothing.
func nothing(kind fault.Kind, failed []Failed) error {
	var b strings.Builder
	fmt.Fprintf(&b, "nothing was compared: %d projects failed", len(failed))
	for i, f := range failed {
		if i == 5 {
			b.WriteString("; and so on")
			break
		}
		fmt.Fprintf(&b, "; %s: %s", f.Project, f.Error)
	}
	return fault.New(kind, "%s", b.String())
}

func (m *Maker) span(ctx context.Context, q Request, project string) (s span, err error) {
	repo, release, err := m.Folder.Open(ctx, project)
	if err != nil {
		return s, err
	}
	defer release()
	s.Project = project
	if s.View, err = repo.View(ctx); err != nil {
		return s, err
	}
	switch {
	case q.Ref1 != "":
		s.Tip, s.Base, err = repo.Since(ctx, q.Ref1, q.Ref2)
	case q.Branch != "":
		var hashes []string
		if hashes, err = repo.Resolve(ctx, "branch", q.Branch); err == nil {
			s.Tip = hashes[0]
		}
	default:
		s.Tip, err = repo.Default(ctx)
	}
	return s, err
}

// Make reads the projects of a plan. A project where that fails is listed as such, and
// nothing of it is in the sums. turn gives the turn of one project's walk.
func (m *Maker) Make(ctx context.Context, p *Plan, turn func(project string) *turns.Turn, progress func(done, total int)) (*Report, error) {
	sh := shape{interval: p.Interval, mergeLines: p.MergeLines, filter: p.Filter, base: p.Ref1 != ""}
	total := &builder{shape: sh}
	total.Ref1, total.Ref2, total.Branch, total.Failed = p.Ref1, p.Ref2, p.Branch, slices.Clone(p.Failed)
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
	q := history.Query{Tip: s.Tip, Base: s.Base, View: s.View, Path: p.Path, Simplify: p.Simplify, Filter: p.Filter, Renames: p.Renames, Stats: true}
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
	old.Stats, old.Files = false, false
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
