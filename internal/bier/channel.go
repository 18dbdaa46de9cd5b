package bier

import (
	"fmt"
	"net/netip"
	"slices"
)

// Channel is a multicast flow, in the form of module bier-channel. It is deployed
// when it has an ingress node.
type Channel struct {
	Name           string       `json:"name"`
	SrcIP          string       `json:"src-ip"`
	DstGroup       string       `json:"dst-group"`
	DomainID       uint16       `json:"domain-id"`
	SubDomainID    uint16       `json:"sub-domain-id"`
	SourceWildcard uint8        `json:"source-wildcard"`
	GroupWildcard  uint8        `json:"group-wildcard"`
	IngressNode    string       `json:"ingress-node,omitempty"`
	SrcTP          string       `json:"src-tp,omitempty"` // port that the source is at
	EgressNodes    []EgressNode `json:"egress-node,omitempty"`
}

// EgressNode is where a flow leaves the domain.
type EgressNode struct {
	ID        string     `json:"node-id"`
	Receivers []Receiver `json:"rcv-tp,omitempty"`
}

// Receiver is a port that receivers are at.
type Receiver struct {
	TP string `json:"tp"`
}

// Ports are the ports that receivers are at.
func (e EgressNode) Ports() (out []string) {
	for _, r := range e.Receivers {
		out = append(out, r.TP)
	}
	return out
}

// Same reports whether routers hold the same for two egress nodes.
func (e EgressNode) Same(o EgressNode) bool {
	return e.ID == o.ID && slices.Equal(e.Receivers, o.Receivers)
}

// FindEgress returns the egress node of a node-id, nil if it is none.
func (c *Channel) FindEgress(node string) *EgressNode {
	for i := range c.EgressNodes {
		if c.EgressNodes[i].ID == node {
			return &c.EgressNodes[i]
		}
	}
	return nil
}

// Deployed reports whether the channel has an ingress.
func (c *Channel) Deployed() bool { return c.IngressNode != "" }

// Routers are the node-ids of the ingress, then of the egress nodes.
func (c *Channel) Routers() []string {
	out := append(make([]string, 0, 1+len(c.EgressNodes)), c.IngressNode)
	for _, e := range c.EgressNodes {
		out = append(out, e.ID)
	}
	return out
}

// Flow is what makes a flow different from others at an ingress.
type Flow struct {
	Source, Group  netip.Addr
	SourceWildcard uint8
	GroupWildcard  uint8
}

// CheckFlow returns the flow of a channel, or why it is invalid. Wildcards are prefix
// lengths: 1 to 32, for IPv6 to 128.
func (c *Channel) CheckFlow() (Flow, error) {
	src, err := netip.ParseAddr(c.SrcIP)
	if err != nil {
		return Flow{}, fmt.Errorf("src-ip %q is not an IP address", c.SrcIP)
	}
	dst, err := netip.ParseAddr(c.DstGroup)
	if err != nil {
		return Flow{}, fmt.Errorf("dst-group %q is not an IP address", c.DstGroup)
	}
	if src.Zone() != "" || dst.Zone() != "" || src.Is4In6() || dst.Is4In6() {
		return Flow{}, fmt.Errorf(
			"src-ip %s and dst-group %s must be plain IPv4 or IPv6 addresses",
			src,
			dst,
		)
	}
	if src.Is4() != dst.Is4() {
		return Flow{}, fmt.Errorf("src-ip %s and dst-group %s are of different families", src, dst)
	}
	if !isSourceAddress(src) {
		return Flow{}, fmt.Errorf(
			"src-ip %s is neither a unicast address nor %s for any source",
			src,
			unspecifiedAddress(src),
		)
	}
	if !dst.IsMulticast() {
		return Flow{}, fmt.Errorf(
			"dst-group %s is not a multicast address (224.0.0.0/4, ff00::/8)",
			dst,
		)
	}
	if isReservedGroup(dst) {
		return Flow{}, fmt.Errorf(
			"dst-group %s is reserved: routers forward neither 224.0.0.0/24 nor IPv6 groups of scope 0, 1, 2 and 15",
			dst,
		)
	}
	longest := uint8(src.BitLen())
	if c.SourceWildcard < 1 || c.SourceWildcard > longest {
		return Flow{}, fmt.Errorf(
			"source-wildcard %d is not within 1..%d",
			c.SourceWildcard,
			longest,
		)
	}
	if c.GroupWildcard < 1 || c.GroupWildcard > longest {
		return Flow{}, fmt.Errorf("group-wildcard %d is not within 1..%d", c.GroupWildcard, longest)
	}
	return Flow{
		Source:         src,
		Group:          dst,
		SourceWildcard: c.SourceWildcard,
		GroupWildcard:  c.GroupWildcard,
	}, nil
}

// isReservedGroup reports whether a group never leaves a link (RFC 5771 section 4, RFC 4291
// section 2.7).
func isReservedGroup(group netip.Addr) bool {
	if group.Is4() {
		b := group.As4()
		return b[0] == 224 && b[1] == 0 && b[2] == 0
	}
	scope := group.As16()[1] & 0xf
	return scope <= 2 || scope == 15
}

// Overlaps reports whether packets may be of both flows.
func (f Flow) Overlaps(o Flow) bool {
	overlap := func(a netip.Addr, bits uint8, b netip.Addr, other uint8) bool {
		x, y := netip.PrefixFrom(a, int(bits)), netip.PrefixFrom(b, int(other))
		return x.Overlaps(y)
	}
	sources := f.Source.IsUnspecified() || o.Source.IsUnspecified() || overlap(
		f.Source,
		f.SourceWildcard,
		o.Source,
		o.SourceWildcard,
	)
	return f.Group.BitLen() == o.Group.BitLen() &&
		sources &&
		overlap(f.Group, f.GroupWildcard, o.Group, o.GroupWildcard)
}

// isSourceAddress accepts what may send, 1.0.0.0 to 223.255.255.255 or any IPv6 unicast
// address, and the unspecified address, which means all sources.
func isSourceAddress(a netip.Addr) bool {
	if a.IsUnspecified() {
		return true
	}
	if a.Is4() {
		b := a.As4()
		return b[0] >= 1 && b[0] <= 223
	}
	return !a.IsMulticast()
}

func unspecifiedAddress(a netip.Addr) netip.Addr {
	if a.Is4() {
		return netip.IPv4Unspecified()
	}
	return netip.IPv6Unspecified()
}
