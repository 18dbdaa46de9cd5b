package bier

import (
	"fmt"
	"time"
)

// What proves that packets come to an egress node, from the most to the least that it says.
const (
	ByCounters = "counters" // the ingress and the egress count packets of this channel
	ByPing     = "ping"     // the egress answered the BIER ping of the ingress
	ByTables   = "tables"   // the forwarding tables that routers show lead there
)

// NotProved is in place of these where nothing proves it.
const NotProved = "no"

// Proofs lists what proves, from the most to the least.
var Proofs = []string{ByCounters, ByPing, ByTables}

// proof is what is known of the delivery of a channel to an egress node.
type proof struct {
	*look
	*view
	channel  string // ChannelKey
	ingress  string
	revision uint64
	silent   string // why the channel is silent there, "" if it is not
}

// reach takes in whether packets come to an egress node: what is known of the ways, and what was measured.
func (p *proof) reach(x *RouterState, w *Way) {
	if w.Err != nil {
		x.State, x.Reason = Failed, w.Err.Error()
		return
	}
	if x.State != Applied && x.State != Unverified { // its own reason comes first
		return
	}
	if n := p.bfrIDCollision(x.Node, w.ID); n != "" {
		x.State, x.Reason = Unreachable, n
		return
	}
	out := p.egressState(w)
	if isWorseState(out.state, x.State) {
		x.State, x.Reason = out.state, out.reason
		if !out.since.IsZero() {
			x.Since = out.since
		}
	}
	p.measured(x, out.shown)
}

// measured takes in what counters and pings say. Tables that lead to the egress node were read at a time, zero: they
// were not.
func (p *proof) measured(x *RouterState, tables time.Time) {
	from, counted := p.counted(x.Node)
	ping := p.pinged(x.Node)
	// Packets that were counted may have come before the ping, if it first failed after the counting began.
	believed := ping != nil && ping.lost() && ping.failing().After(from)
	shown := p.shown(x)
	switch {
	case shown != "":
		p.worsen(
			x,
			Unreachable,
			fmt.Sprintf("router %s does not deliver the packets: %s", x.Node, shown),
		)
		return
	case p.silent != "":
		p.worsen(x, Unreachable, p.silent)
		return
	case believed && ping.Received == 0:
		p.worsen(
			x,
			Unreachable,
			fmt.Sprintf("BIER ping of %s: none of %d packets was answered", p.ingress, ping.Sent),
		)
		x.Since = later(x.Since, ping.failing())
		return
	case believed:
		p.worsen(
			x,
			AtRisk,
			fmt.Sprintf(
				"BIER ping of %s: %d of %d packets were answered",
				p.ingress,
				ping.Received,
				ping.Sent,
			),
		)
	}
	switch {
	case !counted.IsZero():
		x.Proved, x.ProvedBy = counted, ByCounters
	case ping != nil && ping.Received > 0:
		x.Proved, x.ProvedBy = ping.At, ByPing
	case !tables.IsZero():
		x.Proved, x.ProvedBy = tables, ByTables
	}
}

// shown takes in what an egress router shows of the delivery of the channel, and returns why it does not deliver, ""
// if it does or that is not known.
func (p *proof) shown(x *RouterState) string {
	c, ok := p.routerRow(x.Node).counts[p.channel]
	if !ok || c.Revision != p.revision {
		return ""
	}
	x.Receivers = c.Receivers
	if c.Shows && len(c.Receivers) == 0 {
		x.ByHand = c.ByHand
	}
	return c.Fault
}

func (p *proof) worsen(x *RouterState, state, reason string) {
	if isWorseState(state, x.State) {
		x.State, x.Reason = state, reason
	}
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// pinged is the last ping of the ingress to an egress node, nil if none was sent since the channel is as it is. One
// that failed says nothing any more when a router on the ways has changed since.
func (p *proof) pinged(node string) *Pinged {
	r := p.routerRow(p.ingress).reading
	if r == nil || !r.fresh(p.now) {
		return nil
	}
	ping := r.ping(p.g.Domain, p.g.SubDomain, node)
	if ping == nil ||
		ping.Revision < p.revision ||
		ping.lost() && ping.At.Before(p.since()) {
		return nil
	}
	return ping
}

// counted returns between which times an egress node counted packets of the channel last, and notes that it counts none
// although the ingress does.
func (p *proof) counted(node string) (from, to time.Time) {
	out, ok := p.routerRow(node).counts[p.channel]
	if !ok || out.Revision != p.revision {
		return from, to
	}
	in, known := p.routerRow(p.ingress).counts[p.channel]
	known = known && in.Revision == p.revision
	if begin, end, ok := out.still(); ok {
		begin = later(begin, p.since())
		if known && begin.Before(end) && in.within(begin, end) > 0 {
			p.silent = fmt.Sprintf("%s has counted packets of the channel between %s and %s, %s none",
				p.ingress, formatReasonTime(begin), formatReasonTime(end), node)
		}
		return from, to
	}
	if known {
		if _, sent := in.rose(); sent.IsZero() { // what it receives does not come from this ingress
			return from, to
		}
	}
	return out.rose()
}

// prove takes in whether the egress node of an index is proved.
func (c *ChannelState) prove(i int, x *RouterState) {
	switch {
	case x.Proved.IsZero() || i > 0 && c.Proved.IsZero():
		c.Proved, c.ProvedBy = time.Time{}, ""
	case i == 0:
		c.Proved, c.ProvedBy = x.Proved, x.ProvedBy
	default:
		if x.Proved.Before(c.Proved) {
			c.Proved = x.Proved
		}
		if lessProof(x.ProvedBy, c.ProvedBy) {
			c.ProvedBy = x.ProvedBy
		}
	}
}

// lessProof reports whether one proof says less than another.
func lessProof(a, b string) bool {
	for _, p := range Proofs {
		if p == b {
			return a != b
		}
		if p == a {
			return false
		}
	}
	return false
}

// DescribeProof says when something was proved and by what.
func DescribeProof(at time.Time, by string) string {
	if at.IsZero() {
		return NotProved
	}
	return at.Format(time.DateTime) + " by " + by
}
