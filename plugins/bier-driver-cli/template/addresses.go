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
	ids       map[string]uint32 // by sub-domain and address
}

type member struct {
	sub, id uint32
	v6      bool
}

func newAddressBook(members []*bierdriver.Member) addressBook {
	b := addressBook{map[member]string{}, map[string]uint32{}}
	for _, m := range members {
		for v6, text := range map[bool]string{false: m.Ipv4BfrPrefix, true: m.Ipv6BfrPrefix} {
			if p, err := netip.ParsePrefix(text); err == nil {
				b.addresses[member{m.SubDomainId, m.BfrId, v6}] = p.Addr().String()
				b.ids[fmt.Sprint(m.SubDomainId, " ", p.Addr())] = m.BfrId
			}
		}
	}
	return b
}

// list is the addresses of a channel's egress routers, in the family of its flow.
func (b addressBook) list(c *bierdriver.Channel) (string, error) {
	group, err := netip.ParseAddr(c.GroupAddress)
	if err != nil {
		return "", fmt.Errorf("%.60q is not a group-address for a command line", c.GroupAddress)
	}
	out := make([]string, 0, len(c.EgressBfrIds))
	for _, id := range c.EgressBfrIds {
		a := b.addresses[member{c.SubDomain, id, !group.Is4()}]
		if a == "" {
			family := map[bool]string{true: "ipv4", false: "ipv6"}[group.Is4()]
			return "", fmt.Errorf("the router names egress routers by their addresses, and that of bfr-id %d in sub-domain %d has no %s-bfr-prefix", id, c.SubDomain, family)
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
