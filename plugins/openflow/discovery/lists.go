package discovery

import (
	"cmp"
	"slices"
	"time"

	"ctl.internal/plugins/openflow/ofp13"
)

// Switch is a switch as people see it.
type Switch struct {
	Datapath    uint64
	Remote      string
	Role        uint32
	Ports, Up   int
	Description ofp13.Description
	Since       time.Time
	Problem     string // what it refused; empty = all is well
}

// Port is a port as people see it.
type Port struct {
	ID       PortID
	Port     ofp13.Port
	Peer     *PortID // where its link leads
	Stats    ofp13.PortStats
	Measured time.Time // zero: no counters yet
}

// Link is one direction of a cable.
type Link struct {
	From, To    PortID
	Both        bool // the other direction is there, too
	Since, Seen time.Time
}

// Switches returns the switches that are ready, by datapath id.
func (c *Core) Switches() []Switch {
	var out []Switch
	for _, s := range c.switches {
		if s.phase != ready {
			continue
		}
		w := Switch{Datapath: s.datapath(), Remote: s.remote, Role: s.role, Ports: len(s.ports), Description: s.description, Since: s.since, Problem: s.problem}
		for _, p := range s.ports {
			if p.Up() {
				w.Up++
			}
		}
		out = append(out, w)
	}
	slices.SortFunc(out, func(a, b Switch) int { return cmp.Compare(a.Datapath, b.Datapath) })
	return out
}

// Links returns the links, by their source.
func (c *Core) Links() []Link {
	out := make([]Link, 0, len(c.links))
	for _, l := range c.links {
		back := c.links[l.to]
		out = append(out, Link{From: l.from, To: l.to, Both: back != nil && back.to == l.from, Since: l.since, Seen: l.seen})
	}
	slices.SortFunc(out, func(a, b Link) int { return compare(a.From, b.From) })
	return out
}

// Ports returns the ports of all switches that are ready, by switch and number.
func (c *Core) Ports() []Port {
	var out []Port
	for _, s := range c.switches {
		if s.phase != ready {
			continue
		}
		for n, p := range s.ports {
			v := Port{ID: PortID{s.datapath(), n}, Port: p.Port, Stats: p.stats, Measured: p.measured}
			if l := c.links[v.ID]; l != nil {
				to := l.to
				v.Peer = &to
			}
			out = append(out, v)
		}
	}
	slices.SortFunc(out, func(a, b Port) int { return compare(a.ID, b.ID) })
	return out
}

func compare(a, b PortID) int {
	return cmp.Or(cmp.Compare(a.Datapath, b.Datapath), cmp.Compare(a.Number, b.Number))
}
