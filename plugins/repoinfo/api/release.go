package api

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"ctl.internal/plugins/repoinfo/release"
	"ctl.internal/plugins/repoinfo/turns"
)

// Types of the forms of answers about releases.
var releaseForms = map[string]string{
	"json":     typeJSON,
	"csv":      "text/csv; charset=utf-8",
	"html":     typeHTML,
	"markdown": "text/markdown; charset=utf-8",
}

// pagePolicy lets a page that is made here load and run nothing.
const pagePolicy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"

// askRelease answers one kind of question about releases.
func askRelease(kind release.Kind, known []param) handler {
	return func(a *API, w http.ResponseWriter, r *http.Request, p *params) error {
		q := a.question(p, kind)
		form := p.choice("format", "json", "json", "csv", "html", "markdown")
		p.refuseUnknown(known)
		own, err := a.template(p)
		p.check(err)
		if p.err != nil {
			return p.err
		}
		plan, err := a.Releases.Plan(r.Context(), q)
		if err != nil {
			return err
		}
		ans := answer{
			key:      plan.Key() + form,
			kind:     releaseForms[form],
			paged:    true,
			project:  strings.Join(q.Request.Projects, ","),
			changing: plan.Changing(),
		}
		if own != nil {
			ans.key, ans.kind = ans.key+own.Key(), own.ContentType()
		}
		for _, s := range plan.Spans() {
			ans.changing = ans.changing || a.Lister.Incomplete(s.Project)
		}
		if ans.kind == typeHTML {
			w.Header().Set("Content-Security-Policy", pagePolicy)
		}
		who := user(r)
		return a.answer(w, r, ans, a.Turns.New(who, ""), func(ctx context.Context, w io.Writer) (any, bool, error) {
			turn := func(project string) *turns.Turn { return a.Turns.New(who, project) }
			made, err := a.Releases.Make(ctx, plan, turn, func(int, int) {})
			if err != nil {
				return nil, false, err
			}
			if own != nil {
				return nil, made.Whole, own.Execute(ctx, w, made.Answer.(*release.Notes))
			}
			return nil, made.Whole, WriteRelease(made.Answer, form, w)
		})
	}
}

// WriteRelease writes an answer in one of the forms.
func WriteRelease(answer release.Answer, form string, w io.Writer) error {
	switch form {
	case "csv":
		return answer.CSV(w)
	case "html":
		return answer.HTML(w)
	case "markdown":
		return answer.Markdown(w)
	}
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	return out.Encode(answer)
}

// template reads the template that a request names, nil if it names none.
func (a *API) template(p *params) (*release.Template, error) {
	name := p.text("template")
	if name == "" {
		return nil, nil
	}
	if p.values.Has("format") {
		return nil, bad("format", "Parameter format cannot be combined with template.")
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
	q := release.Question{Kind: kind, Title: p.text("title"), Group: release.GroupByProject}
	r := &q.Request
	r.Projects = p.projects()
	if kind == release.AskBackports {
		p.required("branch")
		r.Ref1, r.Ref2 = p.ref("from"), p.ref("branch")
	} else {
		if kind != release.AskNews {
			p.required("ref1")
		}
		p.required("ref2")
		r.Ref1, r.Ref2 = p.ref("ref1"), p.ref("ref2")
	}
	q.Ref3 = p.ref("ref3")
	if name := p.one("group"); name != "" {
		if !trailerName.MatchString(name) {
			p.check(bad("group", "Parameter group is neither %s nor the name of a trailer.", release.GroupByProject))
		}
		q.Group = name
	}
	r.Path = p.path()
	r.Filter.Skip = p.flag("skip", a.Skip)
	r.Machines = p.machines()
	r.Limit = p.number("limit", 1_000_000)
	return q
}
