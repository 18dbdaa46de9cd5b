package server

import (
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/restconf/tree"
	"ctl.internal/sdk/topology"
)

// What is stored of topologies that sources observe, as package topomirror writes it.
type (
	storedTopology struct {
		Provided bool   `json:"server-provided"`
		Source   string `json:"ctl-topology:source"`
		State    string `json:"ctl-topology:source-state"`
		Observed string `json:"ctl-topology:observed"`
	}
	storedNode struct {
		ID        string `json:"node-id"`
		Name      string `json:"ctl-topology:name"`
		Address   string `json:"ctl-topology:address"`
		MAC       string `json:"ctl-topology:mac"`
		Type      string `json:"ctl-topology:type"`
		Answering *bool  `json:"ctl-topology:answering"`
	}
	storedPort struct {
		ID   string `json:"tp-id"`
		Name string `json:"ctl-topology:name"`
	}
	storedLink struct {
		ID       string `json:"link-id"`
		Inferred bool   `json:"ctl-topology:inferred"`
		Source   struct {
			Node string `json:"source-node"`
			TP   string `json:"source-tp"`
		} `json:"source"`
		Destination struct {
			Node string `json:"dest-node"`
			TP   string `json:"dest-tp"`
		} `json:"destination"`
	}
)

// storedTopologies are the nodes, ports and links of the topologies that the node before has written, as far as a lost
// link is described by them.
func (s *Server) storedTopologies() map[string]topology.Topology {
	out := map[string]topology.Topology{}
	_, err := s.store.Local(func(sn datastore.Snapshot) error {
		for e, err := range sn.Range(
			tree.OperationalNamespace,
			datastore.RangeOptions{Prefix: topologyTree, Shared: true},
		) {
			if err != nil {
				return err
			}
			addStored(out, strings.Split(strings.TrimPrefix(e.Key, topologyTree), "/"), e.Value)
		}
		return nil
	})
	if err != nil {
		s.log.Warn("links that were lost while no controller ran are not found", "error", err)
		return map[string]topology.Topology{}
	}
	return out
}

// addStored adds a document to the topologies; at is its path below the list of topologies.
func addStored(all map[string]topology.Topology, at []string, text []byte) {
	id, err := url.PathUnescape(at[0])
	if err != nil {
		return
	}
	if len(at) == 1 {
		var t storedTopology
		if json.Unmarshal(text, &t) == nil && t.Provided {
			all[id] = topology.Topology{
				ID:    id,
				Nodes: map[string]topology.Node{},
				Links: map[string]topology.Link{},
			}
		}
		return
	}
	t, known := all[id]
	if !known {
		return
	}
	switch kind, key, _ := strings.Cut(at[1], "="); {
	case kind == "node" && len(at) == 2:
		addStoredNode(t, text)
	case kind == "node" && len(at) == 3:
		addStoredPort(t, key, text)
	case kind == "link" && len(at) == 2:
		addStoredLink(t, text)
	}
}

func addStoredNode(t topology.Topology, text []byte) {
	var n storedNode
	if json.Unmarshal(text, &n) != nil || n.ID == "" {
		return
	}
	attributes := map[string]string{
		"name":    n.Name,
		"address": n.Address,
		"mac":     n.MAC,
		"type":    n.Type,
	}
	if n.Answering != nil {
		attributes["answering"] = strconv.FormatBool(*n.Answering)
	}
	t.Nodes[n.ID] = topology.Node{
		ID:         n.ID,
		TPs:        map[string]topology.TerminationPoint{},
		Attributes: attributes,
	}
}

func addStoredPort(t topology.Topology, node string, text []byte) {
	var p storedPort
	id, err := url.PathUnescape(node)
	n, known := t.Nodes[id]
	if err != nil || !known || json.Unmarshal(text, &p) != nil {
		return
	}
	n.TPs[p.ID] = topology.TerminationPoint{
		ID:         p.ID,
		Attributes: map[string]string{"name": p.Name},
	}
}

func addStoredLink(t topology.Topology, text []byte) {
	var l storedLink
	if json.Unmarshal(text, &l) != nil || l.ID == "" {
		return
	}
	link := topology.Link{
		ID:         l.ID,
		SourceNode: l.Source.Node,
		SourceTP:   l.Source.TP,
		DestNode:   l.Destination.Node,
		DestTP:     l.Destination.TP,
		Attributes: map[string]string{},
	}
	if l.Inferred {
		link.Attributes["inferred"] = "true"
	}
	t.Links[l.ID] = link
}

// storedSources are the topologies that are stored, with their sources, whose entries alone are read.
func (s *Server) storedSources() (out []troubleSource) {
	_, err := s.store.Local(func(sn datastore.Snapshot) error {
		after := ""
		for {
			e, ok, err := nextTopology(sn, after)
			if err != nil || !ok {
				return err
			}
			after = e.Key + "/\xff" // past all that is in the topology
			var t storedTopology
			id, err := url.PathUnescape(strings.TrimPrefix(e.Key, topologyTree))
			if err == nil && json.Unmarshal(e.Value, &t) == nil && t.Provided {
				out = append(out, troubleSource{id, t.Source, t.State, t.Observed})
			}
		}
	})
	if err != nil {
		return nil
	}
	return slices.Clip(out)
}

// nextTopology is the first entry of a topology after a key.
func nextTopology(sn datastore.Snapshot, after string) (datastore.Entry, bool, error) {
	for e, err := range sn.Range(
		tree.OperationalNamespace,
		datastore.RangeOptions{Prefix: topologyTree, After: after, Limit: 1, Shared: true},
	) {
		return e, err == nil, err
	}
	return datastore.Entry{}, false, nil
}
