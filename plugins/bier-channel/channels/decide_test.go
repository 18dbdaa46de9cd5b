package channels

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ctl.internal/internal/bier"
)

func id[T any](v T) *T { return &v }

// line is the nodes a, b and c in sub-domain 0 of domain 1, one linked to the next; d is
// in no sub-domain.
func line() *bier.Topology {
	t := &bier.Topology{ID: "lab", Domains: []bier.Domain{{ID: 1, SubDomains: []bier.SubDomainRef{{ID: 0}}}}}
	for i, n := range []string{"a", "b", "c"} {
		t.Nodes = append(t.Nodes, bier.Node{ID: n, Params: bier.NodeParams{Domains: []bier.NodeDomain{{ID: 1,
			Global: bier.Global{BSL: 256, BFRID: id(uint16(i + 1)), IPv4Prefix: fmt.Sprintf("10.0.0.%d/32", i+1), SubDomains: []bier.SubDomain{{ID: 0, IGP: "ISIS"}}}}}}})
	}
	t.Nodes = append(t.Nodes, bier.Node{ID: "d"})
	for _, l := range [][2]string{{"a", "b"}, {"b", "a"}, {"b", "c"}, {"c", "b"}} {
		t.Links = append(t.Links, bier.Link{ID: l[0] + l[1], Source: bier.LinkFrom{Node: l[0]}, Dest: bier.LinkTo{Node: l[1]}})
	}
	return t
}

func fields(f func(*Fields)) *Fields {
	x := &Fields{Topology: "lab", Name: "tv", SrcIP: id("1.1.1.1"), DstGroup: id("224.1.1.1"), DomainID: id(uint16(1)), SubDomainID: id(uint16(0)), SourceWildcard: id(uint8(32)), GroupWildcard: id(uint8(32))}
	f(x)
	return x
}

func channel(name, ingress string, egress ...string) *bier.Channel {
	c := &bier.Channel{Name: name, SrcIP: "1.1.1.1", DstGroup: "224.1.1.1", DomainID: 1, SourceWildcard: 32, GroupWildcard: 32, IngressNode: ingress}
	for _, e := range egress {
		c.EgressNodes = append(c.EgressNodes, bier.EgressNode{ID: e})
	}
	return c
}

func TestRulesOfChannels(t *testing.T) {
	deploy := func(have *bier.Channel, ingress string, egress ...string) func() error {
		return func() error {
			_, err := Deploy(have, &Deployment{Topology: "lab", Name: "tv", Ingress: ingress, Egress: channel("", "", egress...).EgressNodes}, line(), slices.Values([]bier.Channel{*channel("other", "b", "c")}))
			return err
		}
	}
	add := func(have *bier.Channel, f func(*Fields), in *bier.Topology) func() error {
		return func() error { _, err := Add(have, fields(f), in); return err }
	}
	modify := func(have *bier.Channel) func() error {
		return func() error { _, err := Modify(have, fields(func(*Fields) {}), line()); return err }
	}
	check := func(before, c *bier.Channel, in *bier.Topology) func() error {
		return func() error {
			return Check(before, c, "lab", in, slices.Values([]bier.Channel{*channel("other", "b", "c")}))
		}
	}
	plain, carried := channel("tv", ""), channel("tv", "a", "c")
	moved := channel("tv", "a", "c")
	moved.DstGroup = "224.9.9.9"
	for name, c := range map[string]struct {
		do   func() error
		want string
	}{
		"a new channel":               {add(nil, func(*Fields) {}, line()), ""},
		"without a name":              {add(nil, func(f *Fields) { f.Name = "" }, line()), "name is missing"},
		"no multicast group":          {add(nil, func(f *Fields) { f.DstGroup = id("1.2.3.4") }, line()), "not a multicast address"},
		"wildcard 33":                 {add(nil, func(f *Fields) { f.SourceWildcard = id(uint8(33)) }, line()), "not within 1..32"},
		"an unknown topology":         {add(nil, func(*Fields) {}, nil), "there is no topology lab"},
		"an unknown domain":           {add(nil, func(f *Fields) { f.DomainID = id(uint16(7)) }, line()), "there is no domain 7"},
		"an unknown sub-domain":       {add(nil, func(f *Fields) { f.SubDomainID = id(uint16(7)) }, line()), "there is no sub-domain 7"},
		"a name that is taken":        {add(plain, func(*Fields) {}, line()), "exists already"},
		"modifying":                   {modify(plain), ""},
		"modifying one that is not":   {modify(nil), "there is no channel tv"},
		"modifying a deployed one":    {modify(carried), "is deployed from node a"},
		"deploying":                   {deploy(plain, "a", "b", "c"), ""},
		"deploying by long names":     {deploy(plain, "openflow:a", "openflow:b", "c"), ""},
		"to one node by both names":   {deploy(plain, "a", "openflow:b", "b"), "occurs twice"},
		"deploying again":             {deploy(carried, "c", "a"), ""},
		"deploying one that is not":   {deploy(nil, "a", "c"), "add-channel creates it"},
		"from a node outside":         {deploy(plain, "d", "c"), "d is not in sub-domain"},
		"to its own ingress":          {deploy(plain, "a", "a"), "ingress and egress"},
		"a flow that another has":     {deploy(plain, "b", "a"), "channel other has the flow"},
		"tree: deploying":             {check(plain, carried, line()), ""},
		"tree: another flow":          {check(carried, moved, line()), "is deployed from node a"},
		"tree: egress, no ingress":    {check(nil, channel("tv", "", "c"), line()), "ingress-node is missing"},
		"tree: no such topology":      {check(nil, carried, nil), "there is no topology lab"},
		"tree: a flow that is taken":  {check(nil, channel("tv", "b", "a"), line()), "channel other has the flow"},
		"tree: a long name":           {check(nil, channel(strings.Repeat("x", 257), ""), line()), "at most 256 bytes"},
		"tree: as it was before":      {check(carried, carried, line()), ""},
		"tree: not deployed any more": {check(carried, plain, line()), ""},
	} {
		if err := c.do(); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}
