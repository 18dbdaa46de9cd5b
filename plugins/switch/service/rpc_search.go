package service

import (
	"cmp"
	"context"
	"net/netip"
	"slices"
	"strings"

	"ctl.internal/plugins/switch/discovery"
	"ctl.internal/plugins/switch/mib"
	"ctl.internal/plugins/switch/switchlist"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
)

type searchIn struct {
	Text  string `json:"text"`
	Limit int    `json:"limit"`
}

// searchHit is something that a text is a part of.
type searchHit struct {
	ofSwitch
	Port   string `json:"port,omitempty"`
	Number uint32 `json:"number,omitempty"`
	Kind   string `json:"kind"`
	Match  string `json:"match"`
	Value  string `json:"value"`
	VLAN   uint32 `json:"vlan-id,omitempty"`
	Since  string `json:"since,omitempty"`
}

type searchHits struct {
	Entries []searchHit `json:"entry"`
	More    bool        `json:"more,omitempty"`
}

// searchLimit is how many entries are answered if the input does not say.
const searchLimit = 200

// needle is a text that is searched for, in the forms in which it may be written.
type needle struct {
	text    string     // lower case
	digits  string     // the hexadecimal digits of a part of a MAC address; empty: the text is not one
	address netip.Addr // of a whole IP address
}

func newNeedle(text string) needle {
	n := needle{text: strings.ToLower(strings.TrimSpace(text))}
	digits := strings.Map(func(r rune) rune {
		if strings.ContainsRune(":-.", r) {
			return -1
		}
		return r
	}, n.text)
	if len(digits) >= 2 && strings.Trim(digits, "0123456789abcdef") == "" {
		n.digits = digits
	}
	if a, err := netip.ParseAddr(n.text); err == nil {
		n.address = a.Unmap()
	}
	return n
}

func (n needle) in(text string) bool {
	return strings.Contains(strings.ToLower(text), n.text)
}

// inMAC reports whether the text is a part of a MAC address: written as it is, or its digits with other separators.
func (n needle) inMAC(m mib.MAC) bool {
	if m == 0 {
		return false
	}
	plain := m.String()
	return n.in(plain) ||
		n.digits != "" && strings.Contains(strings.ReplaceAll(plain, ":", ""), n.digits)
}

// inIP reports whether the text is a part of an IP address, or the same address written in another way.
func (n needle) inIP(a netip.Addr) bool {
	if !a.IsValid() {
		return false
	}
	return n.address == a.Unmap() || n.in(a.String()) || a.Is6() && n.in(a.StringExpanded())
}

// search finds a text in what is known of switches, ports, neighbours and learned addresses.
func (s *Service) search(_ context.Context, in searchIn) (*searchHits, error) {
	n := newNeedle(in.Text)
	if n.text == "" {
		return nil, fault.At(fault.Invalid, "text",
			"there is nothing to search for; write a part of a name, an address or a description")
	}
	var hits []searchHit
	for _, e := range s.inventory.Entries() {
		o := s.survey.Observation(e.MAC)
		hits = append(hits, s.searchSwitch(n, e, o)...)
		if o != nil {
			hits = append(hits, s.searchPorts(n, o)...)
			hits = append(hits, s.searchNeighbors(n, o)...)
		}
	}
	hits = append(hits, s.searchStations(n)...)
	slices.SortStableFunc(hits, compareHits)
	limit := cmp.Or(in.Limit, searchLimit)
	return &searchHits{append([]searchHit{}, hits[:min(limit, len(hits))]...), len(hits) > limit}, nil
}

// compareHits orders by kind, switch, port and value.
func compareHits(a, b searchHit) int {
	kinds := []string{"switch", "port", "neighbor", "address"}
	return cmp.Or(
		cmp.Compare(slices.Index(kinds, a.Kind), slices.Index(kinds, b.Kind)),
		strings.Compare(a.Switch, b.Switch),
		cmp.Compare(a.Number, b.Number),
		strings.Compare(a.Value, b.Value),
	)
}

// searchSwitch finds the first thing of a switch itself that matches.
func (s *Service) searchSwitch(n needle, e switchlist.Entry, o *discovery.Observation) []searchHit {
	type fact struct {
		match, value string
		found        bool
	}
	facts := []fact{
		{"mac-address", e.MAC.String(), n.inMAC(e.MAC)},
		{"address", e.Place(), n.inIP(e.Address)},
		{"model", e.Model, n.in(e.Model)},
		{"driver", e.Driver, n.in(e.Driver)},
	}
	if o != nil {
		facts = append([]fact{{"name", o.SysName, n.in(o.SysName)}}, facts...)
		facts = append(facts, fact{"description", o.SysDesc, n.in(o.SysDesc)})
	}
	for _, f := range facts {
		if f.found {
			return []searchHit{{
				ofSwitch: s.switchIdentity(e.MAC),
				Kind:     "switch",
				Match:    f.match,
				Value:    f.value,
			}}
		}
	}
	return nil
}

func (s *Service) searchPorts(n needle, o *discovery.Observation) (out []searchHit) {
	for _, p := range o.Ports {
		hit := searchHit{
			ofSwitch: s.switchIdentity(o.Node),
			Port:     portName(p),
			Number:   p.Number,
			Kind:     "port",
		}
		switch {
		case n.in(p.Name):
			hit.Match, hit.Value = "name", p.Name
		case n.in(p.Descr):
			hit.Match, hit.Value = "description", p.Descr
		case n.in(p.LLDPDesc):
			hit.Match, hit.Value = "description", p.LLDPDesc
		case p.MAC != o.Node && n.inMAC(p.MAC):
			hit.Match, hit.Value = "mac-address", p.MAC.String()
		default:
			continue
		}
		out = append(out, hit)
	}
	return out
}

func (s *Service) searchNeighbors(n needle, o *discovery.Observation) (out []searchHit) {
	for _, nb := range o.Neighbors {
		hit := searchHit{
			ofSwitch: s.switchIdentity(o.Node),
			Port:     nb.LocalPort,
			Kind:     "neighbor",
		}
		i := slices.IndexFunc(o.Ports, func(p discovery.Port) bool {
			return p.ID == nb.LocalPort
		})
		if i >= 0 {
			hit.Port, hit.Number = portName(o.Ports[i]), o.Ports[i].Number
		}
		at := slices.IndexFunc(nb.Addresses, n.inIP)
		switch {
		case n.in(nb.SysName):
			hit.Match, hit.Value = "name", nb.SysName
		case n.inMAC(chassisOf(nb)):
			hit.Match, hit.Value = "mac-address", chassisOf(nb).String()
		case at >= 0:
			hit.Match, hit.Value = "address", nb.Addresses[at].String()
		case n.in(nb.PortDesc):
			hit.Match, hit.Value = "description", nb.PortDesc
		default:
			continue
		}
		out = append(out, hit)
	}
	return out
}

// searchStations finds MAC addresses that were learned at ports.
func (s *Service) searchStations(n needle) (out []searchHit) {
	if s.stations == nil || n.digits == "" {
		return nil
	}
	for _, list := range s.stations.All(s.store.Now(), "") {
		for _, st := range list {
			if n.inMAC(st.MAC) {
				out = append(out, searchHit{
					ofSwitch: s.switchIdentity(st.Switch),
					Port:     s.portNamesOf(st.Switch).nameOfPort(st.Port),
					Number:   st.Port,
					Kind:     "address",
					Match:    "mac-address",
					Value:    st.MAC.String(),
					VLAN:     st.VLAN,
					Since:    formatTime(st.Since),
				})
			}
		}
	}
	return out
}

func (o *searchHits) formatTable() string {
	t := commands.Table{
		Empty: "Nothing that is known matches.",
		Columns: []commands.Column{
			{Title: "Switch", Max: 32},
			{Title: "Port"},
			{Title: "Kind"},
			{Title: "Match"},
			{Title: "Value", Max: 60},
			{Title: "VLAN", Right: true},
			{Title: "Since"},
		},
	}
	for _, h := range o.Entries {
		t.Add(h.Switch, h.Port, h.Kind, h.Match, h.Value, formatNonZero(h.VLAN), h.Since)
	}
	text := t.String()
	if o.More {
		text += "There are more entries: write a longer text.\n"
	}
	return text
}
