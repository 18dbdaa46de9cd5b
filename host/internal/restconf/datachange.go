package restconf

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/restconf/tree"
	"ctl.internal/internal/yang"
	"ctl.internal/sdk/fault"
)

// dataChange is the segment below …/streams/json and …/xml where the changes of data are:
// data-change/DATASTORE/PATH?scope=SCOPE. The path of the data is in the address, so that access
// rules for it hold for its changes.
const dataChange = "data-change"

// dataStream is a stream of changes.
type dataStream struct {
	store string // "running" or "operational"
	scope string // "base", "one" or "subtree"
	path  string // RFC 8040
}

const dataStreamPrefix = "data-change-"

// name is the stream's key in the list of streams: one segment of a path.
func (s dataStream) name() string {
	return dataStreamPrefix + base64.RawURLEncoding.EncodeToString([]byte(s.store+" "+s.scope+" "+s.path))
}

func readDataStream(name string) (s dataStream, ok bool) {
	rest, ok := strings.CutPrefix(name, dataStreamPrefix)
	text, err := base64.RawURLEncoding.DecodeString(rest)
	parts := strings.SplitN(string(text), " ", 3)
	if !ok || err != nil || len(parts) != 3 {
		return s, false
	}
	return dataStream{parts[0], parts[1], parts[2]}, true
}

func (s dataStream) location() string {
	l := dataChange + "/" + s.store + s.path
	if s.scope != "subtree" {
		l += "?scope=" + s.scope
	}
	return l
}

// createSubscription answers sal-remote:create-data-change-event-subscription. There is nothing to keep: the
// name says all, and who may read the data may follow its stream.
func (x *exchange) createSubscription(input []byte) ([]byte, error) {
	var in struct {
		Path      string `json:"path"`
		Datastore string `json:"sal-remote-augment:datastore"`
		Scope     string `json:"sal-remote-augment:scope"`
	}
	if err := json.Unmarshal(input, &in); err != nil {
		return nil, err
	}
	p, err := x.parseInstance(in.Path)
	if err != nil {
		return nil, err
	}
	s := dataStream{"running", strings.ToLower(in.Scope), p.Key()}
	if in.Datastore == "OPERATIONAL" {
		s.store = "operational"
	}
	return json.Marshal(map[string]string{"stream-name": s.name()})
}

// parseInstance reads an instance-identifier or a path of RFC 8040.
func (x *exchange) parseInstance(path string) (tree.Path, error) {
	set := x.installed().Schema
	parse := tree.ParseText
	if strings.Contains(path, "[") {
		parse = tree.ParseInstance
	}
	p, err := parse(set, path)
	if err == nil && (len(p) == 0 || !x.installed().IsServed(p[0].Node.Module)) {
		err = fault.New(fault.Invalid, "path: it must be the path of data that is served")
	}
	return p, err
}

// followData serves …/data-change/DATASTORE/PATH.
func (x *exchange) followData(form int) error {
	s := dataStream{store: x.shiftSegment(), scope: "subtree"}
	if s.store != "running" && s.store != "operational" {
		return x.notFound()
	}
	p, err := x.parseTarget()
	q, qerr := url.ParseQuery(x.r.URL.RawQuery)
	if qerr == nil && q.Get("scope") != "" {
		s.scope = q.Get("scope")
	}
	switch {
	case err != nil:
	case len(p) == 0 || x.own:
		err = fault.New(
			fault.Invalid,
			"only the changes of one tree can be followed, not those of the whole datastore: name the tree, …/%s/%s/module:node",
			dataChange,
			s.store,
		)
	case s.scope != "base" && s.scope != "one" && s.scope != "subtree":
		err = fault.New(fault.Invalid, "scope is base, one or subtree, not %.40q", s.scope)
	}
	if err != nil {
		return err
	}
	sp, err := x.parseSpan()
	if err != nil {
		return err
	}
	s.path = p.Key()
	name := s.store + " " + s.scope + " " + s.path
	c := &changes{Handler: x.Handler, stream: s, path: p}
	if x.r.Method == http.MethodGet {
		name += c.resumeAfter(x.r.Header.Get("Last-Event-ID"), sp.start)
	}
	return x.followStream(name, form, c.beginStream, true)
}

// changes makes the events of a data stream from the log of the datastore. An event has the
// revision of its transaction as its number, by which a client may go on later.
type changes struct {
	*Handler
	stream dataStream
	path   tree.Path
	after  datastore.Revision
	seen   datastore.Revision // by the client; what is older in the log says what the documents were
	replay bool               // from after on, or from the time since
	since  time.Time          // of the first change that is wanted
	lost   string             // what the client missed and is not stored
	docs   map[string]string  // documents as they were before the next change; of a replay those that it has seen
}

// resumeAfter says where to begin: after the event that the client saw last, or at a time. It returns what distinguishes
// this stream from those that begin elsewhere.
func (c *changes) resumeAfter(last string, start time.Time) string {
	switch rev, err := strconv.ParseUint(last[strings.LastIndexByte(last, '-')+1:], 10, 64); {
	case last != "" && err == nil && rev > 0:
		c.after, c.replay = datastore.Revision(rev), true
		return " after " + strconv.FormatUint(rev, 10)
	case last != "":
		c.lost = fmt.Sprintf(
			"the event %.60q is not one of this stream: read the data, changes follow from now on",
			last,
		)
		return " after " + last
	case !start.IsZero():
		c.since, c.replay = start, true
		return " since " + start.UTC().Format(time.RFC3339Nano)
	}
	return ""
}

func (c *changes) namespaces() []string {
	if c.stream.store == "running" {
		return []string{tree.ConfigNamespace}
	}
	if c.o.Catalog.Installed().Owned[c.path[0].Node.QName()] {
		return []string{tree.ConfigNamespace, tree.OperationalNamespace}
	}
	return []string{tree.OperationalNamespace}
}

// beginStream implements source: it notes what is there now, or how far back the log goes.
func (c *changes) beginStream(ctx context.Context) (func(func(Event)) error, error) {
	c.docs = map[string]string{}
	owner := c.path.Owner().Key()
	var prefixes []datastore.Prefix
	for _, ns := range c.namespaces() {
		prefixes = append(prefixes, datastore.Prefix{
			Namespace: ns,
			Key:       owner,
		})
	}
	if c.replay {
		if err := c.checkLogReach(ctx); err != nil {
			return nil, err
		}
	}
	if !c.replay {
		if err := c.noteDocuments(ctx, prefixes); err != nil {
			return nil, err
		}
	}
	return func(emit func(Event)) error { return c.emitChanges(ctx, prefixes, emit) }, nil
}

// noteDocuments notes the documents as they are now.
func (c *changes) noteDocuments(ctx context.Context, prefixes []datastore.Prefix) error {
	return c.o.Store.View(ctx, func(sn datastore.Snapshot) error {
		c.after = sn.Revision()
		for _, p := range prefixes {
			for e, err := range sn.Range(
				p.Namespace,
				datastore.RangeOptions{
					Prefix: p.Key,
					Shared: true,
				},
			) {
				if err != nil {
					return err
				}
				c.docs[e.Key] = unsafe.String(unsafe.SliceData(e.Value), len(e.Value)) // it is never changed
			}
		}
		return nil
	})
}

// checkLogReach makes sure that the log goes back far enough. If it does not, the stream begins with what is stored, or now
// where the client names a transaction that is not, and says so.
func (c *changes) checkLogReach(ctx context.Context) error {
	now := c.o.Store.Revision()
	oldest, at, err := oldestChange(ctx, c.o.Store, now)
	switch {
	case err != nil:
		return err
	case !c.since.IsZero():
		if c.after = oldest; oldest > 0 && at.After(c.since) {
			c.lost = fmt.Sprintf(
				"changes before %s are no longer stored: read the data",
				at.UTC().Format(time.RFC3339),
			)
		}
	case c.after > now:
		c.lost, c.replay = "the event is not one of this datastore: read the data, changes follow from now on", false
	case c.after < oldest:
		c.lost, c.replay = "the changes since that event are no longer stored: read the data, changes follow from now on", false
	default:
		c.after, c.seen = oldest, c.after
	}
	return nil
}

// oldestChange is the revision after which all changes are in the log, and the time of the first of them.
func oldestChange(
	ctx context.Context,
	s datastore.Store,
	now datastore.Revision,
) (datastore.Revision, time.Time, error) {
	stop := errors.New("one is enough")
	var at time.Time
	kept := func(after datastore.Revision) (bool, error) {
		err := s.Watch(ctx, after, []datastore.Prefix{{Namespace: tree.ConfigNamespace}, {Namespace: tree.OperationalNamespace}}, func(b datastore.Batch) error {
			at = b.At
			return stop
		})
		if errors.Is(err, stop) || errors.Is(err, datastore.ErrCompacted) {
			return errors.Is(err, stop), nil
		}
		return false, err
	}
	low, high := datastore.Revision(0), now // high is kept
	for low < high {
		middle := low + (high-low)/2
		ok, err := kept(middle)
		if err != nil {
			return 0, at, err
		}
		if ok {
			high = middle
		} else {
			low = middle + 1
		}
	}
	if high < now {
		if _, err := kept(high); err != nil {
			return 0, at, err
		}
	}
	return high, at, nil
}

// emitChanges emits an event for each transaction that changes the data.
func (c *changes) emitChanges(
	ctx context.Context,
	prefixes []datastore.Prefix,
	emit func(Event),
) error {
	if c.lost != "" {
		emit(missedEvent(c.lost, c.o.Now(), uint64(c.after)))
	}
	err := c.o.Store.Watch(ctx, c.after, prefixes, func(b datastore.Batch) error {
		var list []change
		for _, e := range b.Events {
			if !e.Same {
				list = append(list, c.changesOf(e)...)
			}
		}
		if len(list) == 0 ||
			b.Revision <= c.seen ||
			!c.since.IsZero() && !b.At.IsZero() && b.At.Before(c.since) {
			return nil
		}
		e := Event{
			Time:   b.At,
			Name:   "sal-remote:data-changed-notification",
			Number: uint64(b.Revision),
		}
		if e.Time.IsZero() {
			e.Time = c.o.Now()
		}
		var err error
		if e.Data, err = json.Marshal(map[string]any{"data-change-event": list}); err != nil {
			return err
		}
		e.XML = func() ([]byte, error) { return changesXML(list), nil }
		emit(e)
		return nil
	})
	if errors.Is(err, datastore.ErrCompacted) {
		return errors.New("more changes came at once than are stored: read the data and follow from now on")
	}
	return err
}

// missedEvent is the event that reports to a client what it has missed.
func missedEvent(what string, now time.Time, number uint64) Event {
	text, _ := json.Marshal(map[string]string{"reason": what}) // a string can be written
	return Event{
		Time:   now,
		Name:   "ctl-system:events-missed",
		Data:   text,
		Number: number,
	}
}

// change is one event of the notification.
type change struct {
	Path      string          `json:"path"`
	Operation string          `json:"operation"`
	Data      json.RawMessage `json:"data,omitempty"`
	xml       []byte
	xmlPath   []byte
}

// changesOf makes the events of a document that was written; none when it is not of this stream.
func (c *changes) changesOf(e datastore.Event) []change {
	key := e.Key
	owner := c.path.Owner()
	target := c.stream.path
	inside := key == owner.Key() && len(owner) < len(c.path)
	if !inside &&
		key != target &&
		!strings.HasPrefix(key, target+"/") &&
		!strings.HasPrefix(key, target+"=") {
		return nil
	}
	p, err := tree.ParseText(c.o.Catalog.Installed().Schema, key)
	if err != nil {
		return nil
	}
	text, seen := c.docs[key]
	delete(c.docs, key)
	var old, now *yang.Data
	if seen {
		old, _ = tree.DecodeStored(p, []byte(text)) // what no longer fits the schema is reported whole
	}
	if !e.Deleted {
		c.docs[key] = string(e.Value)
		if now, err = tree.DecodeStored(p, e.Value); err != nil {
			return nil
		}
	}
	if inside {
		old, now, p = tree.Descend(old, c.path[len(owner):]), tree.Descend(now, c.path[len(owner):]), c.path
	}
	switch {
	case old == nil && now == nil:
		return nil
	case now == nil:
		return c.changesInScope(newDifference(p, "deleted", nil))
	case old == nil && (e.Created || inside && seen):
		return c.changesInScope(newDifference(p, "created", now))
	case old == nil:
		return c.changesInScope(newDifference(p, "updated", now))
	}
	list := findDifferences(p, old, now)
	if inside && list == nil {
		return nil
	}
	for _, d := range list {
		if !c.isWithinScope(d.path) { // what is too deep for the scope is a change of the document
			list = nil
			break
		}
	}
	if list == nil {
		list = []difference{newDifference(p, "updated", now)}
	}
	return c.changesInScope(list...)
}

// isWithinScope reports whether an instance is in the scope of the stream.
func (c *changes) isWithinScope(p tree.Path) bool {
	switch c.stream.scope {
	case "base":
		return len(p) == len(c.path)
	case "one":
		return len(p) <= len(c.path)+1
	}
	return true
}

// changesInScope writes the differences that are in the scope.
func (c *changes) changesInScope(list ...difference) (out []change) {
	x := exchange{Handler: c.Handler, env: rfc8040}
	for _, d := range list {
		if !c.isWithinScope(d.path) {
			continue
		}
		if x.reachable(d.path, false) != nil {
			continue
		}
		d = d.shown()
		w := change{
			Path:      d.path.String(),
			Operation: d.operation,
		}
		if d.now != nil {
			x.hideDenied(d.path, d.now)
			d.now.HideSecrets()
			w.Data = x.encodeMember(d.path, d.now)
			w.xml = d.now.AppendXML(nil)
		}
		w.xmlPath = c.o.Catalog.Installed().Schema.XMLPath(w.Path)
		out = append(out, w)
	}
	return out
}

// difference is one node that was created, updated or deleted.
type difference struct {
	path      tree.Path
	operation string
	now       *yang.Data
}

// shown is the difference without what is secret of it: of what is left out altogether the topmost node is reported, as
// the keys of entries below it are secret, too.
func (d difference) shown() difference {
	for i, s := range d.path {
		if !s.Node.Secret() || s.Node.MaskedText() {
			continue
		}
		if i < len(d.path)-1 || s.Keys != nil {
			d.operation = "updated"
		}
		return difference{
			path:      append(d.path[:i:i], tree.Step{Node: s.Node}),
			operation: d.operation,
		}
	}
	return d
}

func newDifference(p tree.Path, operation string, now *yang.Data) difference {
	return difference{p, operation, now}
}

// findDifferences lists what changed between two instances of p: leaves, entries of leaf-lists, and what came or went as a
// whole. Lists without keys and anydata are compared as wholes.
func findDifferences(p tree.Path, old, now *yang.Data) (out []difference) {
	n := p.Node()
	switch {
	case n.IsLeaf() && !now.IsArray():
		if old.Text() != now.Text() {
			out = append(out, newDifference(p, "updated", now))
		}
		return out
	case n.Kind == yang.LeafList && !n.Secret():
		return leafListDifferences(p, old, now)
	case now.IsArray() || n.Kind == yang.AnyData || n.Secret():
		if !bytes.Equal(old.Append(nil, yang.Canonical), now.Append(nil, yang.Canonical)) {
			out = append(out, newDifference(p, "updated", now))
		}
		return out
	}
	for c := range now.All() {
		below := append(p[:len(p):len(p)], tree.Step{Node: c.Node})
		if was := old.Get(c.Node); was != nil {
			out = append(out, findDifferences(below, was, c)...)
		} else {
			out = append(out, newDifference(below, "created", c))
		}
	}
	for c := range old.All() {
		if now.Get(c.Node) == nil {
			out = append(
				out,
				newDifference(append(p[:len(p):len(p)], tree.Step{Node: c.Node}), "deleted", nil),
			)
		}
	}
	return out
}

func leafListDifferences(p tree.Path, old, now *yang.Data) (out []difference) {
	entry := func(e *yang.Data) tree.Path {
		return append(p[:len(p)-1:len(p)-1], tree.Step{
			Node: p.Node(),
			Keys: e.KeyValues(),
		})
	}
	for e := range now.All() {
		if old.Entry(e.KeyValues()) == nil {
			out = append(out, newDifference(entry(e), "created", e))
		}
	}
	for e := range old.All() {
		if now.Entry(e.KeyValues()) == nil {
			out = append(out, newDifference(entry(e), "deleted", nil))
		}
	}
	if out == nil &&
		!bytes.Equal(old.Append(nil, yang.Canonical), now.Append(nil, yang.Canonical)) {
		out = append(out, newDifference(p, "updated", now)) // their order
	}
	return out
}

// changesXML writes the notification's element.
func changesXML(list []change) []byte {
	buf := []byte(`<data-changed-notification xmlns="urn:opendaylight:params:xml:ns:yang:controller:md:sal:remote">`)
	for _, c := range list {
		buf = append(buf, "<data-change-event>"...)
		buf = append(append(append(buf, c.xmlPath...), "<operation>"...), c.Operation...)
		buf = append(buf, "</operation>"...)
		if c.xml != nil {
			buf = append(append(append(buf, "<data>"...), c.xml...), "</data>"...)
		}
		buf = append(buf, "</data-change-event>"...)
	}
	return append(buf, "</data-changed-notification>"...)
}
