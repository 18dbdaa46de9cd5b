package bierdriver

import (
	"cmp"
	"slices"
)

// CompareChannels compares two channels by their keys, as cmp.Compare.
func CompareChannels(a, b *Channel) int {
	// Step by step: configurations have thousands, and are compared often.
	if n := cmp.Compare(a.VpnId, b.VpnId); n != 0 {
		return n
	}
	if n := cmp.Compare(a.SourceAddress, b.SourceAddress); n != 0 {
		return n
	}
	if n := cmp.Compare(a.SourceWildcard, b.SourceWildcard); n != 0 {
		return n
	}
	if n := cmp.Compare(a.GroupAddress, b.GroupAddress); n != 0 {
		return n
	}
	return cmp.Compare(a.GroupWildcard, b.GroupWildcard)
}

// CompareMembers compares two members by their keys, as cmp.Compare.
func CompareMembers(a, b *Member) int {
	return cmp.Or(cmp.Compare(a.SubDomainId, b.SubDomainId), cmp.Compare(a.BfrId, b.BfrId))
}

// Canonical puts the lists of a configuration in the order of their keys.
func Canonical(c *Config) {
	slices.SortFunc(c.Channels, CompareChannels)
	for _, x := range c.Channels {
		slices.Sort(x.EgressBfrIds)
	}
	slices.SortFunc(c.Members, CompareMembers)
	if c.Global == nil {
		return
	}
	slices.SortFunc(c.Global.SubDomains, func(a, b *SubDomain) int { return cmp.Compare(a.SubDomainId, b.SubDomainId) })
	for _, s := range c.Global.SubDomains {
		for _, l := range [][]*Encapsulation{s.Ipv4, s.Ipv6} {
			slices.SortFunc(l, func(a, b *Encapsulation) int {
				return cmp.Or(cmp.Compare(a.Bitstringlength, b.Bitstringlength), cmp.Compare(a.BierMplsLabelBase, b.BierMplsLabelBase))
			})
		}
	}
}
