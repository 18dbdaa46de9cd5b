package restconf

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

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

// subscribe answers sal-remote:create-data-change-event-subscription. There is nothing to keep: the
// name says all, and who may read the data may follow its stream.
func (x *exchange) subscribe(input []byte) ([]byte, error) {
	var in struct {
		Path      string `json:"path"`
		Datastore string `json:"sal-remote-augment:datastore"`
		Scope     string `json:"sal-remote-augment:scope"`
	}
	if err := json.Unmarshal(input, &in); err != nil {
		return nil, err
	}
	p, err := x.instance(in.Path)
	if err != nil {
		return nil, err
	}
	s := dataStream{"running", strings.ToLower(in.Scope), p.Key()}
	if in.Datastore == "OPERATIONAL" {
		s.store = "operational"
	}
	return json.Marshal(map[string]string{"stream-name": s.name()})
}

// instance reads an instance-identifier or a path of RFC 8040.
func (x *exchange) instance(path string) (tree.Path, error) {
	set := x.installed().Schema
	parse := tree.ParseText
	if strings.Contains(path, "[") {
		parse = tree.ParseInstance
	}
	p, err := parse(set, path)
	if err == nil && (len(p) == 0 || !x.installed().served(p[0].Node.Module)) {
		err = fault.New(fault.Invalid, "path: it must be the path of data that is served")
	}
	return p, err
}

// followData serves …/data-change/DATASTORE/PATH.
func (x *exchange) followData(form int) error {
	s := dataStream{store: x.shift(), scope: "subtree"}
	if s.store != "running" && s.store != "operational" {
		return x.notFound()
	}
	p, err := x.target()
	if q, qerr := url.ParseQuery(x.r.URL.RawQuery); qerr == nil && q.Get("scope") != "" {
		s.scope = q.Get("scope")
	}
	switch {
	case err != nil:
	case len(p) == 0 || x.own:
		err = fault.New(fault.Invalid, "only the changes of one tree can be followed, not those of the whole datastore: name the tree, …/%s/%s/module:node", dataChange, s.store)
	case s.scope != "base" && s.scope != "one" && s.scope != "subtree":
		err = fault.New(fault.Invalid, "scope is base, one or subtree, not %.40q", s.scope)
	}
	if err != nil {
		return err
	}
	s.path = p.Key()
	name := s.store + " " + s.scope + " " + s.path
	c := &changes{Handler: x.Handler, stream: s, path: p}
	if last := x.r.Header.Get("Last-Event-ID"); last != "" && x.r.Method == http.MethodGet {
		if rev, err := strconv.ParseUint(last[strings.LastIndexByte(last, '-')+1:], 10, 64); err == nil && rev > 0 {
			c.after, name = datastore.Revision(rev), name+" "+strconv.FormatUint(rev, 10)
		}
	}
	return x.follow(name, form, c.begin)
}

// changes makes the events of a data stream from the log of the datastore. An event has the
// revision of its transaction as its number, by which a client may go on later.
type changes struct {
	*Handler
	stream dataStream
	path   tree.Path
	after  datastore.Revision
	known  map[string]bool // documents that are there, to distinguish created from updated
	last   string          // the text of what is inside of one document
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

// begin implements source: it notes what is there now.
func (c *changes) begin(ctx context.Context) (func(func(Event)) error, error) {
	c.known = map[string]bool{}
	owner := c.path.Owner().Key()
	var prefixes []datastore.Prefix
	for _, ns := range c.namespaces() {
		prefixes = append(prefixes, datastore.Prefix{Namespace: ns, Key: owner})
	}
	err := c.o.Store.View(ctx, func(sn datastore.Snapshot) error {
		if c.after == 0 || c.after > sn.Revision() {
			c.after = sn.Revision()
		}
		for _, p := range prefixes {
			for e, err := range sn.Range(p.Namespace, datastore.RangeOptions{Prefix: p.Key}) {
				if err != nil {
					return err
				}
				c.known[e.Key] = true
				if e.Key == owner {
					c.last = c.inner(e.Value)
				}
			}
		}
		return nil
	})
	return func(emit func(Event)) error { return c.run(ctx, prefixes, emit) }, err
}

// run emits an event for each transaction that changes the data.
func (c *changes) run(ctx context.Context, prefixes []datastore.Prefix, emit func(Event)) error {
	err := c.o.Store.Watch(ctx, c.after, prefixes, func(b datastore.Batch) error {
		var list []change
		for _, e := range b.Events {
			if one, ok := c.change(e); ok {
				list = append(list, one)
			}
		}
		if len(list) == 0 {
			return nil
		}
		e := Event{Time: b.At, Name: "sal-remote:data-changed-notification", Number: uint64(b.Revision)}
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
		return errors.New("the changes since then are no longer stored: read the data and follow from now on")
	}
	return err
}

// change is one event of the notification.
type change struct {
	Path      string          `json:"path"`
	Operation string          `json:"operation"`
	Data      json.RawMessage `json:"data,omitempty"`
	xml       []byte
	xmlPath   []byte
}

// inner is the instance inside of a document, where the path leads into one.
func (c *changes) inner(value []byte) string {
	owner := c.path.Owner()
	if len(owner) == len(c.path) {
		return ""
	}
	at, err := tree.DecodeStored(owner, value)
	if err != nil {
		return ""
	}
	if at = tree.Descend(at, c.path[len(owner):]); at == nil {
		return ""
	}
	return string(at.Append(nil, yang.Canonical))
}

// change makes an event of a document that was written; false when it is not of this stream.
func (c *changes) change(e datastore.Event) (change, bool) {
	set := c.o.Catalog.Installed().Schema
	key, owner, target := e.Key, c.path.Owner().Key(), c.stream.path
	below := key == target || strings.HasPrefix(key, target+"/") || strings.HasPrefix(key, target+"=")
	inside := key == owner && owner != target
	if !below && !inside {
		return change{}, false
	}
	p, err := tree.ParseText(set, key)
	if err != nil || c.stream.scope == "base" && below && key != target || c.stream.scope == "one" && len(p) > len(c.path)+1 {
		return change{}, false
	}
	one := change{Operation: "updated"}
	was := c.known[key]
	c.known[key] = !e.Deleted
	if e.Deleted {
		delete(c.known, key)
	}
	var at *yang.Data
	if !e.Deleted {
		if at, err = tree.DecodeStored(p, e.Value); err != nil {
			return change{}, false
		}
	}
	if inside {
		p = c.path
		now := ""
		if at != nil {
			now = c.inner(e.Value)
			at = tree.Descend(at, c.path[len(c.path.Owner()):])
		}
		if now == c.last {
			return change{}, false
		}
		was, c.last = c.last != "", now
	}
	one.Path = p.String()
	switch {
	case at == nil:
		one.Operation = "deleted"
	case !was:
		one.Operation = "created"
	}
	if at != nil {
		hide(p, at)
		x := exchange{Handler: c.Handler, env: rfc8040}
		one.Data = x.member(p, at)
		one.xml = at.AppendXML(nil)
	}
	one.xmlPath = set.XMLPath(one.Path)
	return one, true
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
