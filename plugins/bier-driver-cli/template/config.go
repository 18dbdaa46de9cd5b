package template

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"net/netip"
	"strconv"
	"strings"

	"ctl.internal/sdk/bierdriver"
)

// Section is a header with the lines below it.
type Section struct {
	Header string
	Lines  []string
}

func some(n uint32) string {
	if n == 0 {
		return ""
	}
	return text(n)
}

func text(n uint32) string { return strconv.FormatUint(uint64(n), 10) }

// writer fills templates in and keeps the first fault.
type writer struct{ err error }

func (w *writer) note(err error) {
	if err != nil && w.err == nil {
		w.err = err
	}
}

func (w *writer) lines(out []string, templates []*line, v values) []string {
	for _, t := range templates {
		s, ok, err := t.write(v)
		w.note(err)
		if ok {
			out = append(out, s)
		}
	}
	return out
}

const identity = "bier-encapsulation-"

// Want is a configuration as sections. The error names a value that must not be typed.
func (m *Model) Want(c *bierdriver.Config) ([]Section, error) {
	w := &writer{}
	var out []Section
	if g := c.GetGlobal(); g != nil {
		s := Section{Header: m.bier.text}
		// not to be lost where no template has it
		if e := strings.TrimPrefix(g.EncapsulationType, identity); e != "" && e != "mpls" {
			w.note(fmt.Errorf("routers with a command line know the encapsulation mpls only, not %s", e))
		}
		s.Lines = w.lines(nil, m.global, values{"encapsulation": strings.TrimPrefix(g.EncapsulationType, identity), "bitstringlength": some(g.Bitstringlength),
			"bfr-id": some(g.BfrId), "ipv4-bfr-prefix": g.Ipv4BfrPrefix, "ipv6-bfr-prefix": g.Ipv6BfrPrefix})
		for _, d := range g.SubDomains {
			id := text(d.SubDomainId)
			s.Lines = w.lines(s.Lines, m.sub, values{"sub-domain-id": id, "igp-type": d.IgpType, "mt-id": some(d.MtId), "bfr-id": some(d.BfrId), "bitstringlength": some(d.Bitstringlength),
				"effective-bfr-id": some(cmp.Or(d.BfrId, g.BfrId)), "effective-bitstringlength": some(cmp.Or(d.Bitstringlength, g.Bitstringlength))})
			for _, f := range []struct {
				name string
				list []*bierdriver.Encapsulation
			}{{"ipv4", d.Ipv4}, {"ipv6", d.Ipv6}} {
				for _, e := range f.list {
					s.Lines = w.lines(s.Lines, m.encap, values{"sub-domain-id": id, "family": f.name, "bitstringlength": text(e.Bitstringlength),
						"label-base": text(e.BierMplsLabelBase), "range-size": text(e.BierMplsLabelRangeSize)})
				}
			}
		}
		if len(s.Lines) > 0 {
			out = append(out, s)
		}
	}
	members, taken := newAddressBook(c.GetMembers()), map[string]*bierdriver.Channel{}
	for _, c := range c.GetChannels() {
		if m.ingressOnly && c.Role == bierdriver.Egress {
			continue
		}
		v := flowOf(c)
		header, _, err := m.channel.write(v)
		w.note(err)
		if o := taken[header]; o != nil && err == nil {
			w.note(fmt.Errorf("the channels %s %s and %s %s cannot both be on the router: they get the same %q", o.SourceAddress, o.GroupAddress, c.SourceAddress, c.GroupAddress, header))
		}
		taken[header] = c
		v["sub-domain"], v["ingress-bfr-id"] = text(c.SubDomain), some(c.IngressBfrId)
		if m.addresses {
			v["egress-addresses"], err = members.list(c)
			w.note(err)
		}
		s := Section{Header: header, Lines: w.lines(nil, m.flow, v)}
		for _, e := range c.EgressBfrIds {
			s.Lines = w.lines(s.Lines, m.egress, values{"egress-bfr-id": text(e)})
		}
		out = append(out, s)
	}
	return out, w.err
}

// maxNumber is the highest number of a section: routers count interfaces in 31 bits.
const maxNumber = 1 << 30

// numberOf is that of the section of a flow, on routers that distinguish sections by
// numbers. It depends on nothing but the flow, so that the section is found again.
func numberOf(of values) string {
	h := fnv.New32a()
	for _, name := range strings.Fields(flow) {
		fmt.Fprintf(h, "%s ", of[name])
	}
	return strconv.FormatUint(uint64(1+h.Sum32()%maxNumber), 10)
}

// flowOf is a channel in the words of the templates.
func flowOf(c *bierdriver.Channel) values {
	v := values{"vpn-id": text(c.VpnId), "source-address": c.SourceAddress, "source-wildcard": text(c.SourceWildcard),
		"group-address": c.GroupAddress, "group-wildcard": text(c.GroupWildcard)}
	if a, err := netip.ParseAddr(c.GroupAddress); err == nil {
		family := map[bool]string{true: "ipv4", false: "ipv6"}[a.Is4()]
		v["source-"+family], v["group-"+family] = c.SourceAddress, c.GroupAddress
	}
	v["number"] = numberOf(v)
	return v
}

// Read makes a configuration of sections: the way back of Want, as far as the
// templates carry it. members are those there may be.
func (m *Model) Read(sections []Section, members []*bierdriver.Member) *bierdriver.Config {
	c, known := &bierdriver.Config{}, newAddressBook(members)
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

func (m *Model) readChannel(v values, s Section, known addressBook) *bierdriver.Channel {
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
		_, v := find(l, m.flow, m.egress)
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
		_, v := find(l, m.global, m.sub, m.encap)
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
