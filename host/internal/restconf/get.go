package restconf

import (
	"net/http"
	"strings"
	"time"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/restconf/tree"
	"ctl.internal/internal/yang"
	"ctl.internal/sdk/fault"
)

// get answers a data resource.
func (x *exchange) get(kind string, p tree.Path) {
	q, err := x.query()
	if err == nil && q.fields != nil {
		n := p.Node()
		if n == nil {
			n = x.installed().Schema.Root
		}
		err = q.fields.check(n)
	}
	if err != nil {
		x.fail(err)
		return
	}
	x.withOrigin = q.origin
	at, mark, err := x.read(kind, q.content, p)
	if err != nil {
		x.fail(err)
		return
	}
	if at == nil {
		if len(p) > 0 {
			x.fail(missing(p))
			return
		}
		at = yang.NewData(x.installed().Schema.Root, false)
	}
	if q.page != nil {
		if mark, err = x.cut(p, at, q, mark); err != nil {
			x.fail(err)
			return
		}
	}
	if mark != nil {
		if err := x.expected(mark); err != nil {
			x.fail(err)
			return
		}
		mark.set(x.w.Header())
		if x.unchanged(mark) {
			x.w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	if at, err = x.shape(at, q); err != nil {
		x.fail(err)
		return
	}
	if at, err = hide(p, at); err != nil {
		x.fail(err)
		return
	}
	x.replyData(p, at)
}

// read loads the instance at p from the trees that were asked for: content=config
// is the configuration, nonconfig what is observed (also of nodes that could be
// configured, as of a discovered topology), all is both, the configuration first.
// A configuration tree that is the state of a plugin is operational data too. The mark is
// that of the configuration, nil when the answer holds state too.
func (x *exchange) read(kind, content string, p tree.Path) (at *yang.Data, m *mark, err error) {
	owned := len(p) > 0 && x.installed().Owned[p[0].Node.QName()]
	withState := kind == "operational" || kind == "data" && content != "config" && (len(p) == 0 || holdsState(p.Node()))
	withConfig := (kind != "operational" || owned) && content != "nonconfig"
	err = datastore.Read(x.r.Context(), x.o.Store, func(sn datastore.Snapshot) (err error) {
		at, m, err = x.readAt(sn, p, withConfig, withState)
		return err
	})
	return at, m, err
}

// readAt loads the instance at p, configuration and state of one revision.
func (x *exchange) readAt(sn datastore.Snapshot, p tree.Path, withConfig, withState bool) (at *yang.Data, m *mark, err error) {
	set := x.installed().Schema
	if withConfig {
		d := tree.NewDraft(sn, tree.ConfigNamespace, set)
		if at, err = d.Load(p); err == nil && !withState {
			m, err = newMark(d)
		}
	}
	if err != nil {
		return nil, nil, err
	}
	at.SetOrigin(yang.Intended)
	if !withState {
		return at, m, nil
	}
	state, err := tree.NewDraft(sn, tree.OperationalNamespace, set).Load(p)
	if err != nil || state == nil {
		return at, nil, err
	}
	state.SetOrigin(yang.Learned)
	if at == nil {
		return state, nil, nil
	}
	at.Merge(state)
	return at, nil, nil
}

// holdsState reports whether there is state below a node, or it is state.
func holdsState(n *yang.Node) bool {
	if !n.Config {
		return true
	}
	for _, m := range n.Members() {
		if holdsState(m) {
			return true
		}
	}
	return false
}

// shape applies with-defaults, fields and depth.
func (x *exchange) shape(at *yang.Data, q query) (*yang.Data, error) {
	switch q.defaults {
	case "report-all":
		if !at.Node.IsLeaf() {
			var err error
			if at, err = at.Check(yang.Options{Defaults: true, Partial: true, Shallow: true}); err != nil {
				return nil, err
			}
		}
	case "trim":
		trimDefaults(at)
	}
	if q.fields != nil {
		q.fields.apply(at)
	}
	if q.depth > 0 {
		prune(at, q.depth)
	}
	return at, nil
}

func trimDefaults(d *yang.Data) {
	for c := d.First(); c != nil; {
		next := c.Next()
		if c.Node != nil && !c.Node.IsKey() && c.Node.IsDefault(c.Text()) {
			c.Remove()
		} else {
			trimDefaults(c)
		}
		c = next
	}
}

// prune cuts a tree at a depth: 1 is the resource alone (RFC 8040 section 4.8.2).
func prune(d *yang.Data, depth int) {
	if d.IsArray() {
		if d.Node.Kind == yang.LeafList {
			return
		}
		for e := d.First(); e != nil; e = e.Next() {
			prune(e, depth)
		}
		return
	}
	if depth == 1 {
		d.Clear()
		return
	}
	for c := d.First(); c != nil; c = c.Next() {
		prune(c, depth-1)
	}
}

// mark is the version of a configuration resource.
type mark struct {
	tag     string
	changed time.Time // of the datastore; zero when it was never written
}

func newMark(d *tree.Draft) (*mark, error) {
	at, err := d.LastChange()
	return &mark{`"` + d.Tag() + `"`, at}, err
}

func (m *mark) set(h http.Header) {
	h.Set("ETag", m.tag)
	if !m.changed.IsZero() {
		h.Set("Last-Modified", m.changed.UTC().Format(http.TimeFormat))
	}
}

// expected evaluates the conditions of a read that must hold (RFC 9110 section 13.2.2,
// steps 1 and 2).
func (x *exchange) expected(m *mark) error {
	if h := x.r.Header.Values("If-Match"); len(h) > 0 {
		if !matches(h, m.tag) {
			return &statusError{fault.New(fault.Invalid, "the data is not in the state that If-Match names"), http.StatusPreconditionFailed, "operation-failed"}
		}
		return nil
	}
	t, err := http.ParseTime(x.r.Header.Get("If-Unmodified-Since"))
	if err == nil && m.changed.Truncate(time.Second).After(t) {
		return &statusError{fault.New(fault.Invalid, "the data may have changed since then"), http.StatusPreconditionFailed, "operation-failed"}
	}
	return nil
}

// unchanged evaluates the others (steps 3 and 4).
func (x *exchange) unchanged(m *mark) bool {
	if h := x.r.Header.Values("If-None-Match"); len(h) > 0 {
		return matches(h, m.tag)
	}
	t, err := http.ParseTime(x.r.Header.Get("If-Modified-Since"))
	return err == nil && !m.changed.IsZero() && !m.changed.Truncate(time.Second).After(t)
}

// matches reports whether a list of entity-tags holds tag, or is *.
func matches(header []string, tag string) bool {
	for part := range strings.SplitSeq(strings.Join(header, ","), ",") {
		part = strings.TrimPrefix(strings.TrimSpace(part), "W/")
		if part == "*" || part == tag {
			return true
		}
	}
	return false
}
