package bier_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ctl.internal/internal/bier"
)

// plan is the error of the ingress, or of the first egress.
func plan(t *bier.Topology, c *bier.Channel) (*bier.Plan, error) {
	p, err := bier.PlanChannel(t, c)
	if err == nil {
		err = p.Err()
	}
	return p, err
}

func TestPlanSaysWhatIsInTheWay(t *testing.T) {
	channel := func(ingress string, egress ...string) *bier.Channel {
		c := &bier.Channel{Name: "c", DomainID: 1, SubDomainID: 1, IngressNode: ingress}
		for _, e := range egress {
			c.EgressNodes = append(c.EgressNodes, bier.EgressNode{ID: e})
		}
		return c
	}
	all := network(6, 0, 3)
	p, err := plan(all, channel("n00000", "n00005"))
	if err != nil || len(p.BitStrings) != 1 || p.Egress[0].Path[0] != "n00000" || p.Egress[0].Path[len(p.Egress[0].Path)-1] != "n00005" {
		t.Fatalf("%+v, %v", p, err)
	}
	for name, x := range map[string]struct {
		change func(*bier.Topology)
		c      *bier.Channel
		want   string
	}{
		"no such sub-domain":         {func(t *bier.Topology) { t.Domains = nil }, channel("n00000", "n00005"), "has no sub-domain 1 of domain 1"},
		"the ingress is no member":   {func(t *bier.Topology) { t.Nodes[0].Params.Domains = nil }, channel("n00000", "n00005"), "ingress node n00000 is not in"},
		"the ingress has no bfr-id":  {func(t *bier.Topology) { t.Nodes[0].Params.Domains[0].Global.BFRID = nil }, channel("n00000", "n00005"), "n00000 has no bfr-id"},
		"the ingress has no length":  {func(t *bier.Topology) { t.Nodes[0].Params.Domains[0].Global.BSL = 0 }, channel("n00000", "n00005"), "no bitstringlength"},
		"no egress":                  {func(*bier.Topology) {}, channel("n00000"), "there is no egress node"},
		"an egress twice":            {func(*bier.Topology) {}, channel("n00000", "n00005", "n00005"), "n00005 occurs twice"},
		"ingress and egress":         {func(*bier.Topology) {}, channel("n00000", "n00000"), "is ingress and egress"},
		"the egress is no member":    {func(*bier.Topology) {}, channel("n00000", "x"), "egress node x is not in"},
		"the egress is transit only": {func(t *bier.Topology) { t.Nodes[5].Params.Domains[0].Global.BFRID = nil }, channel("n00000", "n00005"), "n00005 has no bfr-id"},
		"no links":                   {func(t *bier.Topology) { t.Links = nil }, channel("n00000", "n00005"), "cannot be reached from n00000"},
		"the egress has no such length": {func(t *bier.Topology) {
			t.Nodes[5].Params.Domains[0].Global.SubDomains[0].AF = bier.AF{IPv4: []bier.Encapsulation{{BSL: 64, Base: 20, Size: 1}}}
		}, channel("n00000", "n00005"), "accepts only bit strings of [64-bit]"},
	} {
		top := network(6, 0, 3)
		x.change(top)
		if _, err := plan(top, x.c); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: %v, want %q", name, err, x.want)
		}
	}
	// One egress without a way does not hide the other.
	cut := network(6, 0, 3)
	cut.Nodes[4].Params.Domains[0].Global.BFRID = nil
	if p, err := bier.PlanChannel(cut, channel("n00000", "n00004", "n00005")); err != nil || len(p.BitStrings) != 1 || p.Egress[0].Err == nil || p.Egress[1].Err != nil {
		t.Errorf("%+v, %v", p, err)
	}
}

// The example of RFC 8279 sections 3 and 6: a-b, b-c, b-d, c-e with ids on both sides of
// the edges of sets; b only forwards.
func TestSetsOfOneChannel(t *testing.T) {
	for length, want := range map[bier.BSL]string{
		64:  "0:8000000000000000 1:01 2:02",
		128: "0:018000000000000000 1:02",
		256: "0:020000000000000001" + "8000000000000000",
	} {
		top := &bier.Topology{ID: "x", Domains: []bier.Domain{{ID: 1, SubDomains: []bier.SubDomainRef{{ID: 0}}}}}
		for node, id := range map[string]uint16{"a": 1, "b": 0, "c": 64, "d": 65, "e": 130} {
			n := bier.Node{ID: node, Params: bier.NodeParams{Domains: []bier.NodeDomain{{ID: 1, Global: bier.Global{BSL: length, SubDomains: []bier.SubDomain{{ID: 0, IGP: "ISIS"}}}}}}}
			if id > 0 {
				n.Params.Domains[0].Global.BFRID = ref(id)
			}
			top.Nodes = append(top.Nodes, n)
		}
		for _, l := range []string{"ab", "ba", "bc", "cb", "bd", "db", "ce", "ec"} {
			top.Links = append(top.Links, bier.Link{ID: l, Source: bier.LinkFrom{Node: l[:1]}, Dest: bier.LinkTo{Node: l[1:]}, Metric: 10})
		}
		top.Sort()
		p, err := plan(top, &bier.Channel{DomainID: 1, IngressNode: "a", EgressNodes: []bier.EgressNode{{ID: "c"}, {ID: "d"}, {ID: "e"}}})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range p.BitStrings {
			got = append(got, fmt.Sprintf("%d:%s", s.SI, s.Hex()))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%d bits: %v, want %s", length, got, want)
		}
		for _, table := range bier.NewGraph(top, 1, 0).BIFTs("b", length) {
			for _, e := range table.Entries {
				if e.Neighbor(0).Node == "b" || e.ID == 0 {
					t.Errorf("%d bits: b, which has no bfr-id, delivers %+v", length, e)
				}
			}
		}
	}
}

func TestFlows(t *testing.T) {
	for _, x := range []struct {
		source, group string
		sw, gw        uint8
		want          string // "" = it is one
	}{
		{"1.1.1.1", "224.1.1.1", 32, 32, ""},
		{"0.0.0.0", "239.255.255.255", 1, 1, ""},
		{"2001:db8::1", "ff3e::1", 128, 128, ""},
		{"::", "ff15::1", 128, 1, ""},
		{"1.1.1.1", "224.0.1.0", 32, 32, ""},
		{"1.1.1.1", "224.0.0.255", 32, 32, "is reserved"},
		{"::", "ff02::1", 128, 128, "is reserved"},
		{"::", "ff01::1", 128, 128, "is reserved"},
		{"::", "ff0f::1", 128, 128, "is reserved"},
		{"x", "224.1.1.1", 32, 32, `src-ip "x" is not an IP address`},
		{"1.1.1.1", "", 32, 32, `dst-group "" is not an IP address`},
		{"fe80::1%eth0", "ff3e::1", 128, 128, "must be plain"},
		{"::ffff:1.1.1.1", "224.1.1.1", 32, 32, "must be plain"},
		{"1.1.1.1", "ff3e::1", 32, 32, "different families"},
		{"224.1.1.1", "224.1.1.1", 32, 32, "neither a unicast address"},
		{"0.0.0.1", "224.1.1.1", 32, 32, "neither a unicast address"},
		{"240.0.0.1", "224.1.1.1", 32, 32, "neither a unicast address"},
		{"1.1.1.1", "223.255.255.255", 32, 32, "not a multicast address"},
		{"2001:db8::1", "2001:db8::2", 128, 128, "not a multicast address"},
		{"1.1.1.1", "224.1.1.1", 0, 32, "source-wildcard 0 is not within 1..32"},
		{"1.1.1.1", "224.1.1.1", 33, 32, "source-wildcard 33 is not within 1..32"},
		{"1.1.1.1", "224.1.1.1", 32, 33, "group-wildcard 33 is not within 1..32"},
		{"2001:db8::1", "ff3e::1", 129, 128, "source-wildcard 129 is not within 1..128"},
	} {
		c := bier.Channel{SrcIP: x.source, DstGroup: x.group, SourceWildcard: x.sw, GroupWildcard: x.gw}
		if _, err := c.CheckFlow(); (err == nil) != (x.want == "") || err != nil && !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s %s: %v, want %q", x.source, x.group, err, x.want)
		}
	}
}

func TestFlowsThatOverlap(t *testing.T) {
	channel := func(name, source, group string, sw, gw uint8) bier.Channel {
		return bier.Channel{Name: name, SrcIP: source, DstGroup: group, SourceWildcard: sw, GroupWildcard: gw, IngressNode: "a"}
	}
	others := []bier.Channel{channel("same", "1.1.1.1", "232.0.0.1", 32, 32), channel("any source", "0.0.0.0", "232.0.0.1", 32, 32),
		channel("wider", "1.1.0.0", "232.0.0.0", 16, 24), channel("other group", "1.1.1.1", "232.0.0.2", 32, 32),
		channel("other source", "1.1.1.2", "232.0.0.1", 32, 32), channel("IPv6", "::", "ff3e::1", 128, 128)}
	elsewhere := channel("elsewhere", "1.1.1.1", "232.0.0.1", 32, 32)
	elsewhere.IngressNode = "b"
	mine := channel("mine", "1.1.1.1", "232.0.0.1", 32, 32)
	same, overlap, err := bier.Shares(&mine, slices.Values(append(others, elsewhere, mine)))
	if err != nil || same != "same" || fmt.Sprint(overlap) != "[any source wider]" {
		t.Errorf("%q, %v, %v", same, overlap, err)
	}
}

// What counts in a sub-domain is its own, else the domain's (RFC 8279, upstream's 0).
func TestWhatCounts(t *testing.T) {
	d := &bier.NodeDomain{ID: 1, Global: bier.Global{BSL: 256, BFRID: ref(uint16(7))}}
	for name, x := range map[string]struct {
		s       bier.SubDomain
		id      uint16
		imposed bier.BSL
		takes   string
	}{
		"nothing of its own":    {bier.SubDomain{}, 7, 256, "[256-bit]"},
		"bfr-id 0 = the domain": {bier.SubDomain{BFRID: ref(uint16(0))}, 7, 256, "[256-bit]"},
		"its own":               {bier.SubDomain{BFRID: ref(uint16(9)), BSL: 64}, 9, 64, "[64-bit]"},
		"labels of both families": {bier.SubDomain{AF: bier.AF{IPv4: []bier.Encapsulation{{BSL: 512}, {BSL: 64}},
			IPv6: []bier.Encapsulation{{BSL: 64, Base: 1}}}}, 7, 256, "[64-bit 512-bit]"},
	} {
		if id, b, takes := bier.BFRID(d, &x.s), bier.Imposition(d, &x.s), fmt.Sprint(bier.Disposition(d, &x.s)); id != x.id || b != x.imposed || takes != x.takes {
			t.Errorf("%s: bfr-id %d, makes %d, takes %s", name, id, b, takes)
		}
	}
}

func FuzzFlow(f *testing.F) {
	f.Add("1.1.1.1", "224.1.1.1", uint8(24), uint8(30))
	f.Add("::", "ff3e::1", uint8(128), uint8(128))
	f.Fuzz(func(t *testing.T, src, dst string, sw, gw uint8) {
		c := bier.Channel{SrcIP: src, DstGroup: dst, SourceWildcard: sw, GroupWildcard: gw}
		if x, err := c.CheckFlow(); err == nil && (!x.Group.IsMulticast() || x.Source.IsMulticast() || sw == 0) {
			t.Errorf("%+v is taken", x)
		}
	})
}
