package report

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"ctl.internal/plugins/repoinfo/commit"
	"ctl.internal/plugins/repoinfo/history"
	"ctl.internal/plugins/repoinfo/people"
	"ctl.internal/sdk/fault"
)

// Request is a report that is asked for.
type Request struct {
	Projects []string // none = all
	Branch   string   // empty = each project's default
	// Ref1 and Ref2 are asked for instead of a branch: Ref1 down to the common parent of both. Without Ref2 it is down to
	// the roots; without Ref1, which only a request with Fresh may lack, from the default branch.
	Ref1, Ref2 string
	Path       string
	Simplify   bool
	Filter     commit.Filter // Since and Until are the period
	Renames    bool
	MergeLines bool   // count lines of merges against their first parent
	Interval   string // one of Intervals
	Sections   []string
	Limit      int    // entries of each list; 0 = all
	New        string // NewInHistory or NewInSelection
	// Fresh leaves out what Ref2 has already: the commits that it reaches, and those that are the same change as one of
	// its commits. New are then those who are not in the history of Ref2.
	Fresh bool
	// NoLines leaves lines uncounted.
	NoLines bool
	// Machines are no people. nil = those of the settings; of a plan never nil.
	Machines people.Machines
}

// Where somebody must not have been before to be new.
const (
	NewInHistory   = "history"   // in the whole history, whatever path is asked for
	NewInSelection = "selection" // in the history of the path
)

// Plan is a request with its references resolved: what it yields does not change.
type Plan struct {
	Request
	Spans  []Span
	Failed []Failed
	People string // people.Directory.Version
}

// Span is what is read of one project.
type Span struct {
	Project, Tip, Base, View string
	Newest                   int64  `json:",omitempty"` // time of Tip, if the period has no end
	Names                    string `json:",omitempty"` // commit whose mailmap counts; empty = Tip
}

// lostSince is the beginning of the time just before the period, which is as long as it.
func (p *Plan) lostSince() int64 {
	until := p.Filter.Until
	for _, s := range p.Spans {
		until = max(until, s.Newest)
	}
	return p.Filter.Since - (until - p.Filter.Since)
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
			return nil, fault.New(
				fault.NotFound,
				"there is nothing to compare: %s contains no clone",
				m.Folder.Dir(),
			)
		}
	}
	version, err := m.People.Version()
	if err != nil {
		return nil, fault.Wrap(
			fault.Unavailable,
			err,
			"the site-wide mailmap cannot be read: %v",
			err,
		)
	}
	if q.Machines == nil {
		q.Machines = append(people.Machines{}, m.People.Machines...)
	}
	p := &Plan{Request: q, People: version}
	var mu sync.Mutex
	group, gctx := errgroup.WithContext(ctx)
	group.SetLimit(2 * parallel)
	var first error
	for _, project := range projects {
		group.Go(func() error {
			s, err := m.resolveSpan(gctx, q, project)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				if first == nil {
					first = err
				}
				p.Failed = append(p.Failed, Failed{
					Project: project,
					Error:   fault.All(err)[0].Text,
				})
			} else {
				p.Spans = append(p.Spans, s)
			}
			return gctx.Err()
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	slices.SortFunc(p.Spans, func(x, y Span) int {
		return strings.Compare(x.Project, y.Project)
	})
	slices.SortFunc(p.Failed, byProject)
	if len(p.Spans) == 0 {
		if len(projects) == 1 {
			return nil, first
		}
		return nil, nothingCompared(fault.KindOf(first), p.Failed)
	}
	return p, nil
}

// nothingCompared is the error of a report that compared nothing.
func nothingCompared(kind fault.Kind, failed []Failed) error {
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

func (m *Maker) resolveSpan(ctx context.Context, q Request, project string) (s Span, err error) {
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
	case q.Ref1 != "" && q.Ref2 != "" && !q.Fresh:
		s.Tip, s.Base, err = repo.Since(ctx, q.Ref1, q.Ref2)
	case q.Ref1 != "":
		s.Tip, s.Base, err = resolve(ctx, repo, "reference", q.Ref1, q.Ref2)
	case q.Ref2 != "":
		if s.Base, _, err = resolve(ctx, repo, "reference", q.Ref2, ""); err == nil {
			s.Tip, err = repo.Default(ctx)
		}
	case q.Branch != "":
		s.Tip, _, err = resolve(ctx, repo, "branch", q.Branch, "")
	default:
		s.Tip, err = repo.Default(ctx)
	}
	if err == nil && q.Filter.Since != 0 && q.Filter.Until == 0 {
		s.Newest, err = repo.Committed(ctx, s.Tip)
		if !isReadableTime(s.Newest, time.Now().Unix()) {
			s.Newest = q.Filter.Since
		}
	}
	return s, err
}

// resolve returns the commits of two references; the second one may be empty.
func resolve(
	ctx context.Context,
	repo history.Repo,
	kind, ref1, ref2 string,
) (tip, base string, err error) {
	if ref2 == "" {
		hashes, err := repo.Resolve(ctx, kind, ref1)
		if err != nil {
			return "", "", err
		}
		return hashes[0], "", nil
	}
	hashes, err := repo.Resolve(ctx, kind, ref1, ref2)
	if err != nil {
		return "", "", err
	}
	return hashes[0], hashes[1], nil
}
