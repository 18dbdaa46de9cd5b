package restconf

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"slices"
	"strings"
	"time"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/restconf/tree"
	"ctl.internal/internal/yang"
	"ctl.internal/sdk/fault"
)

// getData answers a data resource.
func (x *exchange) getData(kind string, p tree.Path) error {
	n := p.Node()
	if n == nil {
		n = x.installed().Schema.Root
	}
	q, err := x.parseQuery()
	if err == nil && q.fields != nil {
		err = q.fields.checkNames(n)
	}
	if err != nil {
		return err
	}
	x.withOrigin = q.origin
	found, err := x.readInstance(kind, q.content, p)
	if err != nil {
		return err
	}
	if found.stored == nil && found.at == nil && len(p) > 0 {
		if found.at, err = x.defaultAt(kind, q, p); err != nil {
			return err
		}
		found.mark = nil
	}
	if found.stored == nil && found.at == nil {
		if len(p) > 0 {
			return missingDataError(p)
		}
		found.at = yang.NewData(n, false)
	}
	if n.Secret() && !n.MaskedText() {
		return fault.At(
			fault.Denied,
			p.String(),
			"this is secret, so that it can be written and removed, and is not shown",
		)
	}
	if err := x.reachable(p, false); err != nil {
		return err
	}
	readable := x.o.Readable(x.r.Context())
	if readable == nil &&
		found.at == nil &&
		!x.pretty &&
		q.isWhole() &&
		!x.addsDefaults(q, n) &&
		!n.LeavesOut() &&
		!n.Denies() &&
		(len(p) == 0 || found.stored.Array || p.Entry() || !p.Node().IsList()) {
		if err := x.checkVersion(found.mark, p); err != nil {
			return err
		}
		return x.streamStored(p, found.stored)
	}
	at, err := x.visible(&found, p, readable)
	if err == nil && q.page != nil {
		found.mark, err = x.cutPage(p, at, q, found.mark)
	}
	if err == nil {
		err = x.checkVersion(found.mark, p)
	}
	if err != nil {
		return err
	}
	x.shapeData(at, q)
	return x.replyData(p, at)
}

// isWhole reports whether an answer is all that is stored, as it is.
func (q *query) isWhole() bool {
	return q.page == nil &&
		q.fields == nil &&
		q.depth == 0 &&
		(q.defaults == "" || q.defaults == "explicit") &&
		!q.origin
}

// checkVersion sets the header of a version and evaluates the conditions of the request on it; it fails when
// the data is not to be sent.
func (x *exchange) checkVersion(m *mark, p tree.Path) error {
	if m == nil {
		return nil
	}
	if err := x.checkPreconditions(m, p, true); err != nil {
		return err
	}
	m.setHeader(x.w.Header())
	if !m.state && x.isUnchanged(m) {
		x.w.WriteHeader(http.StatusNotModified)
		return errAnswered
	}
	return nil
}

// instance is what a read found.
type instance struct {
	stored *yang.Stored // of one tree
	origin yang.Origin
	at     *yang.Data // of both
	mark   *mark      // of the configuration; nil when none of it was asked for
}

func (i *instance) decodeData(p tree.Path) (*yang.Data, error) {
	if i.at != nil {
		return i.at, nil
	}
	at, err := tree.Decode(p, i.stored)
	at.SetOrigin(i.origin)
	return at, err
}

// visible is what the caller may see of it.
func (x *exchange) visible(
	i *instance,
	p tree.Path,
	readable func(path string) (may, all bool),
) (*yang.Data, error) {
	at, err := i.decodeData(p)
	if err != nil {
		return nil, err
	}
	if readable != nil {
		removeUnreadable(p, at, readable)
	}
	x.hideDenied(p, at)
	at.HideSecrets() // before a filter, the order or the digest of a part can give them away
	if (readable != nil || at.Node.Denies()) && i.mark != nil {
		i.mark = markOf(at)
	}
	return at, nil
}

// readInstance loads the instance at p from the trees that were asked for: content=config
// is the configuration, nonconfig what is observed (also of nodes that could be
// configured, as of a discovered topology), all is both, the configuration first.
// A configuration tree that is the state of a plugin is operational data too.
func (x *exchange) readInstance(kind, content string, p tree.Path) (found instance, err error) {
	if x.own {
		if content != "config" {
			found.at, err = x.ownAt(p)
		}
		return found, err
	}
	owned := len(p) > 0 && x.installed().Owned[p[0].Node.QName()]
	withState := kind == "operational" || kind == "data" && content != "config" && (len(p) == 0 || holdsState(p.Node()))
	withConfig := (kind != "operational" || owned) && content != "nonconfig"
	if withState && x.o.Current != nil && len(p) > 0 {
		if err := x.o.Current(x.r.Context(), p.Key()); err != nil {
			return found, err
		}
	}
	set := x.installed().Schema
	var state *yang.Stored
	err = datastore.Read(x.r.Context(), x.o.Store, func(sn datastore.Snapshot) (err error) {
		if withConfig {
			d := tree.NewDraft(sn, tree.ConfigNamespace, set)
			found.origin = yang.Intended
			if found.stored, err = d.Stored(p); err == nil &&
				kind != "operational" &&
				x.ds != "operational" {
				if found.mark, err = newMark(d); err == nil {
					found.mark.state = withState
				}
			}
		}
		if err == nil && withState {
			state, err = tree.NewDraft(sn, tree.OperationalNamespace, set).Stored(p)
		}
		return err
	})
	switch {
	case err != nil || state == nil:
	case found.stored == nil:
		found.stored, found.origin = state, yang.Learned
	default:
		if found.at, err = found.decodeData(p); err == nil {
			observed := instance{
				stored: state,
				origin: yang.Learned,
			}
			var at *yang.Data
			if at, err = observed.decodeData(p); err == nil {
				found.at.Merge(at)
			}
		}
	}
	return found, err
}

// holdsState reports whether there is state below a node, or it is state.
func holdsState(n *yang.Node) bool {
	return !n.Config || slices.ContainsFunc(n.Members(), holdsState)
}

// shapeData applies with-defaults, fields and depth.
func (x *exchange) shapeData(at *yang.Data, q query) {
	if x.addsDefaults(q, at.Node) {
		at.AddDefaults(yang.Default, q.wantsDefault)
	}
	if q.defaults == "trim" {
		trimDefaults(at)
	}
	if q.fields != nil {
		q.fields.applyFields(at)
	}
	if q.depth > 0 {
		pruneDepth(at, q.depth)
	}
}

func trimDefaults(d *yang.Data) {
	for c := range d.All() {
		if c.Node != nil && !c.Node.IsKey() && c.Node.IsDefault(c.Text()) {
			c.Remove()
		} else {
			trimDefaults(c)
		}
	}
}

// pruneDepth cuts a tree at a depth: 1 is the resource alone (RFC 8040 section 4.8.2).
func pruneDepth(d *yang.Data, depth int) {
	if d.IsArray() {
		if d.Node.Kind == yang.LeafList {
			return
		}
		for e := range d.All() {
			pruneDepth(e, depth)
		}
		return
	}
	if depth == 1 {
		for c := range d.All() {
			if c.Node == nil || !c.Node.IsKey() { // an entry is named by its keys
				c.Remove()
			}
		}
		return
	}
	for c := range d.All() {
		if !c.IsMasked() {
			pruneDepth(c, depth-1)
		}
	}
}

// mark is the version of a configuration resource.
type mark struct {
	tag     string
	state   bool      // the answer has state, too, which the tag does not tell
	changed time.Time // of the datastore; zero when it was never written
}

func newMark(d *tree.Draft) (*mark, error) {
	at, err := d.LastChange()
	return &mark{tag: `"` + d.Tag() + `"`, changed: at}, err
}

// contentDigest names content by 16 hexadecimal digits.
func contentDigest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:8])
}

// markOf is the mark of a part of a resource.
func markOf(part *yang.Data) *mark {
	return &mark{tag: `"` + contentDigest(string(part.Append(nil, yang.Canonical))) + `"`}
}

func (m *mark) setHeader(h http.Header) {
	h.Set("ETag", m.tag)
	if !m.changed.IsZero() {
		h.Set("Last-Modified", m.changed.UTC().Format(http.TimeFormat))
	}
}

// checkPreconditions evaluates the conditions that must hold (RFC 9110 section 13.2.2, steps 1 and 2).
func (x *exchange) checkPreconditions(m *mark, p tree.Path, exists bool) error {
	if h := x.r.Header.Values("If-Match"); len(h) > 0 {
		if !exists || !hasTag(h, m.tag) {
			return preconditionError(p, "the data is not in the state that If-Match names")
		}
		return nil
	}
	t, err := http.ParseTime(x.r.Header.Get("If-Unmodified-Since"))
	if err == nil && m.changed.Truncate(time.Second).After(t) {
		return preconditionError(p, "the data may have changed since then")
	}
	return nil
}

// preconditionError is the error of a condition that does not hold.
func preconditionError(p tree.Path, text string) error {
	return &statusError{fault.At(fault.Invalid, p.String(), "%s", text), http.StatusPreconditionFailed, "operation-failed"}
}

// isUnchanged evaluates the others (steps 3 and 4).
func (x *exchange) isUnchanged(m *mark) bool {
	if h := x.r.Header.Values("If-None-Match"); len(h) > 0 {
		return hasTag(h, m.tag)
	}
	t, err := http.ParseTime(x.r.Header.Get("If-Modified-Since"))
	return err == nil && !m.changed.IsZero() && !m.changed.Truncate(time.Second).After(t)
}

// hasTag reports whether a list of entity-tags holds tag, or is *.
func hasTag(header []string, tag string) bool {
	for part := range strings.SplitSeq(strings.Join(header, ","), ",") {
		part = strings.TrimPrefix(strings.TrimSpace(part), "W/")
		if part == "*" || part == tag {
			return true
		}
	}
	return false
}

// checkConditions evaluates If-Match, If-None-Match and If-Unmodified-Since of a write
// against the draft that the write works on, so that nothing comes in between.
func (x *exchange) checkConditions(d *tree.Draft, p tree.Path) error {
	h := x.r.Header
	none := h.Values("If-None-Match")
	if len(h.Values("If-Match"))+len(none) == 0 && h.Get("If-Unmodified-Since") == "" {
		return nil
	}
	at, err := d.Load(p)
	if err != nil {
		return err
	}
	m, err := newMark(d)
	if err == nil {
		err = x.checkPreconditions(m, p, at != nil)
	}
	if err == nil && at != nil && len(none) > 0 && hasTag(none, m.tag) {
		err = preconditionError(p, "the data is in the state that If-None-Match excludes")
	}
	return err
}
