package template

import (
	"cmp"
	"strconv"

	"ctl.internal/sdk/bierdriver"
)

// Read makes a configuration of sections: the way back of Want, as far as the
// templates carry it. members are those there may be.
func (m *Model) Read(sections []Section, members []*bierdriver.Member) *bierdriver.Config {
	c, known := &bierdriver.Config{}, newBook(members)
	for _, s := range sections {
		if s.Header == m.bier.text {
			c.Global = m.readGlobal(s)
			continue
		}
		if v := m.channel.read(s.Header); v != nil {
			c.Channels = append(c.Channels, m.readChannel(v, s, known))
		}
	}
	bierdriver.Canonical(c)
	return c
}

// number is a value that the type of its placeholder has checked.
func (v values) number(name string) uint32 {
	n, err := strconv.ParseUint(v[name], 10, 32)
	if err != nil {
		return 0
	}
	return uint32(n)
}

func (m *Model) readChannel(v values, s Section, known book) *bierdriver.Channel {
	if m.identity != nil {
		for _, l := range s.Lines {
			if of := m.identity.read(l); of != nil {
				v = of
			}
		}
	}
	addresses := ""
	c := &bierdriver.Channel{VpnId: v.number("vpn-id"), SourceAddress: v["source-address"], SourceWildcard: v.number("source-wildcard"),
		GroupAddress: v["group-address"], GroupWildcard: v.number("group-wildcard")}
	for _, l := range s.Lines {
		_, v, _ := find(l, m.flow, m.egress)
		c.SubDomain, c.IngressBfrId = cmp.Or(v.number("sub-domain"), c.SubDomain), cmp.Or(v.number("ingress-bfr-id"), c.IngressBfrId)
		if id := v.number("egress-bfr-id"); id > 0 {
			c.EgressBfrIds = append(c.EgressBfrIds, id)
		}
		addresses = cmp.Or(v["egress-addresses"], addresses)
	}
	c.EgressBfrIds = append(c.EgressBfrIds, known.idsOf(c.SubDomain, addresses)...)
	return c
}

func (m *Model) readGlobal(s Section) *bierdriver.Global {
	g := &bierdriver.Global{}
	by := map[uint32]*bierdriver.SubDomain{}
	for _, l := range s.Lines {
		_, v, _ := find(l, m.global, m.sub, m.encap)
		if v["sub-domain-id"] == "" {
			if e := v["encapsulation"]; e != "" {
				g.EncapsulationType = identity + e
			}
			g.Bitstringlength, g.BfrId = cmp.Or(v.number("bitstringlength"), g.Bitstringlength), cmp.Or(v.number("bfr-id"), g.BfrId)
			g.Ipv4BfrPrefix, g.Ipv6BfrPrefix = cmp.Or(v["ipv4-bfr-prefix"], g.Ipv4BfrPrefix), cmp.Or(v["ipv6-bfr-prefix"], g.Ipv6BfrPrefix)
			continue
		}
		id := v.number("sub-domain-id")
		d := by[id]
		if d == nil {
			d = &bierdriver.SubDomain{SubDomainId: id}
			by[id] = d
			g.SubDomains = append(g.SubDomains, d)
		}
		e := &bierdriver.Encapsulation{Bitstringlength: v.number("bitstringlength"), BierMplsLabelBase: v.number("label-base"), BierMplsLabelRangeSize: v.number("range-size")}
		switch v["family"] {
		case "ipv4":
			d.Ipv4 = append(d.Ipv4, e)
		case "ipv6":
			d.Ipv6 = append(d.Ipv6, e)
		default:
			d.IgpType, d.MtId = cmp.Or(v["igp-type"], d.IgpType), cmp.Or(v.number("mt-id"), d.MtId)
			d.BfrId, d.Bitstringlength = cmp.Or(v.number("bfr-id"), v.number("effective-bfr-id"), d.BfrId), cmp.Or(v.number("bitstringlength"), v.number("effective-bitstringlength"), d.Bitstringlength)
		}
	}
	return g
}
