package api

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"

	"ctl.internal/plugins/repoinfo/release"
	"ctl.internal/plugins/repoinfo/report"
	"ctl.internal/plugins/repoinfo/turns"
)

// progress is called with the number of projects that are done.
type progress = func(done, total int)

// work is a job whose result has several forms. The result is kept as JSON; the other forms, and the console, are
// written from that, so that each plan is worked on once.
type work struct {
	key      string // all that the result depends on
	project  string // for the log
	changing bool   // it may change under the same key
	produce  func(ctx context.Context) (result any, whole bool, err error)
	decode   func(from []byte) (result any, err error)
}

// workOn makes the job of a plan. T is the type of its result.
func workOn[T any](a *API, key string, projects []string, spans []report.Span) *work {
	w := &work{key: key, decode: decodeAs[T]}
	if len(projects) == 1 {
		w.project = projects[0]
	}
	for _, s := range spans {
		w.changing = w.changing || a.Lister.Incomplete(s.Project)
	}
	return w
}

// decodeAs reads the result of a job back.
func decodeAs[T any](from []byte) (any, error) {
	result := new(T)
	return result, json.Unmarshal(from, result)
}

// turnsOf gives the turns of one user.
func (a *API) turnsOf(who string) func(project string) *turns.Turn {
	return func(project string) *turns.Turn { return a.Turns.New(who, project) }
}

// reportWork is the job of a report.
func (a *API) reportWork(plan *report.Plan, who string, show progress) *work {
	w := workOn[report.Report](a, plan.Key(), plan.Projects, plan.Spans)
	w.produce = func(ctx context.Context) (any, bool, error) {
		made, err := a.Reports.Make(ctx, plan, a.turnsOf(who), show)
		if err != nil {
			return nil, false, err
		}
		return made, made.Unknown == 0 && len(made.Failed) == len(plan.Failed), nil
	}
	return w
}

// releaseWork is the job of a question about releases.
func (a *API) releaseWork(plan *release.Plan, who string, show progress) *work {
	key := plan.Key()
	projects := plan.Request.Projects
	spans := plan.Spans()
	var w *work
	switch plan.Kind {
	case release.AskBackports:
		w = workOn[release.Backports](a, key, projects, spans)
	case release.AskNotes:
		w = workOn[release.Notes](a, key, projects, spans)
	case release.AskCompare:
		w = workOn[release.Comparison](a, key, projects, spans)
	default:
		w = workOn[release.News](a, key, projects, spans)
	}
	w.changing = w.changing || plan.Changing()
	w.produce = func(ctx context.Context) (any, bool, error) {
		made, err := a.Releases.Make(ctx, plan, a.turnsOf(who), show)
		if err != nil {
			return nil, false, err
		}
		return made.Answer, made.Whole, nil
	}
	return w
}

// writeJSON is the producer of the job.
func (w *work) writeJSON(ctx context.Context, out io.Writer) (any, bool, error) {
	result, whole, err := w.produce(ctx)
	if err != nil {
		return nil, false, err
	}
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	return nil, whole, enc.Encode(result)
}

// result joins or starts the job and returns its result. kept says that it will serve later callers too.
func (a *API) result(
	ctx context.Context,
	w *work,
	who string,
	turn *turns.Turn,
) (result any, kept bool, err error) {
	h := a.Jobs.Get(w.key, turn, w.writeJSON)
	defer h.Close()
	h.Share().(*turns.Turn).Join(who)
	if _, err := h.Ready(ctx, true); err != nil {
		return nil, false, err
	}
	var text bytes.Buffer
	if err := h.Copy(ctx, &text, 0, func() {}); err != nil {
		return nil, false, err
	}
	result, err = w.decode(text.Bytes())
	return result, h.Kept(), err
}

// form is how a result is written.
type form struct {
	name  string // that distinguishes it from others; empty = JSON
	kind  string // Content-Type
	write func(ctx context.Context, result any, w io.Writer) error
}

// answerWork answers with a form of a job's result.
func (a *API) answerWork(w http.ResponseWriter, r *http.Request, job *work, f form) error {
	if f.kind == typeHTML {
		w.Header().Set("Content-Security-Policy", pagePolicy)
	}
	who := callerName(r)
	turn := a.Turns.New(who, "")
	ans := answer{
		key:      job.key,
		kind:     f.kind,
		paged:    true,
		project:  job.project,
		changing: job.changing,
	}
	if f.name == "" {
		return a.writeAnswer(w, r, ans, turn, job.writeJSON)
	}
	ans.key += " " + f.name
	return a.writeAnswer(w, r, ans, turn, func(ctx context.Context, out io.Writer) (any, bool, error) {
		result, kept, err := a.result(ctx, job, who, turn)
		if err != nil {
			return nil, false, err
		}
		return nil, kept, f.write(ctx, result, out)
	})
}

// Report makes a report for the console, or takes the one that is being made or kept.
func (a *API) Report(
	ctx context.Context,
	q report.Request,
	who string,
	show progress,
) (*report.Report, error) {
	plan, err := a.Reports.Plan(ctx, q)
	if err != nil {
		return nil, err
	}
	made, _, err := a.result(ctx, a.reportWork(plan, who, show), who, a.Turns.New(who, ""))
	if err != nil {
		return nil, err
	}
	return made.(*report.Report), nil
}

// Release answers a question about releases for the console, or takes the answer that is being made or kept.
func (a *API) Release(
	ctx context.Context,
	q release.Question,
	who string,
	show progress,
) (release.Answer, error) {
	plan, err := a.Releases.Plan(ctx, q)
	if err != nil {
		return nil, err
	}
	made, _, err := a.result(ctx, a.releaseWork(plan, who, show), who, a.Turns.New(who, ""))
	if err != nil {
		return nil, err
	}
	return made.(release.Answer), nil
}
