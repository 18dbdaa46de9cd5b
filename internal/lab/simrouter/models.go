package simrouter

import (
	"slices"

	"ctl.internal/internal/netconf"
)

// Namespaces of the models.
const (
	NSBier      = "urn:ietf:params:xml:ns:yang:ietf-bier"
	NSRoutingEx = "urn:ietf:params:xml:ns:yang:ietf-routing-ex"
	NSRouting   = "urn:ietf:params:xml:ns:yang:ietf-routing"
	NSMulticast = "urn:ietf:params:xml:ns:yang:ietf-multicast-information"
	NSMethods   = "urn:ietf:params:xml:ns:yang:ietf-connectionless-oam-methods"
	NSRPCs      = "urn:ietf:params:xml:ns:yang:ietf-bier-rpcs"
)

// Model is a kind of router: what it takes and the modules it announces.
type Model struct {
	Root    *Schema
	Modules []string // capability URIs
}

var lengths = oneOf("64-bit", "128-bit", "256-bit", "512-bit", "1024-bit", "2048-bit", "4096-bit")

// Draft00 is ietf-bier of draft-ietf-bier-bier-yang-00, below ietf-routing-ex.
func Draft00() Model {
	b := NSBier
	u16 := newNumberCheck(0, 65535)
	label := newNumberCheck(0, 1<<20-1)
	size := newNumberCheck(0, 255)
	af := func(name string) *Schema {
		return newList(b, name, "bitstringlength bier-mpls-label-base", newLeaf(b, "bitstringlength", u16),
			newLeaf(b, "bier-mpls-label-base", label), newLeaf(b, "bier-mpls-label-range-size", size))
	}
	global := newContainer(b, "bier-global",
		newIdentityLeaf(
			b,
			"encapsulation-type",
			"bier-encapsulation-mpls",
		), newLeaf(b, "bitstringlength", lengths), newLeaf(b, "bfr-id", u16),
		newLeaf(b, "ipv4-bfr-prefix", newPrefixCheck(32)), newLeaf(b, "ipv6-bfr-prefix", newPrefixCheck(128)),
		newList(b, "sub-domain", "sub-domain-id", newLeaf(b, "sub-domain-id", u16), newLeaf(b, "igp-type", oneOf("ISIS", "OSPF")), newLeaf(b, "mt-id", u16),
			newLeaf(b, "bfr-id", u16), newLeaf(b, "bitstringlength", lengths), newContainer(b, "af", af("ipv4"), af("ipv6"))))
	return Model{
		Root: newContainer(
			"",
			"",
			newContainer(NSRoutingEx, "routing", newContainer(b, "bier", global)),
			newMulticastSchema(),
			newSystemSchema(),
		),
		Modules: []string{NSRoutingEx + "?module=ietf-routing-ex&revision=2016-10-20", NSBier + "?module=ietf-bier&revision=2016-07-23", multicastModule},
	}
}

// RFC8349 is a later draft of ietf-bier, which augments ietf-routing of RFC 8349:
// a sub-domain for each address family, with its own prefix.
func RFC8349() Model {
	b := NSBier
	encapsulation := newList(b, "encapsulation", "bsl encapsulation-type", newLeaf(b, "bsl", lengths),
		newIdentityLeaf(
			b,
			"encapsulation-type",
			"bier-encapsulation-mpls",
			"bier-encapsulation-ipv6",
			"bier-encapsulation-ethernet",
		), newLeaf(b, "max-si", newNumberCheck(0, 255)),
		newContainer(b, "in-bift-id", newLeaf(b, "in-bift-id-base", newNumberCheck(0, 1<<20-1))))
	sub := newList(b, "sub-domain", "sub-domain-id address-family", newLeaf(b, "sub-domain-id", newNumberCheck(0, 255)), newIdentityLeaf(b, "address-family", "ipv4", "ipv6"),
		newLeaf(b, "bfr-prefix", newPrefixCheck(0)), newLeaf(
			b,
			"underlay-protocol-type",
			oneOf("IS-IS", "OSPF", "BGP"),
		), newLeaf(b, "mt-id", newNumberCheck(0, 255)),
		newLeaf(b, "bfr-id", newNumberCheck(0, 65535)), newLeaf(b, "bsl", lengths), encapsulation)
	bift := newList(b, "bift", "bfr-id", newLeaf(b, "bfr-id", newNumberCheck(1, 65535)), newList(b, "birt-bitstringlength", "bsl", newLeaf(b, "bsl", lengths),
		newList(b, "bfr-nbr", "bfr-nbr", newLeaf(b, "bfr-nbr", newPrefixCheck(0)))))
	return Model{
		Root: newContainer(
			"",
			"",
			newContainer(NSRouting, "routing", newContainer(b, "bier", sub, bift)),
			newMulticastSchema(),
			newSystemSchema(),
		),
		Modules: []string{NSRouting + "?module=ietf-routing&revision=2018-03-13", NSBier + "?module=ietf-bier&revision=2023-09-12", multicastModule},
	}
}

// Pings adds the modules of the ping to a model (RFC 8533 and draft-chen-bier-rpcs-yang).
func (m Model) Pings() Model {
	m.Modules = append(
		slices.Clone(m.Modules),
		NSMethods+"?module=ietf-connectionless-oam-methods&revision=2019-04-16",
		NSRPCs+"?module=ietf-bier-rpcs&revision=2017-08-08",
	)
	return m
}

// NMDA adds the operational datastore to a model (RFC 8526).
func (m Model) NMDA() Model {
	m.Modules = append(
		slices.Clone(m.Modules),
		netconf.NSNMDA+"?module=ietf-netconf-nmda&revision=2019-01-07",
	)
	return m
}

// NSSystem is ietf-system (RFC 7317), of which routers have what other clients may change.
const NSSystem = "urn:ietf:params:xml:ns:yang:ietf-system"

func newSystemSchema() *Schema {
	return newContainer(
		NSSystem,
		"system",
		newLeaf(NSSystem, "contact", func(string) bool { return true }),
	)
}

const multicastModule = NSMulticast + "?module=ietf-multicast-information&revision=2016-10-28"

func newMulticastSchema() *Schema {
	m := NSMulticast
	u16 := newNumberCheck(0, 65535)
	entry := newList(m, "pure-multicast", "vpn-id source-address source-wildcard group-address group-wildcard", newLeaf(m, "vpn-id", newNumberCheck(0, 1<<32-1)),
		newLeaf(m, "source-address", isAddress), newLeaf(m, "source-wildcard", newNumberCheck(0, 255)), newLeaf(m, "group-address", isAddress), newLeaf(m, "group-wildcard", newNumberCheck(0, 255)),
		newContainer(m, "multicast-overlay", newContainer(m, "bier-information", newLeaf(m, "sub-domain", u16), newLeaf(m, "ingress-node", u16),
			newList(m, "egress-nodes", "egress-node", newLeaf(m, "egress-node", u16)))))
	return newContainer(m, "multicast-information", newContainer(m, "pure-multicast", entry))
}
