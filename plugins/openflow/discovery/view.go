package discovery

import (
	"cmp"
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"time"

	"ctl.internal/plugins/openflow/ofp13"
	"ctl.internal/sdk/topology"
)

// View returns the topology. It shares nothing that will change.
func (c *Core) View(now time.Time) topology.Topology {
	t := topology.Topology{
		ID:       c.o.TopologyID,
		Nodes:    maps.Clone(c.nodes),
		Links:    make(map[string]topology.Link, len(c.links)),
		Observed: now,
	}
	for from, l := range c.links {
		id := from.String()
		t.Links[id] = topology.Link{
			ID:         id,
			SourceNode: NodeID(from.Datapath),
			SourceTP:   id,
			DestNode:   NodeID(l.to.Datapath),
			DestTP:     l.to.String(),
			Observed:   l.seen,
		}
	}
	return t
}

// renderNode makes the node of a switch again.
func (c *Core) renderNode(s *conn) {
	n := topology.Node{
		ID:       NodeID(s.datapathID()),
		TPs:      make(map[string]topology.TerminationPoint, len(s.ports)),
		Observed: s.heard,
		Attributes: map[string]string{
			"type":        "openflow",
			"datapath-id": fmt.Sprintf("%016x", s.datapathID()),
			"address":     s.remote,
		},
	}
	for key, v := range map[string]string{
		"manufacturer": s.description.Manufacturer,
		"hardware":     s.description.Hardware,
		"software":     s.description.Software,
		"name":         s.description.Datapath,
	} {
		if v != "" && v != "None" {
			n.Attributes[key] = v
		}
	}
	for number, p := range s.ports {
		id := PortID{s.datapathID(), number}.String()
		a := map[string]string{
			"name":  p.Name,
			"mac":   net.HardwareAddr(p.Address[:]).String(),
			"state": portState(p),
		}
		if p.Speed > 0 {
			a["speed-kbps"] = strconv.FormatUint(uint64(p.Speed), 10)
		}
		n.TPs[id] = topology.TerminationPoint{
			ID:         id,
			Attributes: a,
		}
	}
	c.nodes[n.ID] = n
	c.dirty = true
}

func portState(p *port) string {
	if p.Up() {
		return "up"
	}
	return "down"
}

// PortID names a port of any switch.
type PortID struct {
	Datapath uint64
	Number   uint32
}

// NodeID is the name of a switch in the topology: "openflow:1", the datapath id in
// decimal digits.
func NodeID(datapath uint64) string {
	return "openflow:" + strconv.FormatUint(datapath, 10)
}

// String is the name of a port in the topology, "openflow:1:2". It is also the name
// of the link that begins there.
func (p PortID) String() string {
	if p.Number == ofp13.PortLocal {
		return NodeID(p.Datapath) + ":LOCAL"
	}
	return NodeID(p.Datapath) + ":" + strconv.FormatUint(uint64(p.Number), 10)
}

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
		w := Switch{
			Datapath:    s.datapathID(),
			Remote:      s.remote,
			Role:        s.role,
			Ports:       len(s.ports),
			Description: s.description,
			Since:       s.since,
			Problem:     s.problem,
		}
		for _, p := range s.ports {
			if p.Up() {
				w.Up++
			}
		}
		out = append(out, w)
	}
	slices.SortFunc(out, func(a, b Switch) int {
		return cmp.Compare(a.Datapath, b.Datapath)
	})
	return out
}

// Links returns the links, by their source.
func (c *Core) Links() []Link {
	out := make([]Link, 0, len(c.links))
	for _, l := range c.links {
		back := c.links[l.to]
		out = append(
			out,
			Link{
				From:  l.from,
				To:    l.to,
				Both:  back != nil && back.to == l.from,
				Since: l.since,
				Seen:  l.seen,
			},
		)
	}
	slices.SortFunc(out, func(a, b Link) int { return comparePortIDs(a.From, b.From) })
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
			v := Port{
				ID:       PortID{s.datapathID(), n},
				Port:     p.Port,
				Stats:    p.stats,
				Measured: p.measured,
			}
			if l := c.links[v.ID]; l != nil {
				to := l.to
				v.Peer = &to
			}
			out = append(out, v)
		}
	}
	slices.SortFunc(out, func(a, b Port) int { return comparePortIDs(a.ID, b.ID) })
	return out
}

func comparePortIDs(a, b PortID) int {
	return cmp.Or(cmp.Compare(a.Datapath, b.Datapath), cmp.Compare(a.Number, b.Number))
}

// Counters count since the plugin started.
type Counters struct {
	Connections    uint64 // accepted
	Refused        uint64 // ended before the switch was ready
	Dead           uint64 // switches that stopped answering
	Errors         uint64 // ERROR messages received
	PortStatus     uint64 // PORT_STATUS messages received
	PacketIns      uint64 // PACKET_IN messages received
	FramesSent     uint64 // LLDP frames
	FramesReceived uint64 // LLDP frames that proved a link
	Forged         uint64 // LLDP frames whose key was wrong
	Foreign        uint64 // LLDP frames of other systems
	Malformed      uint64 // LLDP frames that do not parse
	Stale          uint64 // own LLDP frames that came too late, or back to their port
	Ambiguous      uint64 // LLDP frames that arrived at a second port
	LinksFound     uint64
	LinksLost      uint64
}

// Counters returns the present values.
func (c *Core) Counters() Counters { return c.count }
