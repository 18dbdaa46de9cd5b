package service

import (
	"fmt"
	"strconv"
	"strings"

	"ctl.internal/plugins/switch/discovery"
	"ctl.internal/sdk/topology"
)

// Topology is a network as the capability topology shows it: node-ids and
// termination points are those of module topology.
func Topology(id string, n *discovery.Network) topology.Topology {
	t := topology.Topology{
		ID:       id,
		Nodes:    make(map[string]topology.Node, len(n.Nodes)),
		Links:    make(map[string]topology.Link, len(n.Edges)),
		Observed: n.Built,
	}
	for _, node := range n.Nodes {
		if !node.Stale && !node.Observed.IsZero() && node.Observed.Before(t.Observed) {
			t.Observed = node.Observed // no node that answers was heard earlier
		}
		tps := make(map[string]topology.TerminationPoint, len(node.Ports))
		for _, p := range node.Ports {
			tps[p.ID] = topology.TerminationPoint{
				ID:         p.ID,
				Attributes: portAttributes(p),
			}
		}
		t.Nodes[node.ID] = topology.Node{
			ID:         node.ID,
			TPs:        tps,
			Attributes: nodeAttributes(n, node),
			Observed:   node.Observed,
		}
	}
	for _, e := range n.Edges {
		for _, end := range []discovery.End{e.Tail, e.Head} {
			tps := t.Nodes[end.Node].TPs
			if tps != nil && end.Port != "" && tps[end.Port].ID == "" {
				tps[end.Port] = topology.TerminationPoint{ID: end.Port} // ports of devices outside the list
			}
		}
		l := topology.Link{
			ID:         LinkID(e),
			SourceNode: e.Tail.Node,
			SourceTP:   e.Tail.Port,
			DestNode:   e.Head.Node,
			DestTP:     e.Head.Port,
			Attributes: map[string]string{"confirmed": strconv.FormatBool(e.Confirmed)},
			Observed:   e.Observed,
		}
		if e.Source != "" {
			l.Attributes["source"] = e.Source
		}
		if e.Inferred() {
			l.Attributes["inferred"] = "true"
		}
		if len(e.TailMembers) > 0 {
			l.Attributes["source-members"], l.Attributes["destination-members"] = strings.Join(e.TailMembers, ","), strings.Join(e.HeadMembers, ",")
		}
		if e.NodeLevel() {
			l.Attributes["node-level"] = "true"
		}
		t.Links[l.ID] = l
	}
	return t
}

// LinkID is unique: a port may have several neighbours.
func LinkID(e discovery.Edge) string {
	return e.Tail.Node + ":" + e.Tail.Port + "-" + e.Head.Node + ":" + e.Head.Port
}

// portAttributes are those of ports that are up: there are many ports, and the others are in switch:ports.
func portAttributes(p discovery.Port) map[string]string {
	if p.Oper != 1 {
		return nil
	}
	a := map[string]string{"state": statusText(p.Oper)}
	if p.Name != "" {
		a["name"] = p.Name
	}
	if p.Speed >= 1000 {
		a["speed-kbps"] = strconv.FormatUint(p.Speed/1000, 10)
	}
	return a
}

// maxNotPlaced is how many neighbours that were not placed a node's attribute names.
const maxNotPlaced = 16

func nodeAttributes(net *discovery.Network, n discovery.Node) map[string]string {
	a := map[string]string{"type": string(n.Kind)}
	set := func(k, v string) {
		if v != "" {
			a[k] = v
		}
	}
	set("name", n.Name)
	if n.Kind == discovery.SNMP {
		set("model", n.Model)
		set("address", n.Address)
		set("mac", n.MAC.String())
		lost := net.NotPlaced(n.MAC)
		if more := len(lost) - maxNotPlaced; more > 0 {
			lost = append(lost[:maxNotPlaced], fmt.Sprintf("and %d more", more))
		}
		set("neighbors-not-placed", strings.Join(lost, "; "))
		a["answering"] = strconv.FormatBool(!n.Stale)
		set("partial", strings.Join(n.Partial, ", "))
	}
	return a
}
