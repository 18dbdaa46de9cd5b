package topomirror

import (
	"encoding/json"
	"maps"
	"slices"

	"ctl.internal/sdk/topology"
)

// An entry of the list of topologies as RFC 7951 has it. Attributes of nodes and ports have
// no leaves in that module and are left out.
type (
	topologyJSON struct {
		ID       string     `json:"topology-id"`
		Provided bool       `json:"server-provided"`
		Node     []nodeJSON `json:"node,omitempty"`
		Link     []linkJSON `json:"link,omitempty"`
	}
	nodeJSON struct {
		ID string   `json:"node-id"`
		TP []tpJSON `json:"termination-point,omitempty"`
	}
	tpJSON struct {
		ID string `json:"tp-id"`
	}
	linkJSON struct {
		ID     string `json:"link-id"`
		Source struct {
			Node string `json:"source-node"`
			TP   string `json:"source-tp,omitempty"`
		} `json:"source"`
		Destination struct {
			Node string `json:"dest-node"`
			TP   string `json:"dest-tp,omitempty"`
		} `json:"destination"`
	}
)

// Topology returns one topology as a JSON object, the entry of the list; nil when
// there is none of that id.
func (v *View) Topology(id string) []byte {
	t, ok := v.Topologies[id]
	if !ok {
		return nil
	}
	raw, _ := json.Marshal(render(t))
	return raw
}

func render(t topology.Topology) topologyJSON {
	out := topologyJSON{ID: t.ID, Provided: true}
	for _, id := range slices.Sorted(maps.Keys(t.Nodes)) {
		n := nodeJSON{ID: id}
		for _, tp := range slices.Sorted(maps.Keys(t.Nodes[id].TPs)) {
			n.TP = append(n.TP, tpJSON{tp})
		}
		out.Node = append(out.Node, n)
	}
	for _, id := range slices.Sorted(maps.Keys(t.Links)) {
		l := linkJSON{ID: id}
		from := t.Links[id]
		l.Source.Node, l.Source.TP = from.SourceNode, from.SourceTP
		l.Destination.Node, l.Destination.TP = from.DestNode, from.DestTP
		out.Link = append(out.Link, l)
	}
	return out
}
