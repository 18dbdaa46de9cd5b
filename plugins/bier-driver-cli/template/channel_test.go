package template

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ctl.internal/sdk/bierdriver"
)

// counted are templates of routers that count sections and name egress routers by address.
func counted(t testing.TB, lines ...string) *Model {
	t.Helper()
	m, err := Compile(Templates{Negate: "no ", Leave: "exit", BIER: BIER{Header: "router bier", Global: []string{"bfr-id {bfr-id}"}},
		Channel: Channel{Header: "interface tunnel{number}", IngressOnly: true,
			Lines: append([]string{"description {source-address} {source-wildcard} {group-address} {group-wildcard} vpn {vpn-id}", "tunnel to {egress-addresses}"}, lines...)}})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func flowTo(source, group string, egress ...uint32) *bierdriver.Channel {
	wildcard := uint32(32)
	if strings.Contains(group, ":") {
		wildcard = 128
	}
	return &bierdriver.Channel{SourceAddress: source, SourceWildcard: wildcard, GroupAddress: group, GroupWildcard: wildcard, IngressBfrId: 1, EgressBfrIds: egress, Role: bierdriver.Ingress}
}

// wildcards has a channel with other lengths of its source and its group.
func wildcards(c *bierdriver.Channel, source, group uint32) *bierdriver.Channel {
	c.SourceWildcard, c.GroupWildcard = source, group
	return c
}

// Addresses of egress routers are those of the underlay, whatever the family of the group, and of the group
// there are only the lines of its family. A template of one address takes no channel of a whole range.
func TestFamilies(t *testing.T) {
	members := []*bierdriver.Member{{BfrId: 2, Ipv4BfrPrefix: "10.0.0.2/32", Ipv6BfrPrefix: "2001:db8::2/128"}, {BfrId: 3, Ipv6BfrPrefix: "2001:db8::3/128"}}
	label := []*bierdriver.Encapsulation{{Bitstringlength: 256, BierMplsLabelBase: 100, BierMplsLabelRangeSize: 1}}
	both := []string{"join4 {group-ipv4} {source-ipv4}", "join6 {group-ipv6} {source-ipv6}"}
	for name, x := range map[string]struct {
		lines   []string
		sub     *bierdriver.SubDomain
		prefix4 string
		c       *bierdriver.Channel
		want    []string
		err     string
	}{
		"IPv6 over IPv4": {both, &bierdriver.SubDomain{Ipv4: label}, "", flowTo("2001:db8::9", "ff3e::1", 2), []string{"tunnel to 10.0.0.2", "join6 ff3e::1 2001:db8::9"}, ""},
		"IPv4 over IPv6": {both, &bierdriver.SubDomain{Ipv6: label}, "", flowTo("10.9.9.9", "232.0.0.1", 2, 3), []string{"tunnel to 2001:db8::2 2001:db8::3", "join4 232.0.0.1 10.9.9.9"}, ""},
		"IPv6 over both": {both, &bierdriver.SubDomain{Ipv4: label, Ipv6: label}, "", flowTo("2001:db8::9", "ff3e::1", 2), []string{"tunnel to 10.0.0.2", "join6 ff3e::1 2001:db8::9"}, ""},
		"no labels":      {both, &bierdriver.SubDomain{}, "10.0.0.1/32", flowTo("2001:db8::9", "ff3e::1", 2), []string{"tunnel to 10.0.0.2", "join6 ff3e::1 2001:db8::9"}, ""},
		"no address":     {both, &bierdriver.SubDomain{Ipv4: label}, "", flowTo("2001:db8::9", "ff3e::1", 3), nil, "bfr-id 3 in sub-domain 0 has no ipv4-bfr-prefix"},
		"no lines of it": {both[:1], &bierdriver.SubDomain{Ipv4: label}, "", flowTo("2001:db8::9", "ff3e::1", 2), nil, "no line with {group-ipv6}"},
		"nor of IPv4":    {both[1:], &bierdriver.SubDomain{Ipv4: label}, "", flowTo("10.9.9.9", "232.0.0.1", 2), nil, "no line with {group-ipv4}"},
		"any family":     {nil, &bierdriver.SubDomain{Ipv4: label}, "", flowTo("2001:db8::9", "ff3e::1", 2), []string{"tunnel to 10.0.0.2"}, ""},
		"a value that is missing": {[]string{"key {ingress-bfr-id}"}, &bierdriver.SubDomain{Ipv4: label}, "",
			&bierdriver.Channel{SourceAddress: "10.9.9.9", SourceWildcard: 32, GroupAddress: "232.0.0.1", GroupWildcard: 32, EgressBfrIds: []uint32{2}, Role: bierdriver.Ingress}, nil,
			`the template "key {ingress-bfr-id}" needs {ingress-bfr-id}`},
		"many groups": {both, &bierdriver.SubDomain{Ipv4: label}, "", wildcards(flowTo("10.9.9.9", "232.0.0.0", 2), 32, 24), nil,
			`the template "join4 {group-ipv4} {source-ipv4}" has one group only, and the channel 10.9.9.9 232.0.0.0 has all of /24`},
		"many sources": {both, &bierdriver.SubDomain{Ipv4: label}, "", wildcards(flowTo("2001:db8::", "ff3e::1", 2), 64, 128), nil,
			"has one source only, and the channel 2001:db8:: ff3e::1 has all of /64"},
		"many groups, with their length": {[]string{"join4 {group-ipv4} {group-wildcard} {source-ipv4}"}, &bierdriver.SubDomain{Ipv4: label}, "",
			wildcards(flowTo("10.9.9.9", "232.0.0.0", 2), 32, 24), []string{"tunnel to 10.0.0.2", "join4 232.0.0.0 24 10.9.9.9"}, ""},
		"no egress": {nil, &bierdriver.SubDomain{Ipv4: label}, "", flowTo("10.9.9.9", "232.0.0.1"), nil, "needs {egress-addresses}"},
	} {
		m := counted(t, x.lines...)
		c := &bierdriver.Config{Global: &bierdriver.Global{BfrId: 1, Ipv4BfrPrefix: x.prefix4, SubDomains: []*bierdriver.SubDomain{x.sub}}, Channels: []*bierdriver.Channel{x.c}, Members: members}
		sections, err := m.Want(c)
		refused := m.Refusals(c)
		switch {
		case x.err != "":
			if err == nil || !strings.Contains(err.Error(), x.err) || len(refused) != 1 {
				t.Errorf("%s: %v, %v, want %q", name, err, refused, x.err)
			}
		case err != nil || len(refused) > 0 || !slices.Equal(sections[1].Lines[1:], x.want):
			t.Errorf("%s: %q, %v, want %q", name, sections, err, x.want)
		}
	}
}

// show is what a router shows that has these sections.
func show(sections []Section) string {
	var b strings.Builder
	for _, s := range sections {
		b.WriteString(s.Header + "\n")
		for _, l := range s.Lines {
			b.WriteString(" " + l + "\n")
		}
	}
	return b.String()
}

// 10,000 channels have 10,000 numbers, which stay when others come and go, and are none of sections of
// somebody else.
func TestNumbersNeverCollide(t *testing.T) {
	m := counted(t)
	members := []*bierdriver.Member{{BfrId: 2, Ipv4BfrPrefix: "10.0.0.2/32"}}
	config := func(from, to int) *bierdriver.Config {
		c := &bierdriver.Config{Global: &bierdriver.Global{BfrId: 1}, Members: members}
		for i := from; i < to; i++ {
			c.Channels = append(c.Channels, flowTo(fmt.Sprintf("10.%d.%d.1", i/250, i%250), "232.0.0.1", 2))
		}
		bierdriver.Canonical(c)
		return c
	}
	numbers := func(sections []Section) map[string]string {
		out, seen := map[string]string{}, map[string]bool{}
		for _, s := range sections[1:] {
			if seen[s.Header] {
				t.Fatalf("%s twice", s.Header)
			}
			seen[s.Header] = true
			out[s.Lines[0]] = s.Header
		}
		return out
	}
	all, err := m.Want(config(0, 10_000))
	if err != nil {
		t.Fatal(err)
	}
	first := numbers(all)
	if len(first) != 10_000 {
		t.Fatalf("%d sections", len(first))
	}
	if back := m.Parse(show(all)); len(back) != len(all) {
		t.Errorf("%d of %d sections are found again", len(back), len(all))
	}
	// Those that are left keep their numbers, and the others get them again after the router lost all.
	few, err := m.Numbered(config(5000, 5100), m.Numbers(show(all), nil))
	if err != nil {
		t.Fatal(err)
	}
	again, err := m.Numbered(config(0, 10_000), m.Numbers("", all))
	if err != nil {
		t.Fatal(err)
	}
	for _, list := range [][]Section{few, again} {
		for flow, header := range numbers(list) {
			if first[flow] != header {
				t.Errorf("%s moved from %s to %s", flow, first[flow], header)
			}
		}
	}
	// A section of somebody else is passed by and left alone.
	foreign := all[1].Header + "\n description another's\n"
	got, err := m.Numbered(config(0, 10_000), m.Numbers(foreign, nil))
	if err != nil {
		t.Fatal(err)
	}
	for _, header := range numbers(got) {
		if header == all[1].Header {
			t.Errorf("%s is somebody else's", header)
		}
	}
	if len(m.Parse(foreign)) > 0 {
		t.Error("somebody else's section is taken for ours")
	}
}
