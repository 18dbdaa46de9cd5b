package restconf

import (
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"ctl.internal/host/internal/restconf/tree"
	"ctl.internal/sdk/fault"
)

// query is the query parameters of RFC 8040 section 4.8.
type query struct {
	content  string // "all", "config" or "nonconfig"
	depth    int    // 0 = unbounded
	fields   fieldTree
	defaults string // with-defaults
	place    tree.Place
	page     *page // nil: all entries
	origin   bool  // with-origin
}

// parameters says which methods take which parameter.
var parameters = map[string]string{
	"content":       "GET HEAD",
	"depth":         "GET HEAD",
	"fields":        "GET HEAD",
	"with-defaults": "GET HEAD",
	"insert":        "POST PUT",
	"point":         "POST PUT",
	"with-origin":   "GET HEAD",
	"where":         "GET HEAD",
	"sort-by":       "GET HEAD",
	"direction":     "GET HEAD",
	"cursor":        "GET HEAD",
	"offset":        "GET HEAD",
	"limit":         "GET HEAD",
}

// parseQuery reads the parameters. One that is not known is refused below /rests, as
// RFC 8040 asks; below /restconf clients are used to its being ignored.
func (x *exchange) parseQuery() (query, error) {
	q := query{content: "all"}
	seen := map[string]bool{}
	for part := range strings.SplitSeq(x.r.URL.RawQuery, "&") {
		if part == "" {
			continue
		}
		name, raw, _ := strings.Cut(part, "=")
		value, err := url.PathUnescape(raw)
		if name == "odl-pretty-print" || name == "prettyPrint" { // of upstream, on any method
			if value != "true" && value != "false" {
				return q, fault.New(
					fault.Invalid,
					"%s must be true or false, not %.40q",
					name,
					value,
				)
			}
			x.pretty = value == "true"
			continue
		}
		switch methods, known := parameters[name]; {
		case !known && x.env == legacy:
			continue
		case !known || !strings.Contains(methods, x.r.Method):
			return q, fault.New(
				fault.Invalid,
				"the query parameter %.40q is not allowed here",
				name,
			)
		case err != nil || seen[name]:
			return q, fault.New(
				fault.Invalid,
				"the query parameter %q must occur once and be encoded properly",
				name,
			)
		}
		seen[name] = true
		if err := x.parseParameter(&q, name, value); err != nil {
			return q, err
		}
	}
	if q.origin && q.defaults == "report-all" {
		return q, fault.New(
			fault.Invalid,
			"with-origin cannot be combined with with-defaults=report-all",
		)
	}
	return q, nil
}

func (x *exchange) parseParameter(q *query, name, value string) error {
	oneOf := func(values ...string) error {
		if slices.Contains(values, value) {
			return nil
		}
		return fault.New(
			fault.Invalid,
			"%s must be one of %s, not %.40q",
			name,
			strings.Join(values, ", "),
			value,
		)
	}
	besides := ""
	if name == "depth" || name == "limit" {
		if value == "unbounded" {
			return nil
		}
		besides = "unbounded or "
	}
	number := func(low, high int) (int, error) {
		n, err := strconv.Atoi(value)
		if err != nil || n < low || n > high {
			return 0, fault.New(
				fault.Invalid,
				"%s is %sa number from %d to %d, not %.40q",
				name,
				besides,
				low,
				high,
				value,
			)
		}
		return n, nil
	}
	switch name {
	case "where", "sort-by", "direction", "cursor", "offset", "limit":
		if q.page == nil {
			q.page = &page{}
		}
	}
	var err error
	switch name {
	case "content":
		q.content, err = value, oneOf("all", "config", "nonconfig")
	case "with-defaults":
		q.defaults, err = value, oneOf("report-all", "trim", "explicit")
	case "depth":
		q.depth, err = number(1, 65535)
	case "fields":
		q.fields, err = parseFields(value)
	case "with-origin":
		if x.ds != "operational" || value != "" {
			return fault.New(
				fault.Invalid,
				"with-origin has no value and is only for /rests/ds/ietf-datastores:operational",
			)
		}
		q.origin = true
	case "where":
		if value != "unfiltered" {
			q.page.where, err = parseWhere(value)
		}
	case "sort-by":
		if value != "none" {
			q.page.sortBy = strings.Split(value, "/")
		}
	case "direction":
		q.page.backwards, err = value == "backwards", oneOf("forwards", "backwards")
	case "cursor":
		q.page.cursor = value
	case "offset":
		q.page.offset, err = number(0, math.MaxInt32)
	case "limit":
		q.page.limit, err = number(1, math.MaxInt32)
	case "insert":
		q.place.Where, err = value, oneOf("first", "last", "before", "after")
	case "point":
		q.place.Point, err = x.parsePoint(value)
	}
	return err
}

// parsePoint reads the path of another entry, which may begin with the path of the
// tree: /rests/data/m:c/list=key or /m:c/list=key.
func (x *exchange) parsePoint(value string) (tree.Path, error) {
	for _, root := range [...]string{"/rests/data", "/restconf/config"} {
		if rest, ok := strings.CutPrefix(value, root+"/"); ok {
			value = "/" + rest
			break
		}
	}
	p, err := tree.ParseText(x.installed().Schema, value)
	if err != nil {
		return nil, fault.Wrap(
			fault.KindOf(err),
			err,
			"point=%.80s: %v (in a query, the %% of an encoded key is itself written %%25)",
			value,
			err,
		)
	}
	return p, nil
}
