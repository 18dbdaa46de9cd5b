package release

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"ctl.internal/plugins/repoinfo/report"
	"ctl.internal/plugins/repoinfo/turns"
	"ctl.internal/sdk/fault"
)

// Kind is what is asked.
type Kind string

// Kinds of questions.
const (
	AskNews      Kind = "new"
	AskBackports Kind = "backports"
	AskNotes     Kind = "notes"
	AskCompare   Kind = "compare"
)

// Question is what is asked about a release. Of the request only projects, Ref1, Ref2, path, filter, machines and limit
// count.
type Question struct {
	Kind    Kind
	Request report.Request
	Ref3    string // of a comparison: the release before Ref2; empty = from the beginning
	Group   string // of notes: GroupByProject or the name of a trailer
	Title   string // of notes
}

// Answer is what is answered, in all forms but JSON.
type Answer interface {
	CSV(w io.Writer) error
	HTML(w io.Writer) error
	Markdown(w io.Writer) error
	Text() string
}

// Maker makes answers.
type Maker struct {
	Reports *report.Maker
	Links   Links
	// OpenChanges lists the changes of a branch that the review server has and that are not merged. nil = there is no
	// review server.
	OpenChanges func(ctx context.Context, project, branch string) ([]OpenChange, error)
}

// Plan is a question with its references resolved: what it yields does not change.
type Plan struct {
	Question
	parts []*report.Plan
	open  map[string]openState // by project
	links Links
}

// openState are the open changes of one project.
type openState struct {
	Review  string // "asked", or why there are none
	Changes []OpenChange
}

// reviewAsked says that the review server has answered.
const reviewAsked = "asked"

// Key names the plan's result.
func (p *Plan) Key() string {
	var keys []string
	for _, part := range p.parts {
		keys = append(keys, part.Key())
	}
	text, err := json.Marshal([]any{p.Question, p.open, p.links, keys})
	if err != nil {
		panic(err) // there is nothing in it that JSON cannot write
	}
	sum := sha256.Sum256(text)
	return "release " + hex.EncodeToString(sum[:])
}

// Spans are what is read.
func (p *Plan) Spans() []report.Span { return p.parts[0].Spans }

// Changing reports whether the answer may change under the same key: the review server has failed.
func (p *Plan) Changing() bool {
	for _, s := range p.open {
		if s.Review != reviewAsked && s.Review != noReview {
			return true
		}
	}
	return false
}

// noReview is why open changes are not known where no review server is configured.
const noReview = "not asked: no review server is configured (setting review_url)"

// Plan resolves the references of a question.
func (m *Maker) Plan(ctx context.Context, q Question) (*Plan, error) {
	q.Request.Fresh, q.Request.NoLines, q.Request.Interval = true, true, "month"
	q.Request.New, q.Request.Sections = report.NewInHistory, nil
	if q.Kind == AskNotes || q.Kind == AskCompare {
		q.Request.Sections = []string{report.Contributing}
	}
	first, err := m.Reports.Plan(ctx, q.Request)
	if err != nil {
		return nil, err
	}
	p := &Plan{
		Question: q,
		parts:    []*report.Plan{first},
		links:    m.Links,
	}
	switch q.Kind {
	case AskBackports:
		p.open, err = m.askOpenChanges(ctx, first, q.Request.Ref2)
	case AskCompare:
		err = m.planEarlier(ctx, p)
	}
	return p, err
}

// planEarlier plans the earlier one of two releases, and leaves out the projects that lack one of both.
func (m *Maker) planEarlier(ctx context.Context, p *Plan) error {
	request := p.Request
	request.Ref1, request.Ref2 = request.Ref2, p.Ref3
	earlier, err := m.Reports.Plan(ctx, request)
	if err != nil {
		return err
	}
	later := p.parts[0]
	inBoth := func(s report.Span) bool {
		return hasProject(later.Spans, s.Project) && hasProject(earlier.Spans, s.Project)
	}
	failed := later.Failed
	for _, f := range earlier.Failed {
		if hasProject(later.Spans, f.Project) {
			failed = append(failed, f)
		}
	}
	for _, part := range []*report.Plan{later, earlier} {
		part.Spans = slices.DeleteFunc(part.Spans, func(s report.Span) bool {
			return !inBoth(s)
		})
		part.Failed = failed
	}
	tips := map[string]string{}
	for _, s := range later.Spans {
		tips[s.Project] = s.Tip
	}
	for i := range earlier.Spans {
		s := &earlier.Spans[i]
		s.Names = tips[s.Project] // one mailmap for both: else a new line of it makes one person two
	}
	p.parts = append(p.parts, earlier)
	if len(later.Spans) == 0 {
		return fault.New(fault.NotFound, "no project has both releases: %s", describeFailed(failed))
	}
	return nil
}

func hasProject(spans []report.Span, project string) bool {
	return slices.ContainsFunc(spans, func(s report.Span) bool {
		return s.Project == project
	})
}

// describeFailed names the first projects that failed.
func describeFailed(failed []report.Failed) string {
	var texts []string
	for _, f := range failed[:min(len(failed), 5)] {
		texts = append(texts, f.Project+": "+f.Error)
	}
	return strings.Join(texts, "; ")
}

// parallelReviews is how many projects the review server is asked about at the same time.
const parallelReviews = 4

// askOpenChanges asks the review server for the open changes of a branch. Where it fails the answer says so.
func (m *Maker) askOpenChanges(
	ctx context.Context,
	plan *report.Plan,
	branch string,
) (map[string]openState, error) {
	states := map[string]openState{}
	var mu sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallelReviews)
	for _, s := range plan.Spans {
		if m.OpenChanges == nil {
			states[s.Project] = openState{Review: noReview}
			continue
		}
		group.Go(func() error {
			changes, err := m.OpenChanges(ctx, s.Project, strings.TrimPrefix(branch, "refs/heads/"))
			if ctx.Err() != nil {
				return ctx.Err()
			}
			state := openState{
				Review:  reviewAsked,
				Changes: changes,
			}
			if err != nil {
				state.Review = "failed: " + fault.All(err)[0].Text
			}
			mu.Lock()
			defer mu.Unlock()
			states[s.Project] = state
			return nil
		})
	}
	return states, group.Wait()
}

// Made is an answer, and whether the same question has the same answer later.
type Made struct {
	Answer Answer
	Whole  bool
}

// Make reads what a plan names. turn gives the turn of one project's walk.
func (m *Maker) Make(
	ctx context.Context,
	p *Plan,
	turn func(project string) *turns.Turn,
	progress func(done, total int),
) (*Made, error) {
	r, listed, err := m.Reports.List(ctx, p.parts[0], turn, progress)
	if err != nil {
		return nil, err
	}
	made := &Made{Whole: len(r.Failed) == len(p.parts[0].Failed) && !p.Changing()}
	switch p.Kind {
	case AskNews:
		made.Answer = newNews(r, listed, p.links)
	case AskNotes:
		made.Answer = newNotes(p, r, listed)
	case AskBackports:
		made.Answer, err = m.findBackports(ctx, p, r, listed, turn)
	case AskCompare:
		earlier, listedEarlier, listErr := m.Reports.List(ctx, p.parts[1], turn, progress)
		if listErr != nil {
			return nil, listErr
		}
		made.Whole = made.Whole && len(earlier.Failed) == len(p.parts[1].Failed)
		made.Answer = compareRead(r, earlier, listed, listedEarlier, p.Request.Limit)
	}
	return made, err
}

// compareRead compares the projects of which both releases could be read.
func compareRead(
	later, earlier *report.Report,
	listedLater, listedEarlier map[string]*report.Listed,
	limit int,
) *Comparison {
	failed := later.Failed
	for _, f := range earlier.Failed {
		if listedLater[f.Project] != nil {
			failed = append(failed, f)
		}
	}
	return compareSides(
		countSide(later, listedLater),
		countSide(earlier, listedEarlier),
		failed,
		limit,
	)
}

// findBackports finds the missed backports of the projects that were listed.
func (m *Maker) findBackports(
	ctx context.Context,
	p *Plan,
	r *report.Report,
	listed map[string]*report.Listed,
	turn func(project string) *turns.Turn,
) (*Backports, error) {
	b := &Backports{
		Branch:   p.Request.Ref2,
		From:     p.Request.Ref1,
		Projects: []ProjectBackports{},
		Failed:   r.Failed,
	}
	for _, s := range p.Spans() {
		l := listed[s.Project]
		if l == nil {
			continue
		}
		facts, err := m.readFacts(ctx, p, l, turn(s.Project))
		if err != nil {
			return nil, err
		}
		found := newProjectBackports(l, facts, p.links, p.open[s.Project].Review)
		b.Missed += len(found.Missed)
		b.Projects = append(b.Projects, found)
	}
	return b, nil
}

// readFacts asks git what the branch of one project has.
func (m *Maker) readFacts(
	ctx context.Context,
	p *Plan,
	l *report.Listed,
	turn *turns.Turn,
) (branchFacts, error) {
	facts := branchFacts{
		name:    p.Request.Ref2,
		dropped: map[string]string{},
		open:    map[string][]OpenChange{},
	}
	for _, change := range p.open[l.Project].Changes {
		facts.open[change.ChangeID] = append(facts.open[change.ChangeID], change)
	}
	defer turn.End()
	if err := turn.Begin(ctx); err != nil {
		return facts, err
	}
	ctx, cancel := context.WithTimeout(ctx, m.Reports.Timeout)
	defer cancel()
	repo, release, err := m.Reports.Folder.Open(ctx, l.Project)
	if err != nil {
		return facts, err
	}
	defer release()
	if facts.full, err = repo.ResolveHashes(ctx, namedHashes(l)); err != nil {
		return facts, err
	}
	names := unresolvedNames(l, facts.full)
	if facts.named, err = repo.FindNamed(ctx, l.Tip, l.Base, names); err != nil {
		return facts, err
	}
	for hash, by := range l.Dropped {
		if full := facts.full[hash]; full != "" {
			facts.dropped[full] = by
		}
	}
	var hashes []string
	for _, hash := range facts.full {
		hashes = append(hashes, hash)
	}
	for _, list := range facts.named {
		hashes = append(hashes, list...)
	}
	facts.has, err = repo.Contains(ctx, l.Base, hashes)
	return facts, err
}
