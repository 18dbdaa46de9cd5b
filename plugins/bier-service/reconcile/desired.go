package reconcile

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sync"

	"ctl.internal/internal/bier"
	"ctl.internal/sdk/bierdriver"
)

// Desired is what one router must hold.
type Desired struct {
	Config *bierdriver.Config
	// Channels are the names (bier.ChannelKey) of Config.Channels, in their order.
	Channels []string
	// Problems are parts of the configuration that cannot be had on the router, Lost the channels among them.
	Problems []string
	Lost     []Lost
	// Hash names all that: Desired of equal hashes are the same.
	Hash string

	make    func() // sets the fields above; nil when they are set from the start
	made    sync.Once
	changed bool    // a channel on the router has changed, so it need not be compared with the one before
	entries []*part // Config.Channels in the making
	wire    []byte  // Config.Channels as protobuf has them in a BierConfig
}

// Lost is a channel that cannot be had on a router.
type Lost struct {
	Channel string // bier.ChannelKey
	Reason  string
	problem string // the one of Problems
}

// routerProblems are the Problems that concern the router as a whole.
func (d *Desired) routerProblems() (out []string) {
	for _, p := range d.Problems {
		if !slices.ContainsFunc(d.Lost, func(l Lost) bool { return l.problem == p }) {
			out = append(out, p)
		}
	}
	return out
}

// Made returns d with its fields set. Under many changes most Desired are replaced before a router
// is ready for them, so they are computed when they are needed.
func (d *Desired) Made() *Desired {
	d.made.Do(func() {
		if d.make != nil {
			d.make()
			d.make = nil
		}
	})
	return d
}

// Wire returns Config, with or without its members, for a call. It must not be read: its channels,
// which are encoded once for all routers, are where fields of newer versions are kept.
func (d *Desired) Wire(members bool) *bierdriver.Config {
	c := &bierdriver.Config{Global: d.Config.Global}
	if members {
		c.Members = d.Config.Members
	}
	if len(d.wire) == 0 {
		c.Channels = d.Config.Channels
	}
	c.ProtoReflect().SetUnknown(d.wire)
	return c
}

// addDomain adds a node's part in a domain. A router knows one bier-global only: that
// of the first domain; sub-domains of further ones get their values spelled out.
func (d *Desired) addDomain(nd *bier.NodeDomain) {
	g := d.Config.Global
	first := g == nil
	if first {
		g = &bierdriver.Global{
			EncapsulationType: encapsulationName(nd),
			Bitstringlength:   uint32(nd.Global.BSL),
			BfrId:             uint32(bier.BFRID(nd, nil)),
			Ipv4BfrPrefix:     nd.Global.IPv4Prefix,
			Ipv6BfrPrefix:     nd.Global.IPv6Prefix,
		}
		d.Config.Global = g
	} else {
		d.noteDomainConflicts(g, nd)
	}
	for i := range nd.Global.SubDomains {
		s := &nd.Global.SubDomains[i]
		if slices.ContainsFunc(g.SubDomains, func(o *bierdriver.SubDomain) bool {
			return o.SubDomainId == uint32(s.ID)
		}) {
			d.addProblem(
				"sub-domain %d of domain %d is not on the router: another domain's sub-domain has its number",
				s.ID,
				nd.ID,
			)
			continue
		}
		x := &bierdriver.SubDomain{
			SubDomainId: uint32(s.ID),
			IgpType:     s.IGP,
			Ipv4:        toEncapsulations(s.AF.IPv4),
			Ipv6:        toEncapsulations(s.AF.IPv6),
		}
		if s.MT != nil {
			x.MtId = uint32(*s.MT)
		}
		if s.BFRID != nil {
			x.BfrId = uint32(*s.BFRID)
		}
		x.Bitstringlength = uint32(s.BSL)
		if !first {
			x.BfrId, x.Bitstringlength = uint32(bier.BFRID(nd, s)), uint32(bier.Imposition(nd, s))
		}
		if !bier.MPLS(nd) {
			x.Ipv4, x.Ipv6 = nonMPLSEncapsulations(nd, s, nd.Global.IPv4Prefix), nonMPLSEncapsulations(nd, s, nd.Global.IPv6Prefix)
		}
		g.SubDomains = append(g.SubDomains, x)
	}
}

// noteDomainConflicts notes what of a further domain the router cannot hold.
func (d *Desired) noteDomainConflicts(g *bierdriver.Global, nd *bier.NodeDomain) {
	if g.Ipv4BfrPrefix == "" {
		g.Ipv4BfrPrefix = nd.Global.IPv4Prefix
	}
	if g.Ipv6BfrPrefix == "" {
		g.Ipv6BfrPrefix = nd.Global.IPv6Prefix
	}
	if e := encapsulationName(nd); e != g.EncapsulationType {
		d.addProblem(
			"the encapsulation %s of domain %d is not on the router: it holds %s already",
			e,
			nd.ID,
			g.EncapsulationType,
		)
	}
	p := nd.Global.IPv4Prefix
	if p != "" && p != g.Ipv4BfrPrefix {
		d.addProblem(
			"the BFR-prefix %s of domain %d is not on the router: it holds %s already",
			p,
			nd.ID,
			g.Ipv4BfrPrefix,
		)
	}
	if p := nd.Global.IPv6Prefix; p != "" && p != g.Ipv6BfrPrefix {
		d.addProblem(
			"the BFR-prefix %s of domain %d is not on the router: it holds %s already",
			p,
			nd.ID,
			g.Ipv6BfrPrefix,
		)
	}
}

func (d *Desired) addProblem(format string, args ...any) {
	d.Problems = append(d.Problems, fmt.Sprintf(format, args...))
}

// addLostChannel notes that a channel cannot be had.
func (d *Desired) addLostChannel(p *part, reason string) {
	d.addProblem("channel %s: %s", p.channel, reason)
	d.Lost = append(d.Lost, Lost{p.key, reason, d.Problems[len(d.Problems)-1]})
}

// encapsulationName is the local name of a domain's encapsulation.
func encapsulationName(nd *bier.NodeDomain) string {
	return cmp.Or(bier.LocalName(nd.Global.Encapsulation), bier.LocalName(bier.EncapsulationMPLS))
}

// nonMPLSEncapsulations are the BIFT-ids without MPLS of a family that has a BFR-prefix: for each length that the
// node takes those of all sets, which need no labels.
func nonMPLSEncapsulations(
	nd *bier.NodeDomain,
	s *bier.SubDomain,
	prefix string,
) (out []*bierdriver.Encapsulation) {
	if prefix == "" {
		return nil
	}
	for _, b := range bier.Disposition(nd, s) {
		if base, ok := bier.BIFTID(nd, s, b, 0); ok {
			out = append(
				out,
				&bierdriver.Encapsulation{
					Bitstringlength:        uint32(b),
					BierMplsLabelBase:      base,
					BierMplsLabelRangeSize: uint32(min(b.SI(math.MaxUint16), bier.MaxSI)) + 1,
				},
			)
		}
	}
	return out
}

func toEncapsulations(in []bier.Encapsulation) []*bierdriver.Encapsulation {
	var out []*bierdriver.Encapsulation
	for _, e := range in {
		out = append(
			out,
			&bierdriver.Encapsulation{
				Bitstringlength:        uint32(e.BSL),
				BierMplsLabelBase:      e.Base,
				BierMplsLabelRangeSize: uint32(e.Size),
			},
		)
	}
	return out
}

// addPart adds a channel's part; members are those that were added.
func (d *Desired) addPart(p *part, members map[*bierdriver.Member]bool) {
	if p.problem != "" {
		d.addLostChannel(p, p.problem)
	}
	for _, m := range p.members {
		if !members[m] {
			members[m] = true
			d.Config.Members = append(d.Config.Members, m)
		}
	}
	if p.entry != nil {
		d.entries = append(d.entries, p)
	}
}

// finishEntries puts all that was added in the order of the contract. Of two channels with the
// same key on one router the ingress wins, then the one that was added first. sorted: they were
// added in that order.
func (d *Desired) finishEntries(sorted bool) {
	if !sorted {
		slices.SortStableFunc(d.entries, func(a, b *part) int {
			return bierdriver.CompareChannels(a.entry, b.entry)
		})
	}
	d.Config.Channels = make([]*bierdriver.Channel, 0, len(d.entries))
	size, begin := 0, 0 // begin of the last in wire
	for _, x := range d.entries {
		size += len(x.wire)
	}
	d.wire = make([]byte, 0, size)
	var last *part
	for _, x := range d.entries {
		if last == nil ||
			last.entry.GroupAddress != x.entry.GroupAddress ||
			bierdriver.CompareChannels(last.entry, x.entry) != 0 {
			d.Config.Channels, d.Channels = append(d.Config.Channels, x.entry), append(d.Channels, x.key)
			begin, d.wire = len(d.wire), append(d.wire, x.wire...)
			last = x
			continue
		}
		loser := x
		if x.entry.Role == bierdriver.Ingress && last.entry.Role != bierdriver.Ingress {
			at := len(d.Channels) - 1
			d.Config.Channels[at], d.Channels[at] = x.entry, x.key
			d.wire = append(d.wire[:begin], x.wire...)
			loser, last = last, x
		}
		d.addLostChannel(loser, "another channel of the same flow is on the router")
	}
	d.entries = nil
	slices.SortStableFunc(d.Config.Members, bierdriver.CompareMembers)
	d.Config.Members = slices.CompactFunc(d.Config.Members, func(a, b *bierdriver.Member) bool {
		return bierdriver.CompareMembers(a, b) == 0
	})
	bierdriver.Canonical(&bierdriver.Config{Global: d.Config.Global})
}
