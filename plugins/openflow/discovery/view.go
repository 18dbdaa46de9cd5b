package discovery

import (
	"fmt"
	"maps"
	"net"
	"strconv"
	"time"

	"ctl.internal/sdk/topology"
)

// View returns the topology. It shares nothing that will change.
func (c *Core) View(now time.Time) topology.Topology {
	t := topology.Topology{ID: c.o.TopologyID, Nodes: maps.Clone(c.nodes),
		Links: make(map[string]topology.Link, len(c.links)), Observed: now}
	for from, l := range c.links {
		id := from.String()
		t.Links[id] = topology.Link{ID: id, SourceNode: NodeID(from.Datapath), SourceTP: id,
			DestNode: NodeID(l.to.Datapath), DestTP: l.to.String(), Observed: l.seen}
	}
	return t
}

// render makes the node of a switch again.
func (c *Core) render(s *conn) {
	n := topology.Node{ID: NodeID(s.datapath()), TPs: make(map[string]topology.TerminationPoint, len(s.ports)), Observed: s.heard,
		Attributes: map[string]string{"type": "openflow", "datapath-id": fmt.Sprintf("%016x", s.datapath()), "address": s.remote}}
	for key, v := range map[string]string{"manufacturer": s.description.Manufacturer, "hardware": s.description.Hardware,
		"software": s.description.Software, "name": s.description.Datapath} {
		if v != "" && v != "None" {
			n.Attributes[key] = v
		}
	}
	for number, p := range s.ports {
		id := PortID{s.datapath(), number}.String()
		a := map[string]string{"name": p.Name, "mac": net.HardwareAddr(p.Address[:]).String(), "state": state(p)}
		if p.Speed > 0 {
			a["speed-kbps"] = strconv.FormatUint(uint64(p.Speed), 10)
		}
		n.TPs[id] = topology.TerminationPoint{ID: id, Attributes: a}
	}
	c.nodes[n.ID] = n
	c.dirty = true
}

func state(p *port) string {
	if p.Up() {
		return "up"
	}
	return "down"
}
