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
func numberOf(flow values) string {
	h := fnv.New32a()
	for _, name := range []string{"vpn-id", "source-address", "source-wildcard", "group-address", "group-wildcard"} {
		fmt.Fprintf(h, "%s ", flow[name])
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
