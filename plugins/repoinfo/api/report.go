package api

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"slices"

	"ctl.internal/plugins/repoinfo/history"
	"ctl.internal/plugins/repoinfo/report"
)

// topFiles is how many files a report lists when it is not asked for another number.
const topFiles = 100

// reportForms are the forms of a report.
var reportForms = map[string]form{
	"json": {kind: typeJSON},
	"csv": {"csv", "text/csv; charset=utf-8", func(_ context.Context, r any, w io.Writer) error {
		return r.(*report.Report).CSV(w)
	}},
	"html": {"html", typeHTML, func(_ context.Context, r any, w io.Writer) error {
		return r.(*report.Report).HTML(w)
	}},
}

// answerReport answers all paths of statistics; sections are those of the path.
func (a *API) answerReport(
	w http.ResponseWriter,
	r *http.Request,
	p *params,
	sections []string,
) error {
	q := a.readReportRequest(p, sections)
	name := p.choiceValue("format", "json", "json", "csv", "html")
	p.refuseUnknown(reporting)
	if p.err != nil {
		return p.err
	}
	plan, err := a.Reports.Plan(r.Context(), q)
	if err != nil {
		return err
	}
	return a.answerWork(
		w,
		r,
		a.reportWork(plan, callerName(r), func(int, int) {}),
		reportForms[name],
	)
}

// Request reads the parameters of a report, which has these sections.
func (a *API) Request(values url.Values, sections []string) (report.Request, error) {
	p := &params{values: values}
	q := a.readReportRequest(p, sections)
	return q, p.err
}

// readReportRequest reads the parameters of a report.
func (a *API) readReportRequest(p *params, sections []string) (q report.Request) {
	q.Projects = p.projects()
	q.Branch, q.Ref1, q.Ref2 = p.refValue("branch"), p.refValue("ref1"), p.refValue("ref2")
	switch {
	case (q.Ref1 == "") != (q.Ref2 == ""):
		p.keepError(invalidParameter("ref1", "Parameters ref1 and ref2 must be given together."))
	case q.Ref1 != "" && q.Branch != "":
		p.keepError(invalidParameter(
			"branch",
			"Parameter branch cannot be combined with ref1 and ref2.",
		))
	}
	var s history.Query
	a.readSelection(p, &s)
	q.Filter, q.Path, q.Simplify, q.Renames = s.Filter, s.Path, s.Simplify, s.Renames
	q.MergeLines, q.Interval = p.boolValue("merge_lines", false), p.choiceValue("interval", "month", report.Intervals...)
	q.Sections, q.Limit = sections, p.numberValue("limit", 1_000_000)
	q.New = p.choiceValue("new", report.NewInHistory, report.NewInHistory, report.NewInSelection)
	q.Machines = p.machinePatterns()
	if q.Fresh = !p.boolValue("picks", true); q.Fresh && q.Ref1 == "" {
		p.keepError(invalidParameter("picks", "Parameter picks needs ref1 and ref2."))
	}
	if q.Limit == 0 && slices.Contains(sections, report.Files) {
		q.Limit = topFiles
	}
	return q
}
