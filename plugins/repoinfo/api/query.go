package api

import (
	"ctl.internal/plugins/repoinfo/history"
	"ctl.internal/plugins/repoinfo/refname"
)

// listing is a list of commits that a request asks for, before its references
// are resolved.
type listing struct {
	project string
	query   history.Query
	cursor  string
	ndjson  bool
}

// listing reads the parameters that all lists of commits have.
func (a *API) listing(p params, accept string) (l listing, err error) {
	if l.project, err = p.required("project"); err != nil {
		return l, err
	}
	if err = refname.Project(l.project); err != nil {
		return l, err
	}
	q := &l.query
	if q.Filter.Author, err = p.text("author"); err != nil {
		return l, err
	}
	if q.Filter.Organization, err = p.text("organization"); err != nil {
		return l, err
	}
	if q.Filter.Skip, err = p.flag("skip", a.Skip); err != nil {
		return l, err
	}
	if q.Since, err = p.moment("since", false); err != nil {
		return l, err
	}
	if q.Until, err = p.moment("until", true); err != nil {
		return l, err
	}
	if q.Since != 0 && q.Until != 0 && q.Since > q.Until {
		return l, bad("since", "Parameter since is later than until.")
	}
	if q.Path, err = p.one("path"); err != nil {
		return l, err
	}
	if q.Path != "" {
		if err = refname.Path(q.Path); err != nil {
			return l, err
		}
	}
	if q.Merges, err = merges(p); err != nil {
		return l, err
	}
	if q.Stats, err = p.flag("stats", true); err != nil {
		return l, err
	}
	if q.Lines.Renames, err = p.flag("renames", a.Renames); err != nil {
		return l, err
	}
	if q.Limit, err = p.number("limit", a.MaxPage); err != nil {
		return l, err
	}
	if l.cursor, err = p.one("cursor"); err != nil {
		return l, err
	}
	l.ndjson, err = wantsLines(p, accept)
	return l, err
}

func merges(p params) (history.Merges, error) {
	v, err := p.one("merges")
	if err != nil {
		return "", err
	}
	switch v {
	case "", "true", "1":
		return history.WithMerges, nil
	case "false", "0":
		return history.NoMerges, nil
	case "only":
		return history.OnlyMerges, nil
	}
	return "", bad("merges", "Parameter merges is none of true, false, only.")
}
