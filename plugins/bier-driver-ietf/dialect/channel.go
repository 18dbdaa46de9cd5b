package dialect

import (
	"ctl.internal/internal/netconf/xmltree"
	"ctl.internal/sdk/bierdriver"
)

func channelSchema() *schema {
	m := nsMulticast
	entry := list(m, "pure-multicast", "vpn-id source-address source-wildcard group-address group-wildcard", leaf(m, "vpn-id", "", nil),
		leaf(m, "source-address", "", address), leaf(m, "source-wildcard", "", nil), leaf(m, "group-address", "", address), leaf(m, "group-wildcard", "", nil),
		shared(m, "multicast-overlay", shared(m, "bier-information", leaf(m, "sub-domain", "", nil), leaf(m, "ingress-node", "0", nil),
			list(m, "egress-nodes", "egress-node", leaf(m, "egress-node", "", nil)))))
	return shared(m, "multicast-information", shared(m, "pure-multicast", entry))
}

func writeChannels(l []*bierdriver.Channel) *xmltree.Node {
	m := nsMulticast
	if len(l) == 0 {
		return nil
	}
	all := xmltree.New(m, "pure-multicast")
	for _, c := range l {
		info := xmltree.New(m, "bier-information", must(m, "sub-domain", c.SubDomain), number(m, "ingress-node", c.IngressBfrId))
		for _, e := range c.EgressBfrIds {
			info.Add(xmltree.New(m, "egress-nodes", must(m, "egress-node", e)))
		}
		all.Add(xmltree.New(m, "pure-multicast", must(m, "vpn-id", c.VpnId), word(m, "source-address", c.SourceAddress),
			must(m, "source-wildcard", c.SourceWildcard), word(m, "group-address", c.GroupAddress), must(m, "group-wildcard", c.GroupWildcard),
			xmltree.New(m, "multicast-overlay", info)))
	}
	return xmltree.New(m, "multicast-information", all)
}

func readChannels(data *xmltree.Node) ([]*bierdriver.Channel, error) {
	r := &reader{}
	var out []*bierdriver.Channel
	for _, k := range data.Kid(nsMulticast, "multicast-information").Down("pure-multicast").All(nsMulticast, "pure-multicast") {
		c := &bierdriver.Channel{VpnId: r.number(k, "vpn-id", 1<<32-1), SourceAddress: k.Value("source-address"), SourceWildcard: r.number(k, "source-wildcard", 255),
			GroupAddress: k.Value("group-address"), GroupWildcard: r.number(k, "group-wildcard", 255)}
		if info := k.Down("multicast-overlay", "bier-information"); info != nil {
			c.SubDomain, c.IngressBfrId = r.number(info, "sub-domain", 65535), r.number(info, "ingress-node", 65535)
			for _, e := range info.All(nsMulticast, "egress-nodes") {
				c.EgressBfrIds = append(c.EgressBfrIds, r.number(e, "egress-node", 65535))
			}
		}
		out = append(out, c)
	}
	return out, r.err
}
