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

func invalidParameter(name, text string, args ...any) error {
	return fault.At(fault.Invalid, name, text, args...)
}

// keepError keeps the first error.
func (p *params) keepError(err error) {
	if p.err == nil {
		p.err = err
	}
}

// singleValue returns a parameter, empty when it is absent. Given empty or twice, it is
// an error.
func (p *params) singleValue(name string) string {
	v, given := p.values[name]
	switch {
	case !given:
		return ""
	case len(v) > 1:
		p.keepError(invalidParameter(name, "Parameter %s is given %d times.", name, len(v)))
	case v[0] == "":
		p.keepError(invalidParameter(name, "Parameter %s is empty.", name))
	}
	return v[0]
}

func (p *params) requiredValue(name string) string {
	v := p.singleValue(name)
	if v == "" {
		p.keepError(fault.At(fault.Missing, name, "Missing parameter %s.", name))
	}
	return v
}

// textValue is a free value that is only compared with others.
func (p *params) textValue(name string) string {
	v := p.singleValue(name)
	if len(v) > 1024 || !utf8.ValidString(v) || strings.ContainsFunc(v, unicode.IsControl) {
		p.keepError(invalidParameter(
			name,
			"Parameter %s is longer than 1024 bytes, is not UTF-8 or contains control characters.",
			name,
		))
	}
	return v
}

// refValue is the name of a reference.
func (p *params) refValue(name string) string {
	v := p.singleValue(name)
	if v != "" {
		p.keepError(refname.Ref(name, v))
	}
	return v
}

// projects are the names of a list, each once.
func (p *params) projects() (names []string) {
	list := p.singleValue("project")
	if list == "" {
		return nil
	}
	for name := range strings.SplitSeq(list, ",") {
		name = strings.TrimSpace(name)
		p.keepError(refname.Project(name))
		names = append(names, name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// path is that of a file or directory of a repository.
func (p *params) path() string {
	path := p.singleValue("path")
	if path != "" {
		p.keepError(refname.Path(path))
	}
	return path
}

// choiceValue is one of several words.
func (p *params) choiceValue(name, absent string, words ...string) string {
	v := cmp.Or(p.singleValue(name), absent)
	if v != absent && !slices.Contains(words, v) {
		p.keepError(invalidParameter(
			name,
			"Parameter %s must be one of %s.",
			name,
			strings.Join(words, ", "),
		))
	}
	return v
}

func (p *params) boolValue(name string, absent bool) bool {
	switch p.singleValue(name) {
	case "":
		return absent
	case "true", "1":
		return true
	case "false", "0":
	default:
		p.keepError(invalidParameter(name, "Parameter %s is neither true nor false.", name))
	}
	return false
}

func (p *params) numberValue(name string, most int) int {
	v := p.singleValue(name)
	if v == "" {
		return 0
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < 1 || n > most {
		p.keepError(invalidParameter(
			name,
			"Parameter %s is not a number from 1 to %d.",
			name,
			most,
		))
	}
	return n
}

// timeValue reads seconds since the epoch, an RFC 3339 time, or a day (UTC). A day
// means its first second, or its last when end is set.
func (p *params) timeValue(name string, end bool) int64 {
	v := p.singleValue(name)
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
		p.keepError(invalidParameter(
			name,
			"Parameter %s is not a time: give seconds since 1970, 2016-12-31 or 2016-12-31T12:00:00Z.",
			name,
		))
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
			p.keepError(invalidParameter(
				name,
				"There is no parameter %s%s.",
				name,
				nearest.Hint(name, names),
			))
		}
	}
}

// noMachines is the value of the parameter machines that takes everybody for a person.
const noMachines = "none"

// machinePatterns reads the patterns of the names and addresses of programs, nil when they are absent.
func (p *params) machinePatterns() people.Machines {
	v := p.textValue("machines")
	switch v {
	case "":
		return nil
	case noMachines:
		return people.Machines{}
	}
	m, err := people.NewMachines(strings.Split(v, ","))
	p.keepError(err)
	return m
}

// readSelection reads the parameters that lists and reports share.
func (a *API) readSelection(p *params, q *history.Query) {
	f := &q.Filter
	f.Author, f.Organization, f.Skip = p.textValue("author"), p.textValue("organization"), p.boolValue("skip", a.Skip)
	f.Since, f.Until = p.timeValue("since", false), p.timeValue("until", true)
	if f.Since != 0 && f.Until != 0 && f.Since > f.Until {
		p.keepError(invalidParameter("since", "Parameter since is later than until."))
	}
	q.Path = p.path()
	q.Simplify, q.Renames = p.boolValue("simplify", false), p.boolValue("renames", a.Renames)
}
