package template

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/bierdriver"
)

// Section is a header with the lines below it.
type Section struct {
	Header string
	Lines  []string
}

func formatNonZero(n uint32) string {
	if n == 0 {
		return ""
	}
	return formatNumber(n)
}

func formatNumber(n uint32) string {
	return strconv.FormatUint(uint64(n), 10)
}

// writer fills templates in and keeps the first fault.
type writer struct{ err error }

func (w *writer) recordError(err error) {
	if err != nil && w.err == nil {
		w.err = err
	}
}

func (w *writer) appendLines(out []string, templates []*line, v values) []string {
	for _, t := range templates {
		s, ok, err := t.fillValues(v)
		w.recordError(err)
		if ok {
			out = append(out, s)
		}
	}
	return out
}

const identity = "bier-encapsulation-"

// Want is a configuration as sections, for a router whose numbers are all free. The error names a value
// that must not be typed.
func (m *Model) Want(c *bierdriver.Config) ([]Section, error) {
	return m.Numbered(c, Numbers{})
}

// Numbered is Want for a router with some numbers in use.
func (m *Model) Numbered(c *bierdriver.Config, numbers Numbers) ([]Section, error) {
	out, err := m.wantGlobal(c.GetGlobal())
	if err != nil {
		return nil, err
	}
	taken := map[string]*bierdriver.Channel{}
	numbers = numbers.reserve()
	members := newAddressBook(c.GetMembers(), c.GetGlobal())
	for _, c := range c.GetChannels() {
		if m.leavesOut(c) {
			continue
		}
		s, err := m.wantChannel(c, members, numbers)
		if err != nil {
			return nil, err
		}
		if o := taken[s.Header]; o != nil {
			return nil, fmt.Errorf(
				"the channels %s and %s cannot both be on the router: they get the same %q",
				channelFlowName(o),
				channelFlowName(c),
				s.Header,
			)
		}
		taken[s.Header] = c
		out = append(out, s)
	}
	return out, nil
}

// Refusals says which channels of a configuration cannot be typed, by their index.
func (m *Model) Refusals(c *bierdriver.Config) map[int]error {
	members := newAddressBook(c.GetMembers(), c.GetGlobal())
	channels := map[int]error{}
	for i, x := range c.GetChannels() {
		if m.leavesOut(x) {
			continue
		}
		if _, err := m.wantChannel(x, members, Numbers{}.reserve()); err != nil {
			channels[i] = err
		}
	}
	return channels
}

// leavesOut reports whether the router has nothing of a channel.
func (m *Model) leavesOut(c *bierdriver.Channel) bool {
	return m.ingressOnly && c.Role == bierdriver.Egress
}

func channelFlowName(c *bierdriver.Channel) string {
	return c.SourceAddress + " " + c.GroupAddress
}

// wantGlobal is the section of the router itself, none if it has no lines.
func (m *Model) wantGlobal(g *bierdriver.Global) (out []Section, _ error) {
	w := &writer{}
	if g != nil {
		s := Section{Header: m.bier.text}
		// not to be lost where no template has it
		e := strings.TrimPrefix(g.EncapsulationType, identity)
		if e != "" && e != "mpls" {
			w.recordError(fmt.Errorf(
				"routers with a command line know the encapsulation mpls only, not %s",
				e,
			))
		}
		s.Lines = w.appendLines(nil, m.global, values{
			"encapsulation":   strings.TrimPrefix(g.EncapsulationType, identity),
			"bitstringlength": formatNonZero(g.Bitstringlength),
			"bfr-id":          formatNonZero(g.BfrId),
			"ipv4-bfr-prefix": g.Ipv4BfrPrefix,
			"ipv6-bfr-prefix": g.Ipv6BfrPrefix,
		})
		for _, d := range g.SubDomains {
			id := formatNumber(d.SubDomainId)
			s.Lines = w.appendLines(s.Lines, m.sub, values{
				"sub-domain-id":             id,
				"igp-type":                  d.IgpType,
				"mt-id":                     formatNonZero(d.MtId),
				"bfr-id":                    formatNonZero(d.BfrId),
				"bitstringlength":           formatNonZero(d.Bitstringlength),
				"effective-bfr-id":          formatNonZero(cmp.Or(d.BfrId, g.BfrId)),
				"effective-bitstringlength": formatNonZero(cmp.Or(d.Bitstringlength, g.Bitstringlength)),
			})
			for _, f := range []struct {
				name string
				list []*bierdriver.Encapsulation
			}{{"ipv4", d.Ipv4}, {"ipv6", d.Ipv6}} {
				for _, e := range f.list {
					s.Lines = w.appendLines(s.Lines, m.encap, values{
						"sub-domain-id":   id,
						"family":          f.name,
						"bitstringlength": formatNumber(e.Bitstringlength),
						"label-base":      formatNumber(e.BierMplsLabelBase),
						"range-size":      formatNumber(e.BierMplsLabelRangeSize),
					})
				}
			}
		}
		if len(s.Lines) > 0 {
			out = append(out, s)
		}
	}
	return out, w.err
}

// wantChannel is the section of a channel. All of its lines must be typed, but those of the other
// family of addresses: a router without one of them would not do what is wanted. Only what was read from
// a router, which has no role, may lack values.
func (m *Model) wantChannel(
	c *bierdriver.Channel,
	members addressBook,
	numbers Numbers,
) (s Section, err error) {
	v, family := flowOf(c)
	v["number"] = numbers.assignNumber(v)
	v["sub-domain"], v["ingress-bfr-id"] = formatNumber(c.SubDomain), formatNonZero(c.IngressBfrId)
	if m.addresses {
		if v["egress-addresses"], err = members.egressAddresses(c); err != nil {
			return s, err
		}
	}
	w := &writer{}
	write := func(t *line, v values) {
		text, ok, err := t.fillValues(v)
		if err == nil && !ok && c.Role != pluginv1.BierChannel_ROLE_UNSPECIFIED {
			err = fmt.Errorf(
				"the template %q needs {%s}, which the channel %s does not have",
				t.text,
				t.missingValue(v),
				channelFlowName(c),
			)
		}
		w.recordError(err)
		if ok {
			s.Lines = append(s.Lines, text)
		}
	}
	write(m.channel, v)
	s.Header, s.Lines = strings.Join(s.Lines, ""), nil
	of := map[string]bool{} // families that templates have lines of
	for _, t := range m.flow {
		f := t.addressFamily()
		of[f] = true
		if f == "" || f == family {
			w.recordError(t.checkHosts(c, family))
			write(t, v)
		}
	}
	if (of["ipv4"] || of["ipv6"]) && !of[family] {
		w.recordError(fmt.Errorf(
			"the templates have no line with {group-%s}, so the channel %s would carry nothing",
			family,
			channelFlowName(c),
		))
	}
	for _, e := range c.EgressBfrIds {
		for _, t := range m.egress {
			write(t, values{"egress-bfr-id": formatNonZero(e)})
		}
	}
	for _, port := range c.Ports {
		for _, t := range m.ports {
			write(t, values{"port": port})
		}
	}
	return s, w.err
}

// checkHosts refuses a channel of a whole range of addresses where a template has only one of them: the router would
// send a small part of what is wanted.
func (l *line) checkHosts(c *bierdriver.Channel, family string) error {
	if c.Role == pluginv1.BierChannel_ROLE_UNSPECIFIED {
		return nil
	}
	host := map[string]uint32{"ipv4": 32, "ipv6": 128}[family]
	for _, x := range []struct {
		what     string
		wildcard uint32
	}{{"source", c.SourceWildcard}, {"group", c.GroupWildcard}} {
		if x.wildcard < host &&
			l.hasPlaceholders(x.what+"-"+family) &&
			!l.hasPlaceholders(x.what+"-wildcard") {
			return fmt.Errorf(
				"the template %q has one %s only, and the channel %s has all of /%d: deploy a channel for each, with %s-wildcard %d",
				l.text,
				x.what,
				channelFlowName(c),
				x.wildcard,
				x.what,
				host,
			)
		}
	}
	return nil
}

// flowOf is what identifies a channel, and the family of its addresses.
func flowOf(c *bierdriver.Channel) (v values, family string) {
	v = values{
		"vpn-id":          formatNumber(c.VpnId),
		"source-address":  c.SourceAddress,
		"source-wildcard": formatNumber(c.SourceWildcard),
		"group-address":   c.GroupAddress,
		"group-wildcard":  formatNumber(c.GroupWildcard),
	}
	if a, err := netip.ParseAddr(c.GroupAddress); err == nil {
		family = map[bool]string{
			true:  "ipv4",
			false: "ipv6",
		}[a.Is4()]
		v["source-"+family], v["group-"+family] = c.SourceAddress, c.GroupAddress
	}
	return v, family
}

// Read makes a configuration of sections: the way back of Want, as far as the
// templates carry it. members are those there may be.
func (m *Model) Read(sections []Section, members []*bierdriver.Member) *bierdriver.Config {
	c, known := &bierdriver.Config{}, newAddressBook(members, nil)
	for _, s := range sections {
		if s.Header == m.bier.text {
			c.Global = m.readGlobal(s)
			continue
		}
		if v := m.channel.readValues(s.Header); v != nil {
			c.Channels = append(c.Channels, m.readChannel(v, s, known))
		}
	}
	bierdriver.Canonical(c)
	return c
}

// numberValue is a value that the type of its placeholder has checked.
func (v values) numberValue(name string) uint32 {
	n, err := strconv.ParseUint(v[name], 10, 32)
	if err != nil {
		return 0
	}
	return uint32(n)
}

func (m *Model) readChannel(v values, s Section, known addressBook) *bierdriver.Channel {
	if m.identity != nil {
		for _, l := range s.Lines {
			if of := m.identity.readValues(l); of != nil {
				v = of
			}
		}
	}
	addresses := ""
	c := &bierdriver.Channel{
		VpnId:          v.numberValue("vpn-id"),
		SourceAddress:  v["source-address"],
		SourceWildcard: v.numberValue("source-wildcard"),
		GroupAddress:   v["group-address"],
		GroupWildcard:  v.numberValue("group-wildcard"),
	}
	for _, l := range s.Lines {
		_, v := matchTemplates(l, m.flow, m.egress, m.ports)
		c.SubDomain, c.IngressBfrId = cmp.Or(v.numberValue("sub-domain"), c.SubDomain), cmp.Or(v.numberValue("ingress-bfr-id"), c.IngressBfrId)
		if id := v.numberValue("egress-bfr-id"); id > 0 {
			c.EgressBfrIds = append(c.EgressBfrIds, id)
		}
		if v["port"] != "" && !slices.Contains(c.Ports, v["port"]) {
			c.Ports = append(c.Ports, v["port"])
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
		_, v := matchTemplates(l, m.global, m.sub, m.encap)
		if v["sub-domain-id"] == "" {
			if e := v["encapsulation"]; e != "" {
				g.EncapsulationType = identity + e
			}
			g.Bitstringlength, g.BfrId = cmp.Or(
				v.numberValue("bitstringlength"),
				g.Bitstringlength,
			), cmp.Or(v.numberValue("bfr-id"), g.BfrId)
			g.Ipv4BfrPrefix, g.Ipv6BfrPrefix = cmp.Or(v["ipv4-bfr-prefix"], g.Ipv4BfrPrefix), cmp.Or(v["ipv6-bfr-prefix"], g.Ipv6BfrPrefix)
			continue
		}
		id := v.numberValue("sub-domain-id")
		d := by[id]
		if d == nil {
			d = &bierdriver.SubDomain{SubDomainId: id}
			by[id] = d
			g.SubDomains = append(g.SubDomains, d)
		}
		e := &bierdriver.Encapsulation{
			Bitstringlength:        v.numberValue("bitstringlength"),
			BierMplsLabelBase:      v.numberValue("label-base"),
			BierMplsLabelRangeSize: v.numberValue("range-size"),
		}
		switch v["family"] {
		case "ipv4":
			d.Ipv4 = append(d.Ipv4, e)
		case "ipv6":
			d.Ipv6 = append(d.Ipv6, e)
		default:
			d.IgpType, d.MtId = cmp.Or(v["igp-type"], d.IgpType), cmp.Or(v.numberValue("mt-id"), d.MtId)
			d.BfrId, d.Bitstringlength = cmp.Or(
				v.numberValue("bfr-id"),
				v.numberValue("effective-bfr-id"),
				d.BfrId,
			), cmp.Or(
				v.numberValue("bitstringlength"),
				v.numberValue("effective-bitstringlength"),
				d.Bitstringlength,
			)
		}
	}
	return g
}
