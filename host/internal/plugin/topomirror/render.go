package topomirror

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"ctl.internal/sdk/topology"
)

// An entry of the list of topologies as RFC 7951 has it. Attributes have leaves in module ctl-topology; those that
// have none there are left out.
type (
	topologyJSON struct {
		ID       string     `json:"topology-id"`
		Provided bool       `json:"server-provided"`
		Node     []nodeJSON `json:"node,omitempty"`
		Link     []linkJSON `json:"link,omitempty"`
	}
	nodeJSON struct {
		ID        string          `json:"node-id"`
		Type      string          `json:"ctl-topology:type,omitempty"`
		Name      string          `json:"ctl-topology:name,omitempty"`
		Address   string          `json:"ctl-topology:address,omitempty"`
		Model     string          `json:"ctl-topology:model,omitempty"`
		Answering json.RawMessage `json:"ctl-topology:answering,omitempty"`
		Partial   string          `json:"ctl-topology:partial,omitempty"`
		TP        []tpJSON        `json:"termination-point,omitempty"`
	}
	tpJSON struct {
		ID    string `json:"tp-id"`
		Name  string `json:"ctl-topology:name,omitempty"`
		State string `json:"ctl-topology:state,omitempty"`
		Speed uint64 `json:"ctl-topology:speed-kbps,omitempty"`
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
		Confirmed json.RawMessage `json:"ctl-topology:confirmed,omitempty"`
		Kind      string          `json:"ctl-topology:reported-by,omitempty"`
		Inferred  json.RawMessage `json:"ctl-topology:inferred,omitempty"`
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

// truth is an attribute as a boolean; nil where it is none.
func truth(text string) json.RawMessage {
	if text != "true" && text != "false" {
		return nil
	}
	return json.RawMessage(text)
}

func render(t topology.Topology) topologyJSON {
	out := topologyJSON{ID: t.ID, Provided: true}
	for _, id := range slices.Sorted(maps.Keys(t.Nodes)) {
		a := t.Nodes[id].Attributes
		n := nodeJSON{ID: id, Type: a["type"], Name: a["name"], Address: a["address"], Model: a["model"], Answering: truth(a["answering"]), Partial: a["partial"]}
		for _, tp := range slices.Sorted(maps.Keys(t.Nodes[id].TPs)) {
			a := t.Nodes[id].TPs[tp].Attributes
			speed, _ := strconv.ParseUint(a["speed-kbps"], 10, 64) // 0: not known
			n.TP = append(n.TP, tpJSON{tp, a["name"], a["state"], speed})
		}
		out.Node = append(out.Node, n)
	}
	for _, id := range slices.Sorted(maps.Keys(t.Links)) {
		l := linkJSON{ID: id}
		from := t.Links[id]
		l.Confirmed, l.Kind, l.Inferred = truth(from.Attributes["confirmed"]), from.Attributes["source"], truth(from.Attributes["inferred"])
		l.Source.Node, l.Source.TP = from.SourceNode, from.SourceTP
		l.Destination.Node, l.Destination.TP = from.DestNode, from.DestTP
		out.Link = append(out.Link, l)
	}
	return out
}
