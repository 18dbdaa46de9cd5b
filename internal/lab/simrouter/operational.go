package simrouter

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"ctl.internal/internal/netconf"
	"ctl.internal/internal/netconf/xmltree"
)

// Plane is what a router has made of its configuration, and where its packets come.
type Plane struct {
	// State is shown beside the configuration by get, and by get-data where the model has it:
	// a nameless element with top-level ones.
	State *xmltree.Node
	// Reaches says how many of count packets to a BFR-id come back. Nil: none.
	Reaches func(bfrID uint64, count uint64) uint64
}

// SetPlane changes what the router shows and reaches, for the next message on.
func (r *Router) SetPlane(p Plane) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.plane = p
}

// operationalData is the configuration in use with the state. The lock is held.
func (r *Router) operationalData() *xmltree.Node {
	if r.plane.State == nil {
		return r.store.running
	}
	all := copyNode(r.store.running)
	_ = r.store.schema.Edit(all, r.plane.State, "merge") // what the model has no place for is not shown
	return all
}

// announcesNamespace reports whether one of the model's modules has the namespace.
func (r *Router) announcesNamespace(space string) bool {
	return slices.ContainsFunc(r.o.Model.Modules, func(m string) bool {
		return strings.HasPrefix(m, space+"?") && r.hasCapability(m)
	})
}

// checkContinuity is continuity-check for one target. The lock is held.
func (r *Router) checkContinuity(op *xmltree.Node) (*xmltree.Node, error) {
	to := op.Down("destination-tp")
	rpc := func(name string) *xmltree.Node { return to.Kid(NSRPCs, name) }
	target, err := strconv.ParseUint(rpc("target-bfers").Value("bier-bfrid"), 10, 16)
	count, err2 := strconv.ParseUint(op.Value("count"), 10, 32)
	if err != nil ||
		err2 != nil ||
		rpc("bier-subdomainid") == nil ||
		rpc("bfir") == nil ||
		rpc("bier-bfers").Value("bier-bfrid") == "" {
		return nil, &Fault{"missing-element", "/destination-tp", "a BIER address, a target and a count are needed"}
	}
	back := uint64(0)
	if r.plane.Reaches != nil {
		back = min(count, r.plane.Reaches(target, count))
	}
	number := func(name string, n uint64) *xmltree.Node {
		return xmltree.Leaf(NSMethods, name, strconv.FormatUint(n, 10))
	}
	return xmltree.New(
		NSMethods,
		"session-packet-statistics",
		number("rx-packet-count", back),
		number("tx-packet-count", count),
	), nil
}

// Notify sends a notification to the sessions that subscribed.
func (r *Router) Notify(body *xmltree.Node) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.notifySubscribers(body)
}

// BFRIDCollision is the notification of ietf-bier.
func BFRIDCollision(id uint32) *xmltree.Node {
	return xmltree.New(NSBier, "bfr-id-collision", xmltree.Leaf(NSBier, "bfr-id", formatUint(id)))
}

// BFRZero is the notification of ietf-bier.
func BFRZero(ipv4, ipv6 string) *xmltree.Node {
	return xmltree.New(
		NSBier,
		"bfr-zero",
		xmltree.Leaf(NSBier, "ipv4-bfr-prefix", ipv4),
		xmltree.Leaf(NSBier, "ipv6-bfr-prefix", ipv6),
	)
}

// SubDomainIDCollision is the notification of ietf-bier.
func SubDomainIDCollision(id, mt uint32) *xmltree.Node {
	return xmltree.New(
		NSBier,
		"sub-domain-id-collision",
		xmltree.Leaf(NSBier, "sub-domain-id", formatUint(id)),
		xmltree.Leaf(NSBier, "mt-id", formatUint(mt)),
	)
}

// notifyConfigChange notifies of a change of running (RFC 6470 section 2.1); by is nil for the
// router itself.
func (r *Router) notifyConfigChange(by *session) {
	e := func(name string, kids ...*xmltree.Node) *xmltree.Node {
		return xmltree.New(netconf.NSBaseEvents, name, kids...)
	}
	l := func(name, v string) *xmltree.Node {
		return xmltree.Leaf(netconf.NSBaseEvents, name, v)
	}
	who := e("changed-by", e("server"))
	if by != nil {
		who = e("changed-by", l("username", by.user), l("session-id", formatUint(by.id)))
	}
	r.notifySubscribers(e("netconf-config-change", who, l("datastore", "running")))
}

func (r *Router) notifySubscribers(body *xmltree.Node) {
	for _, s := range r.sessions {
		if s.subscribed {
			s.queueEvent(body)
		}
	}
}

func (s *session) queueEvent(body *xmltree.Node) {
	n := xmltree.New(netconf.NSNotification, "notification",
		xmltree.Leaf(
			netconf.NSNotification,
			"eventTime",
			time.Now().UTC().Format(time.RFC3339Nano),
		), body)
	s.queueMessage(s.frameMessage(n.Bytes(), s.f.Chunked, Faults{}))
}
