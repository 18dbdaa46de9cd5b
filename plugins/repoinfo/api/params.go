package api

import (
	"cmp"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"ctl.internal/internal/nearest"
	"ctl.internal/plugins/repoinfo/history"
	"ctl.internal/plugins/repoinfo/people"
	"ctl.internal/plugins/repoinfo/refname"
	"ctl.internal/sdk/fault"
)

// params are the parameters of a request, and what is wrong with the first that was read and is wrong: err is to be
// looked at when all are read. Lists let unknown parameters pass, since clients of the older service send some; reports
// refuse them.
type params struct {
	values url.Values
	err    error
}

func bad(name, text string, args ...any) error { return fault.At(fault.Invalid, name, text, args...) }

// check keeps the first error.
func (p *params) check(err error) {
	if p.err == nil {
		p.err = err
	}
}

// one returns a parameter, empty when it is absent. Given empty or twice, it is
// an error.
func (p *params) one(name string) string {
	v, given := p.values[name]
	switch {
	case !given:
		return ""
	case len(v) > 1:
		p.check(bad(name, "Parameter %s is given %d times.", name, len(v)))
	case v[0] == "":
		p.check(bad(name, "Parameter %s is empty.", name))
	}
	return v[0]
}

func (p *params) required(name string) string {
	v := p.one(name)
	if v == "" {
		p.check(fault.At(fault.Missing, name, "Missing parameter %s.", name))
	}
	return v
}

// text is a free value that is only compared with others.
func (p *params) text(name string) string {
	v := p.one(name)
	if len(v) > 1024 || !utf8.ValidString(v) || strings.ContainsFunc(v, unicode.IsControl) {
		p.check(bad(name, "Parameter %s is longer than 1024 bytes, is not UTF-8 or contains control characters.", name))
	}
	return v
}

// ref is the name of a reference.
func (p *params) ref(name string) string {
	v := p.one(name)
	if v != "" {
		p.check(refname.Ref(name, v))
	}
	return v
}

// projects are the names of a list, each once.
func (p *params) projects() (names []string) {
	list := p.one("project")
	if list == "" {
		return nil
	}
	for name := range strings.SplitSeq(list, ",") {
		name = strings.TrimSpace(name)
		p.check(refname.Project(name))
		names = append(names, name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// path is that of a file or directory of a repository.
func (p *params) path() string {
	path := p.one("path")
	if path != "" {
		p.check(refname.Path(path))
	}
	return path
}

// choice is one of several words.
func (p *params) choice(name, absent string, words ...string) string {
	v := cmp.Or(p.one(name), absent)
	if v != absent && !slices.Contains(words, v) {
		p.check(bad(name, "Parameter %s must be one of %s.", name, strings.Join(words, ", ")))
	}
	return v
}

func (p *params) flag(name string, absent bool) bool {
	switch p.one(name) {
	case "":
		return absent
	case "true", "1":
		return true
	case "false", "0":
	default:
		p.check(bad(name, "Parameter %s is neither true nor false.", name))
	}
	return false
}

func (p *params) number(name string, most int) int {
	v := p.one(name)
	if v == "" {
		return 0
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < 1 || n > most {
		p.check(bad(name, "Parameter %s is not a number from 1 to %d.", name, most))
	}
	return n
}

// moment reads seconds since the epoch, an RFC 3339 time, or a day (UTC). A day
// means its first second, or its last when end is set.
func (p *params) moment(name string, end bool) int64 {
	v := p.one(name)
	if v == "" {
		return 0
	}
	if n, err := strconv.ParseInt(v, 10, 64); err == nil && n >= 0 && n < 1<<40 {
		return n
	}
	if t, err := time.Parse(time.DateOnly, v); err == nil && t.Unix() >= 0 {
		if end {
			t = t.Add(24*time.Hour - time.Second)
		}
		return t.Unix()
	}
	// an unescaped "+" of a zone arrives as a blank
	t, err := time.Parse(time.RFC3339, strings.ReplaceAll(v, " ", "+"))
	if err != nil || t.Unix() < 0 {
		p.check(bad(name, "Parameter %s is not a time: give seconds since 1970, 2016-12-31 or 2016-12-31T12:00:00Z.", name))
	}
	return t.Unix()
}

// refuseUnknown refuses parameters that are not among those known.
func (p *params) refuseUnknown(known []param) {
	var names []string
	for _, k := range known {
		names = append(names, k.name)
	}
	for _, name := range slices.Sorted(maps.Keys(p.values)) {
		if !slices.Contains(names, name) {
			p.check(bad(name, "There is no parameter %s%s.", name, nearest.Hint(name, names)))
		}
	}
}

// noMachines is the value of the parameter machines that takes everybody for a person.
const noMachines = "none"

// machines reads the patterns of the names and addresses of programs, nil when they are absent.
func (p *params) machines() people.Machines {
	v := p.text("machines")
	switch v {
	case "":
		return nil
	case noMachines:
		return people.Machines{}
	}
	m, err := people.NewMachines(strings.Split(v, ","))
	p.check(err)
	return m
}

// selection reads the parameters that lists and reports share.
func (a *API) selection(p *params, q *history.Query) {
	f := &q.Filter
	f.Author, f.Organization, f.Skip = p.text("author"), p.text("organization"), p.flag("skip", a.Skip)
	f.Since, f.Until = p.moment("since", false), p.moment("until", true)
	if f.Since != 0 && f.Until != 0 && f.Since > f.Until {
		p.check(bad("since", "Parameter since is later than until."))
	}
	q.Path = p.path()
	q.Simplify, q.Renames = p.flag("simplify", false), p.flag("renames", a.Renames)
}
