package dialect

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"ctl.internal/internal/netconf"
	"ctl.internal/internal/netconf/xmltree"
	"ctl.internal/sdk/bierdriver"
)

// maxMasks bounds the bytes of all masks that are made of what one router shows.
const maxMasks = 64 << 20

// StateFilter selects the forwarding tables that routers show, and the sub-domains they are
// of; nil where the module has none that say where packets go: ietf-bier of 2016 has one
// neighbour and a mask of 16 bits for each set (routing-state/birts).
func (d *Dialect) StateFilter() []*xmltree.Node {
	if d.Name != RFC8349 {
		return nil
	}
	return []*xmltree.Node{xmltree.New(nsRouting, "routing", xmltree.New(nsBier, "bier", xmltree.New(nsBier, "bift"),
		xmltree.New(
			nsBier,
			"sub-domain",
			xmltree.New(nsBier, "sub-domain-id"),
			xmltree.New(nsBier, "bfr-id"),
		)))}
}

// set names a table: a length of bit strings and a set identifier.
type set struct{ bsl, si uint32 }

// Forwarding makes tables of what a router answered to StateFilter. The module lists
// neighbours by BFR-id and length; a mask is the BFR-ids that have the neighbour.
func (d *Dialect) Forwarding(data *xmltree.Node) ([]*bierdriver.Forwarding, error) {
	at := data.Kid(nsRouting, "routing").Kid(nsBier, "bier")
	r := &reader{}
	own := map[uint32]bool{} // BFR-ids of the router itself
	var subs []uint32
	for _, s := range at.All(nsBier, "sub-domain") {
		subs = append(subs, r.readNumber(s, "sub-domain-id", 255))
		own[r.readNumber(s, "bfr-id", 65535)] = true
	}
	slices.Sort(subs)
	subs = slices.Compact(subs)
	entries := at.All(nsBier, "bift")
	switch {
	case r.err != nil:
		return nil, r.err
	case len(subs) == 0:
		return nil, nil
	case len(subs) > 1:
		return nil, fmt.Errorf(
			"the router has %d sub-domains, and bift of its ietf-bier does not say of which one an entry is",
			len(subs),
		)
	case len(entries) == 0:
		return nil, fmt.Errorf("the router shows nothing in bift of its ietf-bier: it does not fill it, or it has no way to any BFR")
	}
	tables := map[set]*bierdriver.Forwarding{}
	bytes := 0
	for _, e := range entries {
		id := r.readNumber(e, "bfr-id", 65535)
		for _, l := range e.All(nsBier, "birt-bitstringlength") {
			bsl := r.readBitStringLength(l, "bsl")
			if r.err == nil && (id == 0 || bsl < 64 || bsl > 4096 || bsl&(bsl-1) != 0) {
				r.err = fmt.Errorf("the router shows bfr-id %d with bit strings of %d", id, bsl)
			}
			if r.err != nil {
				return nil, r.err
			}
			k := set{bsl, (id - 1) / bsl}
			t := tables[k]
			if t == nil {
				t = &bierdriver.Forwarding{
					SubDomainId:     subs[0],
					HasSubDomain:    true,
					Bitstringlength: bsl,
					Si:              k.si,
				}
				tables[k] = t
			}
			if own[id] {
				t.Own, bytes = setMaskBit(t.Own, id, bsl, bytes)
				continue
			}
			for _, n := range l.All(nsBier, "bfr-nbr") {
				name := n.Value("bfr-nbr")
				i := slices.IndexFunc(t.Neighbors, func(x *bierdriver.Neighbor) bool {
					return x.Name == name
				})
				if i < 0 {
					i = len(t.Neighbors)
					t.Neighbors = append(t.Neighbors, &bierdriver.Neighbor{Name: name})
				}
				t.Neighbors[i].FBm, bytes = setMaskBit(t.Neighbors[i].FBm, id, bsl, bytes)
			}
			if bytes > maxMasks {
				return nil, fmt.Errorf(
					"the router shows more than %d MiB of forwarding tables",
					maxMasks>>20,
				)
			}
		}
	}
	return slices.SortedFunc(maps.Values(tables), func(a, b *bierdriver.Forwarding) int {
		return cmp.Or(cmp.Compare(a.Bitstringlength, b.Bitstringlength), cmp.Compare(a.Si, b.Si))
	}), nil
}

// setMaskBit sets the bit of a BFR-id in a mask, which is made when it is nil; bytes counts those
// of masks that were made.
func setMaskBit(mask []byte, id, bsl uint32, bytes int) ([]byte, int) {
	if mask == nil {
		mask = make([]byte, bsl/8)
		bytes += len(mask)
	}
	bit := (id - 1) % bsl
	mask[uint32(len(mask))-1-bit/8] |= 1 << (bit % 8)
	return mask, bytes
}

// Namespaces of the ping: continuity-check of connectionless OAM (RFC 8533 section 4) with
// the addresses that ietf-bier-rpcs (draft-chen-bier-rpcs-yang) adds to it.
const (
	nsMethods = "urn:ietf:params:xml:ns:yang:ietf-connectionless-oam-methods"
	nsRPCs    = "urn:ietf:params:xml:ns:yang:ietf-bier-rpcs"
)

// Pings reports whether a router has the operation that Ping makes.
func Pings(c netconf.Capabilities) bool {
	_, methods := c.Module("ietf-connectionless-oam-methods")
	_, rpcs := c.Module("ietf-bier-rpcs")
	return methods && rpcs
}

// Ping is the operation that has a router with the configuration c send count packets to
// one other.
func Ping(c *bierdriver.Config, target *bierdriver.Member, count int) (netconf.Operation, error) {
	g := c.GetGlobal()
	i := slices.IndexFunc(g.GetSubDomains(), func(s *bierdriver.SubDomain) bool {
		return s.SubDomainId == target.SubDomainId
	})
	if i < 0 {
		return netconf.Operation{}, fmt.Errorf(
			"the router has no sub-domain %d",
			target.SubDomainId,
		)
	}
	s := g.SubDomains[i]
	to := func(list string) *xmltree.Node {
		return xmltree.New(nsRPCs, list, requiredNumberLeaf(nsRPCs, "bier-bfrid", target.BfrId))
	}
	return netconf.Operation{Element: xmltree.New(nsMethods, "continuity-check",
		xmltree.New(nsMethods, "destination-tp", bitStringLengthLeaf(
			nsRPCs,
			"bier-bsl",
			cmp.Or(s.Bitstringlength, g.Bitstringlength),
		),
			requiredNumberLeaf(nsRPCs, "bier-subdomainid", target.SubDomainId), requiredNumberLeaf(nsRPCs, "bfir", cmp.Or(s.BfrId, g.BfrId)),
			to("bier-bfers"), to("target-bfers"), stringLeaf(
				nsRPCs,
				"reply-mode",
				"reply via IPv4/IPv6 UDP packet",
			)),
		requiredNumberLeaf(nsMethods, "count", uint32(count)))}, nil
}

// Pong reads the answer to Ping.
func Pong(answer []*xmltree.Node) (*bierdriver.PingReply, error) {
	n := xmltree.New("", "", answer...).Kid(nsMethods, "session-packet-statistics")
	if n.Down("tx-packet-count") == nil || n.Down("rx-packet-count") == nil {
		return nil, fmt.Errorf("the router's answer to continuity-check does not say how many packets were sent and came back")
	}
	r := &reader{}
	out := &bierdriver.PingReply{
		Sent:     r.readNumber(n, "tx-packet-count", bierdriver.MaxPings),
		Received: r.readNumber(n, "rx-packet-count", bierdriver.MaxPings),
	}
	if r.err == nil && out.Received > out.Sent {
		r.err = fmt.Errorf(
			"the router says that %d packets were sent and %d came back",
			out.Sent,
			out.Received,
		)
	}
	return out, r.err
}
