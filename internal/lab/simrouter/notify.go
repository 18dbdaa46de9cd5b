package simrouter

import (
	"time"

	"ctl.internal/internal/netconf"
	"ctl.internal/internal/netconf/xmltree"
)

// Notify sends a notification to the sessions that subscribed.
func (r *Router) Notify(body *xmltree.Node) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tell(body)
}

// BFRIDCollision is the notification of ietf-bier.
func BFRIDCollision(id uint32) *xmltree.Node {
	return xmltree.New(NSBier, "bfr-id-collision", xmltree.Leaf(NSBier, "bfr-id", number10(id)))
}

// BFRZero is the notification of ietf-bier.
func BFRZero(ipv4, ipv6 string) *xmltree.Node {
	return xmltree.New(NSBier, "bfr-zero", xmltree.Leaf(NSBier, "ipv4-bfr-prefix", ipv4), xmltree.Leaf(NSBier, "ipv6-bfr-prefix", ipv6))
}

// SubDomainIDCollision is the notification of ietf-bier.
func SubDomainIDCollision(id, mt uint32) *xmltree.Node {
	return xmltree.New(NSBier, "sub-domain-id-collision", xmltree.Leaf(NSBier, "sub-domain-id", number10(id)), xmltree.Leaf(NSBier, "mt-id", number10(mt)))
}

// changed notifies of a change of running (RFC 6470 section 2.1); by is nil for the
// router itself.
func (r *Router) changed(by *session) {
	e := func(name string, kids ...*xmltree.Node) *xmltree.Node {
		return xmltree.New(netconf.NSBaseEvents, name, kids...)
	}
	l := func(name, v string) *xmltree.Node { return xmltree.Leaf(netconf.NSBaseEvents, name, v) }
	who := e("changed-by", e("server"))
	if by != nil {
		who = e("changed-by", l("username", by.user), l("session-id", number10(by.id)))
	}
	r.tell(e("netconf-config-change", who, l("datastore", "running")))
}

func (r *Router) tell(body *xmltree.Node) {
	for _, s := range r.sessions {
		if s.subscribed {
			s.event(body)
		}
	}
}

func (s *session) event(body *xmltree.Node) {
	n := xmltree.New(netconf.NSNotification, "notification",
		xmltree.Leaf(netconf.NSNotification, "eventTime", time.Now().UTC().Format(time.RFC3339Nano)), body)
	s.queue(s.frame(n.Bytes(), s.f.Chunked, Faults{}))
}
