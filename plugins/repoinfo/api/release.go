package api

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"regexp"

	"ctl.internal/plugins/repoinfo/release"
)

// pagePolicy lets a page that is made here load and run nothing.
const pagePolicy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"

// askRelease answers one kind of question about releases.
func askRelease(kind release.Kind, known []param) handler {
	return func(a *API, w http.ResponseWriter, r *http.Request, p *params) error {
		q := a.question(p, kind)
		name := p.choiceValue("format", "json", "json", "csv", "html", "markdown")
		p.refuseUnknown(known)
		own, err := a.template(p)
		p.keepError(err)
		if p.err != nil {
			return p.err
		}
		plan, err := a.Releases.Plan(r.Context(), q)
		if err != nil {
			return err
		}
		f := releaseForms[name]
		if own != nil {
			f = form{"template " + own.Key(), own.ContentType(), func(ctx context.Context, n any, w io.Writer) error {
				return own.Execute(ctx, w, n.(*release.Notes))
			}}
		}
		return a.answerWork(w, r, a.releaseWork(plan, callerName(r), func(int, int) {}), f)
	}
}

// releaseForms are the forms of answers about releases.
var releaseForms = map[string]form{
	"json": {kind: typeJSON},
	"csv": {"csv", "text/csv; charset=utf-8", func(_ context.Context, r any, w io.Writer) error {
		return r.(release.Answer).CSV(w)
	}},
	"html": {"html", typeHTML, func(_ context.Context, r any, w io.Writer) error {
		return r.(release.Answer).HTML(w)
	}},
	"markdown": {"markdown", "text/markdown; charset=utf-8", func(_ context.Context, r any, w io.Writer) error {
		return r.(release.Answer).Markdown(w)
	}},
}

// template reads the template that a request names, nil if it names none.
func (a *API) template(p *params) (*release.Template, error) {
	name := p.textValue("template")
	if name == "" {
		return nil, nil
	}
	if p.values.Has("format") {
		return nil, invalidParameter("format", "Parameter format cannot be combined with template.")
	}
	return a.Templates.Read(name)
}

// Question reads the parameters of a question about releases.
func (a *API) Question(values url.Values, kind release.Kind) (release.Question, error) {
	p := &params{values: values}
	q := a.question(p, kind)
	return q, p.err
}

// trailerName is what git takes for the name of a trailer.
var trailerName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9-]{0,63}$`)

// question reads the parameters.
func (a *API) question(p *params, kind release.Kind) release.Question {
	q := release.Question{
		Kind:  kind,
		Title: p.textValue("title"),
		Group: release.GroupByProject,
	}
	r := &q.Request
	r.Projects = p.projects()
	if kind == release.AskBackports {
		p.requiredValue("branch")
		r.Ref1, r.Ref2 = p.refValue("from"), p.refValue("branch")
	} else {
		if kind != release.AskNews {
			p.requiredValue("ref1")
		}
		p.requiredValue("ref2")
		r.Ref1, r.Ref2 = p.refValue("ref1"), p.refValue("ref2")
	}
	q.Ref3 = p.refValue("ref3")
	if name := p.singleValue("group"); name != "" {
		if !trailerName.MatchString(name) {
			p.keepError(invalidParameter(
				"group",
				"Parameter group is neither %s nor the name of a trailer.",
				release.GroupByProject,
			))
		}
		q.Group = name
	}
	r.Path = p.path()
	r.Filter.Skip = p.boolValue("skip", a.Skip)
	r.Machines = p.machinePatterns()
	r.Limit = p.numberValue("limit", 1_000_000)
	return q
}
