package template

import (
	"fmt"
	"net/netip"
	"strings"

	"ctl.internal/sdk/bierdriver"
)

// addressBook has the members of sub-domains, for routers that name them by address.
type addressBook struct {
	addresses map[member]string
	v6        map[uint32]bool   // sub-domains whose underlay is IPv6
	ids       map[string]uint32 // by sub-domain and address
}

type member struct {
	sub, id uint32
	v6      bool
}

// newAddressBook returns the addresses of members; g is what the router itself is in the sub-domains.
func newAddressBook(members []*bierdriver.Member, g *bierdriver.Global) addressBook {
	b := addressBook{map[member]string{}, map[uint32]bool{}, map[string]uint32{}}
	for _, s := range g.GetSubDomains() {
		b.v6[s.SubDomainId] = len(s.Ipv4) == 0 && (len(s.Ipv6) > 0 || g.Ipv4BfrPrefix == "" && g.Ipv6BfrPrefix != "")
	}
	for _, m := range members {
		for v6, text := range map[bool]string{
			false: m.Ipv4BfrPrefix,
			true:  m.Ipv6BfrPrefix,
		} {
			if p, err := netip.ParsePrefix(text); err == nil {
				b.addresses[member{m.SubDomainId, m.BfrId, v6}] = p.Addr().String()
				b.ids[fmt.Sprint(m.SubDomainId, " ", p.Addr())] = m.BfrId
			}
		}
	}
	return b
}

// egressAddresses is the addresses of a channel's egress routers, in the family of the underlay of its sub-domain
// (IPv4 where it has both), whatever that of the group.
func (b addressBook) egressAddresses(c *bierdriver.Channel) (string, error) {
	v6 := b.v6[c.SubDomain]
	out := make([]string, 0, len(c.EgressBfrIds))
	for _, id := range c.EgressBfrIds {
		a := b.addresses[member{c.SubDomain, id, v6}]
		if a == "" {
			family := map[bool]string{
				false: "ipv4",
				true:  "ipv6",
			}[v6]
			return "", fmt.Errorf(
				"the router names egress routers by their addresses, and that of bfr-id %d in sub-domain %d has no %s-bfr-prefix",
				id,
				c.SubDomain,
				family,
			)
		}
		out = append(out, a)
	}
	return strings.Join(out, " "), nil
}

// idsOf is the way back of list, as far as the addresses are known.
func (b addressBook) idsOf(sub uint32, list string) []uint32 {
	var out []uint32
	for _, a := range strings.Fields(list) {
		if id := b.ids[fmt.Sprint(sub, " ", a)]; id > 0 {
			out = append(out, id)
		}
	}
	return out
}
