package netconf

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"ctl.internal/internal/netconf/xmltree"
)

// Operation is the content of an rpc: any element. It is a method of the library.
type Operation struct{ Element *xmltree.Node }

// MarshalMethod returns the XML; the library puts it into an rpc.
func (o Operation) MarshalMethod() string {
	return o.Element.String()
}

// Name is the operation's name, for messages.
func (o Operation) Name() string { return o.Element.Name }

func newElement(name string, kids ...*xmltree.Node) *xmltree.Node {
	return xmltree.New(NS, name, kids...)
}

func newLeafElement(name, text string) *xmltree.Node {
	return xmltree.Leaf(NS, name, text)
}

func newDatastoreOperation(operation, role string, ds Datastore) Operation {
	return Operation{newElement(operation, newElement(role, newElement(string(ds))))}
}

// CloseOp is close-session (RFC 6241 section 7.8).
func CloseOp() Operation {
	return Operation{newElement("close-session")}
}

// KillOp is kill-session (RFC 6241 section 7.9) of another session.
func KillOp(session string) Operation {
	return Operation{newElement("kill-session", newLeafElement("session-id", session))}
}

// NoFilter is a subtree filter that selects nothing.
func NoFilter() []*xmltree.Node { return []*xmltree.Node{} }

// newSubtreeFilter makes a subtree filter (RFC 6241 section 6); nil selects everything, an
// empty list nothing.
func newSubtreeFilter(subtrees []*xmltree.Node) *xmltree.Node {
	if subtrees == nil {
		return nil
	}
	return newElement("filter", subtrees...).With("", "type", "subtree")
}

// GetOp is get (RFC 6241 section 7.7): configuration and state.
func GetOp(subtrees ...*xmltree.Node) Operation {
	return Operation{newElement("get", newSubtreeFilter(subtrees))}
}

// StateOp reads state and configuration in use: get-data of the operational datastore
// (RFC 8526 section 3.1.1) where a server has it, else get.
func StateOp(c Capabilities, subtrees ...*xmltree.Node) Operation {
	if _, ok := c.Module("ietf-netconf-nmda"); !ok {
		return GetOp(subtrees...)
	}
	return Operation{xmltree.New(NSNMDA, "get-data", xmltree.Leaf(NSNMDA, "datastore", "ds:operational").With("", "xmlns:ds", NSDatastores),
		xmltree.New(NSNMDA, "subtree-filter", subtrees...))}
}

// GetConfigOp is get-config (RFC 6241 section 7.1).
func GetConfigOp(ds Datastore, subtrees ...*xmltree.Node) Operation {
	return Operation{newElement(
		"get-config",
		newElement("source", newElement(string(ds))),
		newSubtreeFilter(subtrees),
	)}
}

// LockOp is lock (RFC 6241 section 7.5).
func LockOp(ds Datastore) Operation {
	return newDatastoreOperation("lock", "target", ds)
}

// UnlockOp is unlock (RFC 6241 section 7.6).
func UnlockOp(ds Datastore) Operation {
	return newDatastoreOperation("unlock", "target", ds)
}

// DiscardOp is discard-changes (RFC 6241 section 8.3): candidate becomes running.
func DiscardOp() Operation {
	return Operation{newElement("discard-changes")}
}

// CommitOp is commit (RFC 6241 section 8.3); it confirms a confirmed commit too.
func CommitOp() Operation {
	return Operation{newElement("commit")}
}

// ConfirmedCommitOp is a commit that the router takes back unless CommitOp follows
// within timeout, at least a second, or the session stays (RFC 6241 section 8.4).
func ConfirmedCommitOp(timeout time.Duration) Operation {
	seconds := strconv.Itoa(max(1, int(timeout/time.Second)))
	return Operation{newElement(
		"commit",
		newElement("confirmed"),
		newLeafElement("confirm-timeout", seconds),
	)}
}

// CancelCommitOp takes a confirmed commit back (RFC 6241 section 8.4.4).
func CancelCommitOp() Operation {
	return Operation{newElement("cancel-commit")}
}

// SubscribeOp is create-subscription (RFC 5277 section 2.1.1) to the server's default stream.
func SubscribeOp() Operation {
	return Operation{xmltree.New(NSNotification, "create-subscription")}
}

// Edit is the input of edit-config (RFC 6241 section 7.2).
type Edit struct {
	Target           Datastore
	DefaultOperation string // merge, replace, none; empty: the server's, merge
	ErrorOption      string // stop-on-error, continue-on-error, rollback-on-error; empty: the server's
	Config           []*xmltree.Node
}

// Operation is the edit-config.
func (e Edit) Operation() Operation {
	n := newElement("edit-config", newElement("target", newElement(string(e.Target))))
	for _, o := range [][2]string{{"default-operation", e.DefaultOperation}, {"error-option", e.ErrorOption}} {
		if o[1] != "" {
			n.Add(newLeafElement(o[0], o[1]))
		}
	}
	return Operation{n.Add(newElement("config", e.Config...))}
}

// Data is the content of an answer to op, which is get, get-config or get-data.
func (a Answer) Data(op Operation) (*xmltree.Node, error) {
	if a.Err != nil {
		return nil, a.Err
	}
	for _, n := range a.Reply.Data {
		if n.Is(op.Element.Space, "data") {
			return n, nil
		}
	}
	return nil, fmt.Errorf("%w: %s was answered without data", ErrUnclear, op.Name())
}

// OK does an operation that answers with ok, and nothing less.
func (s *Session) OK(ctx context.Context, op Operation) error {
	return s.DoAll(ctx, op)[0].OK(op)
}

// OK is nil when the answer to op is ok, and nothing less.
func (a Answer) OK(op Operation) error {
	if a.Err == nil && !a.Reply.OK {
		return fmt.Errorf("%w: %s was answered without ok", ErrUnclear, op.Name())
	}
	return a.Err
}

// Refused returns the rpc-errors of err, nil if it is not a refusal of the router.
func Refused(err error) Refusal {
	r, _ := errors.AsType[Refusal](err)
	return r
}

// Namespaces and capabilities of NETCONF.
const (
	NS             = "urn:ietf:params:xml:ns:netconf:base:1.0"         // RFC 6241 section 3.1
	NSNotification = "urn:ietf:params:xml:ns:netconf:notification:1.0" // RFC 5277 section 4
	NSBaseEvents   = "urn:ietf:params:xml:ns:yang:ietf-netconf-notifications"

	NSNMDA       = "urn:ietf:params:xml:ns:yang:ietf-netconf-nmda" // RFC 8526
	NSDatastores = "urn:ietf:params:xml:ns:yang:ietf-datastores"   // RFC 8342

	Base10          = "urn:ietf:params:netconf:base:1.0"
	Base11          = "urn:ietf:params:netconf:base:1.1"
	WritableRunning = "urn:ietf:params:netconf:capability:writable-running:1.0"
	Candidate       = "urn:ietf:params:netconf:capability:candidate:1.0"
	ConfirmedCommit = "urn:ietf:params:netconf:capability:confirmed-commit:1.1"
	RollbackOnError = "urn:ietf:params:netconf:capability:rollback-on-error:1.0"
	Validate11      = "urn:ietf:params:netconf:capability:validate:1.1"
	Notifications   = "urn:ietf:params:netconf:capability:notification:1.0"
	Interleave      = "urn:ietf:params:netconf:capability:interleave:1.0" // RFC 5277 section 6
)

// Datastore is the name of a configuration datastore (RFC 6241 section 5.1).
type Datastore string

// The datastores.
const (
	Running     Datastore = "running"
	CandidateDS Datastore = "candidate"
)

// Capabilities are what a server announced in its hello, as it wrote them.
type Capabilities []string

// Has reports whether the capability uri was announced, with or without parameters.
func (c Capabilities) Has(uri string) bool {
	return slices.ContainsFunc(c, func(have string) bool {
		base, _, _ := strings.Cut(have, "?")
		return base == uri
	})
}

// Module is a YANG module that was announced (RFC 6020 section 5.6.4).
type Module struct {
	Namespace, Name, Revision string
}

// Module finds a module by its name; ok is false if it was not announced.
func (c Capabilities) Module(name string) (m Module, ok bool) {
	for _, have := range c {
		base, query, _ := strings.Cut(have, "?")
		if !strings.Contains(query, "module=") {
			continue
		}
		v, err := url.ParseQuery(strings.ReplaceAll(query, "&amp;", "&"))
		if err == nil && v.Get("module") == name {
			return Module{base, name, v.Get("revision")}, true
		}
	}
	return Module{}, false
}
