package restconf

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"ctl.internal/host/internal/restconf/tree"
	"ctl.internal/internal/yang"
	"ctl.internal/sdk/fault"
)

// page is which entries of a list are asked for, by the query parameters of
// draft-ietf-netconf-list-pagination-rc. They apply in the order of the fields.
type page struct {
	where     *yang.XPath
	sortBy    []string
	backwards bool
	cursor    string // of the first entry of the page
	offset    int
	limit     int // 0 = unbounded
}

// cutPage leaves the entries of the page in the array at, sets the links to the pages around it, and
// returns the mark of what is left.
func (x *exchange) cutPage(p tree.Path, at *yang.Data, q query, m *mark) (*mark, error) {
	if !at.IsArray() {
		return m, fault.New(
			fault.Invalid,
			"limit, offset, cursor, direction, sort-by and where are only for a whole list; %s is not a list",
			p,
		)
	}
	entries, err := q.page.chooseEntries(at)
	if err != nil {
		return m, err
	}
	first := q.page.offset
	if q.page.cursor != "" {
		i := slices.IndexFunc(entries, func(e *yang.Data) bool {
			return cursorOf(e) == q.page.cursor
		})
		if i < 0 {
			return m, fault.New(
				fault.Invalid,
				"the entry at the cursor %.80q no longer exists: read the list from its beginning",
				q.page.cursor,
			)
		}
		first += i
	}
	first = min(first, len(entries))
	end := len(entries)
	if q.page.limit > 0 {
		end = min(first+q.page.limit, end)
	}
	at.Clear()
	for _, e := range entries[first:end] {
		at.Add(e)
	}
	x.setLinkHeader(entries, first, end, q.page.limit)
	out := markOf(at)
	if m != nil {
		out.changed = m.changed
	}
	return out, nil
}

// chooseEntries filters and sorts.
func (g *page) chooseEntries(at *yang.Data) ([]*yang.Data, error) {
	entries := slices.Collect(at.All())
	if g.where != nil {
		var err error
		if entries, err = g.where.Filter(entries); err != nil {
			return nil, fault.Wrap(fault.Invalid, err, "where: %v", err)
		}
	}
	if g.sortBy != nil {
		var steps []*yang.Node
		n := at.Node
		for _, name := range g.sortBy {
			if n = n.Member(name); n == nil {
				return nil, fault.New(
					fault.Invalid,
					"sort-by: there is no node %.60q below %q",
					strings.Join(g.sortBy, "/"),
					at.Node.Name,
				)
			}
			steps = append(steps, n)
		}
		if n.Kind != yang.Leaf {
			return nil, fault.New(
				fault.Invalid,
				"sort-by: %q is not a leaf",
				strings.Join(g.sortBy, "/"),
			)
		}
		value := func(e *yang.Data) (string, bool) {
			for _, s := range steps {
				if e = e.Get(s); e == nil {
					return "", false
				}
			}
			return e.Text(), true
		}
		slices.SortStableFunc(entries, func(a, b *yang.Data) int {
			s, okA := value(a)
			t, okB := value(b)
			switch {
			case !okA || !okB: // entries without a value come last
				return boolToInt(okB) - boolToInt(okA)
			}
			x, err1 := strconv.ParseFloat(s, 64)
			y, err2 := strconv.ParseFloat(t, 64)
			if err1 == nil && err2 == nil && x != y {
				return cmp.Compare(x, y)
			}
			return strings.Compare(s, t)
		})
	}
	if g.backwards {
		slices.Reverse(entries)
	}
	return entries, nil
}

func boolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// cursorOf names an entry.
func cursorOf(e *yang.Data) string {
	keys := e.KeyValues()
	for i, k := range keys {
		keys[i] = tree.EscapeKey(k)
	}
	return base64.RawURLEncoding.EncodeToString([]byte(strings.Join(keys, ",")))
}

// setLinkHeader sets the header Link (RFC 8288) with the pages before and after.
func (x *exchange) setLinkHeader(entries []*yang.Data, first, end, limit int) {
	var links []string
	to := func(rel string, i int) {
		q := url.Values{}
		if parsed, err := url.ParseQuery(x.r.URL.RawQuery); err == nil {
			q = parsed
		}
		q.Del("offset")
		q.Set("cursor", cursorOf(entries[i]))
		links = append(
			links,
			fmt.Sprintf(
				`<%s?%s>; rel=%q`,
				x.r.URL.EscapedPath(),
				strings.ReplaceAll(q.Encode(), "+", "%20"),
				rel,
			),
		)
	}
	keyless := len(entries) > 0 && entries[0].Node.Kind == yang.List && len(entries[0].Node.Keys) == 0
	if keyless {
		return
	}
	if end < len(entries) {
		to("next", end)
	}
	if first > 0 && limit > 0 && first < len(entries) {
		to("prev", max(first-limit, 0))
	}
	if len(links) > 0 {
		x.w.Header().Set("Link", strings.Join(links, ", "))
	}
}
