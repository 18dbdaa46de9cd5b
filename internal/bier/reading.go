package bier

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"ctl.internal/sdk/bierdriver"
)

// Prefixes of the records of what routers do, by node-id, and how many readings of a counter are kept.
const (
	ReadingPrefix = "reading/"
	CountPrefix   = "count/"
	MaxSamples    = 4
)

// Reading is what a router showed last of its forwarding, and what came of its pings.
type Reading struct {
	At time.Time `json:"at"` // the router was asked for its tables
	// Until is when the turn ended, Every the time to the end of the next as it is expected of this one.
	Until time.Time     `json:"until,omitzero"`
	Every time.Duration `json:"every,omitempty"`
	// Graphs are the networks, by GraphKey, that Tables were compared with.
	Graphs map[string]string `json:"graphs,omitempty"`
	Tables []Table           `json:"tables,omitempty"` // nil: the router shows none
	Pings  []Pinged          `json:"pings,omitempty"`
	// NoPing is why the router does not ping; empty: it does, or has no target.
	NoPing string `json:"no-ping,omitempty"`
}

// Table is the forwarding table of a set, as a router shows it.
type Table struct {
	SubDomain uint16          `json:"sub-domain-id"`
	BSL       uint16          `json:"bsl"`
	SI        int             `json:"si"`
	Neighbors []TableNeighbor `json:"neighbors,omitempty"`
}

// TableNeighbor is a neighbour in a table.
type TableNeighbor struct {
	Node string `json:"node-id,omitempty"` // empty: which node it is is not known
	Name string `json:"name"`              // as the router names it
	Mask []byte `json:"mask"`
}

// Pinged is what came of the last ping of an egress node in a sub-domain.
type Pinged struct {
	Domain    uint16    `json:"domain-id"`
	SubDomain uint16    `json:"sub-domain-id"`
	Node      string    `json:"node-id"`
	At        time.Time `json:"at"`
	Revision  uint64    `json:"revision"` // of what was configured when it was sent
	Sent      uint32    `json:"sent"`
	Received  uint32    `json:"received"`
	// Failing is when the first of the pings was sent that failed in a row, up to this one; zero: this one did not fail.
	Failing time.Time `json:"failing,omitzero"`
}

func (p *Pinged) lost() bool { return p.Received < p.Sent }

// failing is since when pings fail.
func (p *Pinged) failing() time.Time {
	if p.Failing.IsZero() {
		return p.At
	}
	return p.Failing
}

// Counts are the counters of a router by ChannelKey.
type Counts map[string]ChannelCount

// ChannelCount is what a router showed of a channel.
type ChannelCount struct {
	Revision uint64   `json:"revision"` // of the channel
	Samples  []Sample `json:"samples,omitempty"`
	// Of an egress router: the ports that packets leave by, where it shows them, and why it does not deliver.
	Receivers []string `json:"receivers,omitempty"`
	Shows     bool     `json:"shows,omitempty"` // Receivers are known
	Fault     string   `json:"fault,omitempty"`
	ByHand    []string `json:"by-hand,omitempty"` // lines to type at the router, so that it delivers
}

// Sample is a counter of packets at a time.
type Sample struct {
	At      time.Time `json:"at"`
	Packets uint64    `json:"packets"`
}

// Add appends a sample; a counter that was reset starts over with it.
func (c *ChannelCount) Add(s Sample) {
	n := len(c.Samples)
	if n > 0 && s.Packets < c.Samples[n-1].Packets {
		c.Samples = nil
	}
	// Of a counter that does not move the first and the last sample say it all.
	if n := len(c.Samples); n > 1 &&
		c.Samples[n-2].Packets == s.Packets &&
		c.Samples[n-1].Packets == s.Packets {
		c.Samples = slices.Clone(c.Samples[:n-1])
	}
	c.Samples = append(slices.Clone(c.Samples), s)
	c.Samples = c.Samples[max(0, len(c.Samples)-MaxSamples):]
}

// rose returns between which times packets were counted last, zero if never.
func (c *ChannelCount) rose() (from, to time.Time) {
	for i := len(c.Samples) - 1; i > 0; i-- {
		if c.Samples[i].Packets > c.Samples[i-1].Packets {
			return c.Samples[i-1].At, c.Samples[i].At
		}
	}
	return from, to
}

// still returns between which times no packet was counted, up to the last sample; false: it counts, or too little
// is known.
func (c *ChannelCount) still() (from, to time.Time, ok bool) {
	n := len(c.Samples)
	if n < 2 || c.Samples[n-2].Packets != c.Samples[n-1].Packets {
		return from, to, false
	}
	i := n - 1
	for i > 0 && c.Samples[i-1].Packets == c.Samples[n-1].Packets {
		i--
	}
	return c.Samples[i].At, c.Samples[n-1].At, true
}

// within is how many packets were certainly counted between two times.
func (c *ChannelCount) within(from, to time.Time) uint64 {
	var first, last *Sample
	for i := range c.Samples {
		s := &c.Samples[i]
		if s.At.Before(from) || s.At.After(to) {
			continue
		}
		if first == nil {
			first = s
		}
		last = s
	}
	if first == nil {
		return 0
	}
	return last.Packets - first.Packets
}

// GraphKey names the network of a sub-domain in a Reading.
func GraphKey(topology string, domain, sub uint16) string {
	return fmt.Sprintf("%s %d %d", topology, domain, sub)
}

// Print is the same for two networks in which the forwarding tables are the same.
func (g *Graph) Print() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.print == "" {
		h := sha256.New()
		for i := range g.Members {
			m := &g.Members[i]
			fmt.Fprintln(h, m.Node, m.ID, Disposition(m.domain, m.sub))
		}
		fmt.Fprintln(h, g.others, g.start, g.edges)
		g.print = hex.EncodeToString(h.Sum(nil)[:8])
	}
	return g.print
}

// Shown is the table of a router in the form of a Reading. computed are the tables of the router for the sub-domain;
// nodeOf is the node-id of a neighbour as the router names it, "": not known. Then it is the only computed neighbour
// that has all its bits.
func Shown(
	sub uint16,
	computed []BIFT,
	read *bierdriver.Forwarding,
	nodeOf func(name string) string,
) Table {
	out := Table{
		SubDomain: sub,
		BSL:       uint16(read.Bitstringlength),
		SI:        int(read.Si),
	}
	i := slices.IndexFunc(computed, func(x BIFT) bool {
		return uint16(x.BSL) == out.BSL && x.SI == out.SI
	})
	for _, n := range read.Neighbors {
		x := TableNeighbor{
			Node: nodeOf(n.Name),
			Name: n.Name,
			Mask: n.FBm,
		}
		if x.Node == "" && i >= 0 {
			x.Node = onlyNeighbor(&computed[i], n.FBm)
		}
		out.Neighbors = append(out.Neighbors, x)
	}
	slices.SortFunc(out.Neighbors, func(a, b TableNeighbor) int {
		return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.Name, b.Name))
	})
	return out
}

// onlyNeighbor is the only computed neighbour that has all bits of a mask, "" if there is none or several.
func onlyNeighbor(t *BIFT, mask []byte) (node string) {
	for _, e := range t.Entries {
		for _, n := range e.Neighbors {
			if n.Node == node || !covers(n.FBM.Bits, mask) {
				continue
			}
			if node != "" {
				return ""
			}
			node = n.Node
		}
	}
	return node
}

// covers reports whether a mask has all bits of another, which has some.
func covers(all, mask []byte) bool {
	if len(all) != len(mask) {
		return false
	}
	some := false
	for i := range mask {
		if mask[i]&^all[i] != 0 {
			return false
		}
		some = some || mask[i] != 0
	}
	return some
}

// Next are the neighbours that a table has for a BFR-id; false: which nodes they are is not known.
func (t *Table) Next(id uint16) (nodes []string, ok bool) {
	bit := BSL(t.BSL).Bit(id)
	for _, n := range t.Neighbors {
		if len(n.Mask) == 0 || !hasBit(n.Mask, bit) {
			continue
		}
		if n.Node == "" {
			return nil, false
		}
		if !slices.Contains(nodes, n.Node) {
			nodes = append(nodes, n.Node)
		}
	}
	return nodes, true
}

// fresh reports whether what was read at a time says something of now.
func (r *Reading) fresh(now time.Time) bool {
	end := later(r.At, r.Until)
	return !end.IsZero() && (r.Every <= 0 || now.Sub(end) <= staleAfter*r.Every)
}

// staleAfter is how many intervals after the end of its turn what was read is believed.
const staleAfter = 3

// ping is the last ping of an egress node, nil if there was none.
func (r *Reading) ping(domain, sub uint16, node string) *Pinged {
	for i := range r.Pings {
		p := &r.Pings[i]
		if p.Node == node && p.Domain == domain && p.SubDomain == sub {
			return p
		}
	}
	return nil
}
