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
	u16, label, size := number(0, 65535), number(0, 1<<20-1), number(0, 255)
	af := func(name string) *Schema {
		return list(b, name, "bitstringlength bier-mpls-label-base", leaf(b, "bitstringlength", u16),
			leaf(b, "bier-mpls-label-base", label), leaf(b, "bier-mpls-label-range-size", size))
	}
	global := container(b, "bier-global",
		identity(b, "encapsulation-type", "bier-encapsulation-mpls"), leaf(b, "bitstringlength", lengths), leaf(b, "bfr-id", u16),
		leaf(b, "ipv4-bfr-prefix", prefix(32)), leaf(b, "ipv6-bfr-prefix", prefix(128)),
		list(b, "sub-domain", "sub-domain-id", leaf(b, "sub-domain-id", u16), leaf(b, "igp-type", oneOf("ISIS", "OSPF")), leaf(b, "mt-id", u16),
			leaf(b, "bfr-id", u16), leaf(b, "bitstringlength", lengths), container(b, "af", af("ipv4"), af("ipv6"))))
	return Model{
		Root:    container("", "", container(NSRoutingEx, "routing", container(b, "bier", global)), multicast(), system()),
		Modules: []string{NSRoutingEx + "?module=ietf-routing-ex&revision=2016-10-20", NSBier + "?module=ietf-bier&revision=2016-07-23", multicastModule},
	}
}

// RFC8349 is a later draft of ietf-bier, which augments ietf-routing of RFC 8349:
// a sub-domain for each address family, with its own prefix.
func RFC8349() Model {
	b := NSBier
	encapsulation := list(b, "encapsulation", "bsl encapsulation-type", leaf(b, "bsl", lengths),
		identity(b, "encapsulation-type", "bier-encapsulation-mpls", "bier-encapsulation-ipv6", "bier-encapsulation-ethernet"), leaf(b, "max-si", number(0, 255)),
		container(b, "in-bift-id", leaf(b, "in-bift-id-base", number(0, 1<<20-1))))
	sub := list(b, "sub-domain", "sub-domain-id address-family", leaf(b, "sub-domain-id", number(0, 255)), identity(b, "address-family", "ipv4", "ipv6"),
		leaf(b, "bfr-prefix", prefix(0)), leaf(b, "underlay-protocol-type", oneOf("IS-IS", "OSPF", "BGP")), leaf(b, "mt-id", number(0, 255)),
		leaf(b, "bfr-id", number(0, 65535)), leaf(b, "bsl", lengths), encapsulation)
	bift := list(b, "bift", "bfr-id", leaf(b, "bfr-id", number(1, 65535)), list(b, "birt-bitstringlength", "bsl", leaf(b, "bsl", lengths),
		list(b, "bfr-nbr", "bfr-nbr", leaf(b, "bfr-nbr", prefix(0)))))
	return Model{
		Root:    container("", "", container(NSRouting, "routing", container(b, "bier", sub, bift)), multicast(), system()),
		Modules: []string{NSRouting + "?module=ietf-routing&revision=2018-03-13", NSBier + "?module=ietf-bier&revision=2023-09-12", multicastModule},
	}
}

// Pings adds the modules of the ping to a model (RFC 8533 and draft-chen-bier-rpcs-yang).
func (m Model) Pings() Model {
	m.Modules = append(slices.Clone(m.Modules), NSMethods+"?module=ietf-connectionless-oam-methods&revision=2019-04-16", NSRPCs+"?module=ietf-bier-rpcs&revision=2017-08-08")
	return m
}

// NMDA adds the operational datastore to a model (RFC 8526).
func (m Model) NMDA() Model {
	m.Modules = append(slices.Clone(m.Modules), netconf.NSNMDA+"?module=ietf-netconf-nmda&revision=2019-01-07")
	return m
}

// NSSystem is ietf-system (RFC 7317), of which routers have what other clients may change.
const NSSystem = "urn:ietf:params:xml:ns:yang:ietf-system"

func system() *Schema {
	return container(NSSystem, "system", leaf(NSSystem, "contact", func(string) bool { return true }))
}

const multicastModule = NSMulticast + "?module=ietf-multicast-information&revision=2016-10-28"

func multicast() *Schema {
	m := NSMulticast
	u16 := number(0, 65535)
	entry := list(m, "pure-multicast", "vpn-id source-address source-wildcard group-address group-wildcard", leaf(m, "vpn-id", number(0, 1<<32-1)),
		leaf(m, "source-address", address), leaf(m, "source-wildcard", number(0, 255)), leaf(m, "group-address", address), leaf(m, "group-wildcard", number(0, 255)),
		container(m, "multicast-overlay", container(m, "bier-information", leaf(m, "sub-domain", u16), leaf(m, "ingress-node", u16),
			list(m, "egress-nodes", "egress-node", leaf(m, "egress-node", u16)))))
	return container(m, "multicast-information", container(m, "pure-multicast", entry))
}
