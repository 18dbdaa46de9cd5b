package template

import "ctl.internal/sdk/fault"

// Templates is the part of the settings that says what is typed.
type Templates struct {
	BIER    BIER    `json:"bier"`
	Channel Channel `json:"channel"`
	// Negate stands before a line or a header that is taken back, "no ".
	Negate string `json:"negate"`
	// Leave ends a section.
	Leave string `json:"leave"`
}

// BIER is the section of the router's own configuration.
type BIER struct {
	Header        string   `json:"header"`
	Global        []string `json:"global"`
	SubDomain     []string `json:"sub_domain"`
	Encapsulation []string `json:"encapsulation"`
}

// Channel is a section for each channel.
type Channel struct {
	Header string   `json:"header"`
	Lines  []string `json:"lines"`
	Egress []string `json:"egress"`
}

// Model is compiled templates.
type Model struct {
	negate, leave                    string
	bier, channel                    *line
	global, sub, encap, flow, egress []*line
}

// Compile checks templates; the faults name their places.
func Compile(t Templates) (*Model, error) {
	m := &Model{negate: t.Negate, leave: t.Leave}
	var bad fault.List
	one := func(path, text string, names map[string]bool) *line {
		l, err := compile(text, names)
		if err != nil {
			bad = append(bad, fault.At(fault.Invalid, path, "%q: %s", text, err))
		}
		return l
	}
	many := func(path string, texts []string, names map[string]bool) []*line {
		var out []*line
		for _, text := range texts {
			out = append(out, one(path, text, names))
		}
		return out
	}
	set := func(names ...string) map[string]bool {
		out := map[string]bool{}
		for _, n := range names {
			out[n] = true
		}
		return out
	}
	flow := set("vpn-id", "source-address", "source-wildcard", "group-address", "group-wildcard")
	m.bier = one("bier/header", t.BIER.Header, nil)
	m.global = many("bier/global", t.BIER.Global, set("encapsulation", "bitstringlength", "bfr-id", "ipv4-bfr-prefix", "ipv6-bfr-prefix"))
	m.sub = many("bier/sub_domain", t.BIER.SubDomain, set("sub-domain-id", "igp-type", "mt-id", "bfr-id", "bitstringlength"))
	m.encap = many("bier/encapsulation", t.BIER.Encapsulation, set("sub-domain-id", "family", "bitstringlength", "label-base", "range-size"))
	m.channel = one("channel/header", t.Channel.Header, flow)
	m.flow = many("channel/lines", t.Channel.Lines, set("sub-domain", "ingress-bfr-id"))
	m.egress = many("channel/egress", t.Channel.Egress, set("egress-bfr-id"))
	if m.channel != nil && len(m.channel.names) < len(flow) {
		bad = append(bad, fault.At(fault.Invalid, "channel/header", "a channel is told apart by all of {vpn-id} {source-address} {source-wildcard} {group-address} {group-wildcard}"))
	}
	for path, text := range map[string]string{"negate": t.Negate, "leave": t.Leave} {
		if text == "" || !plain.MatchString(text) {
			bad = append(bad, fault.At(fault.Invalid, path, "%q: letters, digits and blanks", text))
		}
	}
	return m, bad.Err()
}
