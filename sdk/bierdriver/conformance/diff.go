package conformance

import (
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"

	"ctl.internal/sdk/bierdriver"
)

// channelKey is the key of an entry of pure-multicast.
type channelKey struct {
	vpn                           uint32
	source, group                 string
	sourceWildcard, groupWildcard uint32
}

func keyOf(c *bierdriver.Channel) channelKey {
	return channelKey{c.VpnId, c.SourceAddress, c.GroupAddress, c.SourceWildcard, c.GroupWildcard}
}

// Edit is one difference between two configurations. Exactly one of the members
// Global, SubDomain, Channel names what is written; with Delete, what goes.
type Edit struct {
	Delete bool
	// The leaves of bier-global, without sub-domains.
	Global *bierdriver.Global
	// A whole sub-domain, which replaces the one there.
	SubDomain *bierdriver.SubDomain
	// A whole entry, which replaces the one there.
	Channel *bierdriver.Channel
}

// String is one line for people.
func (e Edit) String() string {
	verb := "set"
	if e.Delete {
		verb = "delete"
	}
	switch {
	case e.SubDomain != nil:
		return fmt.Sprintf("%s sub-domain %d", verb, e.SubDomain.SubDomainId)
	case e.Channel != nil:
		c := e.Channel
		return fmt.Sprintf("%s channel %s/%d %s/%d", verb, c.SourceAddress, c.SourceWildcard, c.GroupAddress, c.GroupWildcard)
	}
	return verb + " bier-global"
}

// Diff returns the edits that lead from one configuration to another: deletions of
// channels first, then bier-global and its sub-domains, then channels. Both must be
// Canonical. Deleting bier-global deletes its sub-domains.
func Diff(from, to *bierdriver.Config) []Edit {
	var del, set []Edit
	have := map[channelKey]*bierdriver.Channel{}
	for _, c := range from.GetChannels() {
		have[keyOf(c)] = c
	}
	for _, c := range to.GetChannels() {
		old := have[keyOf(c)]
		delete(have, keyOf(c))
		if old == nil || !sameChannel(old, c) {
			set = append(set, Edit{Channel: c})
		}
	}
	for _, c := range from.GetChannels() {
		if have[keyOf(c)] != nil {
			del = append(del, Edit{Delete: true, Channel: c})
		}
	}
	return slices.Concat(del, diffGlobal(from.GetGlobal(), to.GetGlobal()), set)
}

// Equal reports whether two configurations are the same; both must be Canonical.
func Equal(a, b *bierdriver.Config) bool { return len(Diff(a, b)) == 0 }

func sameChannel(a, b *bierdriver.Channel) bool {
	return a.SubDomain == b.SubDomain && a.IngressBfrId == b.IngressBfrId && slices.Equal(a.EgressBfrIds, b.EgressBfrIds)
}

func diffGlobal(from, to *bierdriver.Global) []Edit {
	switch {
	case from == nil && to == nil:
		return nil
	case to == nil:
		return []Edit{{Delete: true, Global: from}}
	}
	var out []Edit
	if from == nil || !proto.Equal(leaves(from), leaves(to)) {
		out = append(out, Edit{Global: leaves(to)})
	}
	have := map[uint32]*bierdriver.SubDomain{}
	for _, s := range from.GetSubDomains() {
		have[s.SubDomainId] = s
	}
	for _, s := range to.SubDomains {
		delete(have, s.SubDomainId)
	}
	for _, s := range from.GetSubDomains() {
		if have[s.SubDomainId] != nil {
			out = append(out, Edit{Delete: true, SubDomain: s})
		}
	}
	for _, s := range from.GetSubDomains() {
		have[s.SubDomainId] = s
	}
	for _, s := range to.SubDomains {
		if old := have[s.SubDomainId]; old == nil || !proto.Equal(old, s) {
			out = append(out, Edit{SubDomain: s})
		}
	}
	return out
}

func leaves(g *bierdriver.Global) *bierdriver.Global {
	return &bierdriver.Global{EncapsulationType: g.EncapsulationType, Bitstringlength: g.Bitstringlength, BfrId: g.BfrId,
		Ipv4BfrPrefix: g.Ipv4BfrPrefix, Ipv6BfrPrefix: g.Ipv6BfrPrefix}
}

// Patch applies edits, as a router does.
func Patch(c *bierdriver.Config, edits []Edit) *bierdriver.Config {
	out := proto.CloneOf(c)
	for _, e := range edits {
		patch(out, e)
	}
	bierdriver.Canonical(out)
	return out
}

func patch(c *bierdriver.Config, e Edit) {
	switch {
	case e.Channel != nil:
		c.Channels = slices.DeleteFunc(c.Channels, func(o *bierdriver.Channel) bool { return keyOf(o) == keyOf(e.Channel) })
		if !e.Delete {
			c.Channels = append(c.Channels, proto.CloneOf(e.Channel))
		}
	case e.SubDomain != nil:
		if c.Global == nil {
			c.Global = &bierdriver.Global{}
		}
		c.Global.SubDomains = slices.DeleteFunc(c.Global.SubDomains, func(o *bierdriver.SubDomain) bool { return o.SubDomainId == e.SubDomain.SubDomainId })
		if !e.Delete {
			c.Global.SubDomains = append(c.Global.SubDomains, proto.CloneOf(e.SubDomain))
		}
	case e.Delete:
		c.Global = nil
	default:
		subs := c.GetGlobal().GetSubDomains()
		c.Global = proto.CloneOf(e.Global)
		c.Global.SubDomains = subs
	}
}
