// Package bier is what the BIER plugins and drivers share about bit-indexed
// explicit replication (RFC 8279): the data of a topology and of a channel, their
// rules, bit strings, shortest paths and forwarding tables, and what each router
// must hold. It does no I/O and starts nothing.
//
// The contract with drivers is package bierdriver.
package bier

import (
	"cmp"
	"slices"
	"strings"
)

// Topology is a network and its BIER configuration, in the form of module
// bier-topology. Lists are in ascending order of their keys.
type Topology struct {
	ID      string   `json:"topology-id"`
	Nodes   []Node   `json:"bier-node,omitempty"`
	Links   []Link   `json:"bier-link,omitempty"`
	Domains []Domain `json:"bier-domain,omitempty"`

	graphs *graphs // nil: they are not kept
}

// Domain is a BIER domain with its sub-domains.
type Domain struct {
	ID         uint16         `json:"domain-id"`
	SubDomains []SubDomainRef `json:"bier-sub-domain,omitempty"`
}

// SubDomainRef names a sub-domain.
type SubDomainRef struct {
	ID uint16 `json:"sub-domain-id"`
}

// Node is a router.
type Node struct {
	ID        string             `json:"node-id"`
	Name      string             `json:"name,omitempty"`
	RouterID  string             `json:"router-id,omitempty"`
	Params    NodeParams         `json:"bier-node-params"`
	Latitude  uint64             `json:"latitude"`
	Longitude uint64             `json:"longitude"`
	TPs       []TerminationPoint `json:"bier-termination-point,omitempty"`
}

// NodeParams is what is configured of a node.
type NodeParams struct {
	Domains []NodeDomain `json:"domain,omitempty"`
}

// TerminationPoint is a port.
type TerminationPoint struct {
	ID     string `json:"tp-id"`
	IfName string `json:"if-name,omitempty"`
	Index  uint32 `json:"tp-index,omitempty"`
}

// Link leads from one node to another.
type Link struct {
	ID     string   `json:"link-id"`
	Source LinkFrom `json:"link-source"`
	Dest   LinkTo   `json:"link-dest"`
	Delay  uint64   `json:"delay"`
	Loss   uint64   `json:"loss"`
	// Metric of the IGP; 0 = not known, counts as 1.
	Metric uint64 `json:"metric,omitempty"`
}

// LinkFrom is the beginning of a link.
type LinkFrom struct {
	Node string `json:"source-node"`
	TP   string `json:"source-tp,omitempty"`
}

// LinkTo is the end of a link.
type LinkTo struct {
	Node string `json:"dest-node"`
	TP   string `json:"dest-tp,omitempty"`
}

// NodeDomain is a node's part in a domain.
type NodeDomain struct {
	ID     uint16 `json:"domain-id"`
	Global Global `json:"bier-global"`
}

// EncapsulationMPLS is the identity of ietf-bier that is the default, EncapsulationEthernet
// the local name of the other one: BIFT-ids that are no labels (RFC 8296 section 2.2).
const (
	EncapsulationMPLS     = "ietf-bier:bier-encapsulation-mpls"
	EncapsulationEthernet = "bier-encapsulation-ethernet"
)

// LocalName takes the module's name off an identity.
func LocalName(identity string) string {
	return identity[strings.LastIndexByte(identity, ':')+1:]
}

// Global is bier-global. Nil and zero members were not given.
type Global struct {
	Encapsulation string      `json:"encapsulation-type,omitempty"`
	BSL           BSL         `json:"bitstringlength,omitempty"`
	BFRID         *uint16     `json:"bfr-id,omitempty"`
	IPv4Prefix    string      `json:"ipv4-bfr-prefix,omitempty"`
	IPv6Prefix    string      `json:"ipv6-bfr-prefix,omitempty"`
	SubDomains    []SubDomain `json:"sub-domain,omitempty"`
}

// SubDomain is a node's part in a sub-domain.
type SubDomain struct {
	ID    uint16  `json:"sub-domain-id"`
	IGP   string  `json:"igp-type,omitempty"`
	MT    *uint16 `json:"mt-id,omitempty"`
	BFRID *uint16 `json:"bfr-id,omitempty"`
	BSL   BSL     `json:"bitstringlength,omitempty"`
	AF    AF      `json:"af"`
}

// AF is the MPLS encapsulation by address family.
type AF struct {
	IPv4 []Encapsulation `json:"ipv4,omitempty"`
	IPv6 []Encapsulation `json:"ipv6,omitempty"`
}

// Encapsulation is a label range; its key are the first two.
type Encapsulation struct {
	BSL  uint16 `json:"bitstringlength"`
	Base uint32 `json:"bier-mpls-label-base"`
	Size uint8  `json:"bier-mpls-label-range-size"`
}

// ShortID takes the prefix off ids of OpenFlow: "openflow:1:2" is "1:2". Clients may write
// ids of nodes, links and ports in either form.
func ShortID(id string) string {
	return strings.TrimPrefix(id, "openflow:")
}

// Node returns the node of an id, nil if it does not exist.
func (t *Topology) Node(id string) *Node {
	i, ok := slices.BinarySearchFunc(t.Nodes, id, func(n Node, id string) int {
		return cmp.Compare(n.ID, id)
	})
	if ok {
		return &t.Nodes[i]
	}
	return nil
}

// Domain returns the domain of an id, nil if it does not exist.
func (t *Topology) Domain(id uint16) *Domain {
	if i := slices.IndexFunc(t.Domains, func(d Domain) bool {
		return d.ID == id
	}); i >= 0 {
		return &t.Domains[i]
	}
	return nil
}

// Has reports whether the domain has a sub-domain.
func (d *Domain) Has(sub uint16) bool {
	return d != nil && slices.Contains(d.SubDomains, SubDomainRef{sub})
}

// Domain returns a node's part in a domain, nil if it has none.
func (n *Node) Domain(id uint16) *NodeDomain {
	if n == nil {
		return nil
	}
	i := slices.IndexFunc(n.Params.Domains, func(d NodeDomain) bool { return d.ID == id })
	if i >= 0 {
		return &n.Params.Domains[i]
	}
	return nil
}

// SubDomain returns a node's part in a sub-domain, nil if it has none.
func (d *NodeDomain) SubDomain(id uint16) *SubDomain {
	if d == nil {
		return nil
	}
	i := slices.IndexFunc(d.Global.SubDomains, func(s SubDomain) bool {
		return s.ID == id
	})
	if i >= 0 {
		return &d.Global.SubDomains[i]
	}
	return nil
}

// Member returns a node's parts in a domain and a sub-domain of it; the second is
// nil when the node is no member.
func (n *Node) Member(domain, sub uint16) (*NodeDomain, *SubDomain) {
	d := n.Domain(domain)
	return d, d.SubDomain(sub)
}

// Sort puts all lists in ascending order of their keys.
func (t *Topology) Sort() {
	slices.SortFunc(t.Nodes, func(a, b Node) int { return cmp.Compare(a.ID, b.ID) })
	slices.SortFunc(t.Links, func(a, b Link) int { return cmp.Compare(a.ID, b.ID) })
	slices.SortFunc(t.Domains, func(a, b Domain) int { return cmp.Compare(a.ID, b.ID) })
	for i := range t.Domains {
		slices.SortFunc(t.Domains[i].SubDomains, func(a, b SubDomainRef) int {
			return cmp.Compare(a.ID, b.ID)
		})
	}
}

// BFRID is the BFR-id that counts in a sub-domain: its own, or, when that is not
// given or 0, the domain's. 0 = none.
func BFRID(d *NodeDomain, s *SubDomain) uint16 {
	if s != nil && s.BFRID != nil && *s.BFRID != 0 {
		return *s.BFRID
	}
	if d != nil && d.Global.BFRID != nil {
		return *d.Global.BFRID
	}
	return 0
}

// Imposition is the length of the bit strings that a node makes as ingress of a
// sub-domain, 0 = not given.
func Imposition(d *NodeDomain, s *SubDomain) BSL {
	return cmp.Or(s.BSL, d.Global.BSL)
}

// Disposition are the lengths that a node takes in a sub-domain: those it has
// labels for, or, with no labels at all, the one it makes.
func Disposition(d *NodeDomain, s *SubDomain) []BSL {
	var out []BSL
	for _, e := range slices.Concat(s.AF.IPv4, s.AF.IPv6) {
		if !slices.Contains(out, BSL(e.BSL)) {
			out = append(out, BSL(e.BSL))
		}
	}
	if b := Imposition(d, s); len(out) == 0 && b != 0 {
		out = append(out, b)
	}
	slices.Sort(out)
	return out
}
