package dialect

import (
	"cmp"
	"fmt"
	"slices"

	"ctl.internal/internal/netconf"
	"ctl.internal/internal/netconf/xmltree"
	"ctl.internal/sdk/bierdriver"
)

// Namespaces of the ping: continuity-check of connectionless OAM (RFC 8533 section 4) with
// the addresses that ietf-bier-rpcs (draft-chen-bier-rpcs-yang) adds to it.
const (
	nsMethods = "urn:ietf:params:xml:ns:yang:ietf-connectionless-oam-methods"
	nsRPCs    = "urn:ietf:params:xml:ns:yang:ietf-bier-rpcs"
)

// Pings reports whether a router has the operation that Ping makes.
func Pings(c netconf.Capabilities) bool {
	_, methods := c.Module("ietf-connectionless-oam-methods")
	_, rpcs := c.Module("ietf-bier-rpcs")
	return methods && rpcs
}

// Ping is the operation that has a router with the configuration c send count packets to
// one other.
func Ping(c *bierdriver.Config, target *bierdriver.Member, count int) (netconf.Operation, error) {
	g := c.GetGlobal()
	i := slices.IndexFunc(g.GetSubDomains(), func(s *bierdriver.SubDomain) bool { return s.SubDomainId == target.SubDomainId })
	if i < 0 {
		return netconf.Operation{}, fmt.Errorf("the router has no sub-domain %d", target.SubDomainId)
	}
	s := g.SubDomains[i]
	to := func(list string) *xmltree.Node {
		return xmltree.New(nsRPCs, list, must(nsRPCs, "bier-bfrid", target.BfrId))
	}
	return netconf.Operation{Element: xmltree.New(nsMethods, "continuity-check",
		xmltree.New(nsMethods, "destination-tp", bits(nsRPCs, "bier-bsl", cmp.Or(s.Bitstringlength, g.Bitstringlength)),
			must(nsRPCs, "bier-subdomainid", target.SubDomainId), must(nsRPCs, "bfir", cmp.Or(s.BfrId, g.BfrId)),
			to("bier-bfers"), to("target-bfers"), word(nsRPCs, "reply-mode", "reply via IPv4/IPv6 UDP packet")),
		must(nsMethods, "count", uint32(count)))}, nil
}

// Pong reads the answer to Ping.
func Pong(answer []*xmltree.Node) (*bierdriver.PingReply, error) {
	n := xmltree.New("", "", answer...).Kid(nsMethods, "session-packet-statistics")
	if n.Down("tx-packet-count") == nil || n.Down("rx-packet-count") == nil {
		return nil, fmt.Errorf("the router's answer to continuity-check does not say how many packets were sent and came back")
	}
	r := &reader{}
	out := &bierdriver.PingReply{Sent: r.number(n, "tx-packet-count", bierdriver.MaxPings), Received: r.number(n, "rx-packet-count", bierdriver.MaxPings)}
	if r.err == nil && out.Received > out.Sent {
		r.err = fmt.Errorf("the router says that %d packets were sent and %d came back", out.Sent, out.Received)
	}
	return out, r.err
}
