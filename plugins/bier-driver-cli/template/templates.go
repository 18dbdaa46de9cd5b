// Package template is the decision core of the driver: line templates with typed
// placeholders that are written and read by the same text, and the comparison of a
// router's sections with those wanted. It does no I/O.
//
// A value reaches a line only if its type allows every character of it.
package template

import (
	"strings"

	"ctl.internal/sdk/fault"
)

// Templates is the part of the settings that says what is typed.
type Templates struct {
	BIER    BIER    `json:"bier"`
	Channel Channel `json:"channel"`
	// Negate is written before a line or a header that is taken back, "no ".
	Negate string `json:"negate"`
	// Leave ends a section.
	Leave string `json:"leave"`
}

// BIER is the section of the router's own configuration.
type BIER struct {
	Header string `json:"header"`
	// Keep says that the section is the router's own, that of an IGP: only lines of it
	// are ours.
	Keep          bool     `json:"keep"`
	Global        []string `json:"global"`
	SubDomain     []string `json:"sub_domain"`
	Encapsulation []string `json:"encapsulation"`
}

// Channel is a section for each channel.
type Channel struct {
	// Header distinguishes channels by their flow, or by {number}; then one of Lines must
	// have all of the flow.
	Header string   `json:"header"`
	Lines  []string `json:"lines"`
	Egress []string `json:"egress"`
	// Ports are the lines for each port with receivers, at an egress router.
	Ports []string `json:"ports"`
	// Again is typed once more after whatever changes in a section, for routers that
	// else hold a change without doing it.
	Again []string `json:"again"`
	// IngressOnly leaves out what a router is an egress of.
	IngressOnly bool `json:"ingress_only"`
}

// Model is compiled templates.
type Model struct {
	negate, leave                    string
	bier, channel                    *line
	global, sub, encap, flow, egress []*line
	ports                            []*line
	again                            []string
	keep, ingressOnly, addresses     bool
	identity                         *line // has all of a flow; nil: the header has
}

// Members reports whether the templates name egress routers by address, so that Want
// needs bierdriver.Config.Members.
func (m *Model) Members() bool { return m.addresses }

// HasPorts reports whether the templates have a place for the ports of a channel.
func (m *Model) HasPorts() bool {
	return len(m.ports) > 0 && !m.ingressOnly
}

// flow are the placeholders that identify a channel.
const flow = "vpn-id source-address source-wildcard group-address group-wildcard"

// Compile checks templates; the faults name their places.
func Compile(t Templates) (*Model, error) {
	m := &Model{
		negate:      t.Negate,
		leave:       t.Leave,
		keep:        t.BIER.Keep,
		ingressOnly: t.Channel.IngressOnly,
	}
	var bad fault.List
	one := func(path, text, names string) *line {
		l, err := compileLine(text, strings.Fields(names))
		if err != nil {
			bad = append(bad, fault.At(fault.Invalid, path, "%q: %s", text, err))
		}
		return l
	}
	many := func(path string, texts []string, names string) (out []*line) {
		for _, text := range texts {
			out = append(out, one(path, text, names))
		}
		return out
	}
	m.bier = one("bier/header", t.BIER.Header, "")
	m.global = many(
		"bier/global",
		t.BIER.Global,
		"encapsulation bitstringlength bfr-id ipv4-bfr-prefix ipv6-bfr-prefix",
	)
	m.sub = many("bier/sub_domain", t.BIER.SubDomain,
		"sub-domain-id igp-type mt-id bfr-id bitstringlength effective-bfr-id effective-bitstringlength")
	m.encap = many(
		"bier/encapsulation",
		t.BIER.Encapsulation,
		"sub-domain-id family bitstringlength label-base range-size",
	)
	m.channel = one("channel/header", t.Channel.Header, flow+" number")
	m.flow = many("channel/lines", t.Channel.Lines,
		flow+" number sub-domain ingress-bfr-id egress-addresses source-ipv4 group-ipv4 source-ipv6 group-ipv6")
	for _, l := range m.flow {
		m.addresses = m.addresses || l.hasPlaceholders("egress-addresses")
	}
	m.egress = many("channel/egress", t.Channel.Egress, "egress-bfr-id")
	m.ports = many("channel/ports", t.Channel.Ports, "port")
	for _, l := range many("channel/again", t.Channel.Again, "") {
		if l != nil {
			m.again = append(m.again, l.text)
		}
	}
	if m.channel != nil && !m.channel.hasPlaceholders(flow) {
		for _, l := range m.flow {
			if l.hasPlaceholders(flow) && m.channel.hasPlaceholders("number") {
				m.identity = l
			}
		}
		if m.identity == nil {
			bad = append(
				bad,
				fault.At(
					fault.Invalid,
					"channel/header",
					"a channel is identified by all of {vpn-id} {source-address} {source-wildcard} {group-address} {group-wildcard}, here, or in one of channel/lines when {number} stands here",
				),
			)
		}
	}
	for path, text := range map[string]string{
		"negate": t.Negate,
		"leave":  t.Leave,
	} {
		if text == "" || !plain.MatchString(text) {
			bad = append(bad, fault.At(fault.Invalid, path, "%q: letters, digits and blanks", text))
		}
	}
	return m, bad.Err()
}
