package topomirror

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"ctl.internal/sdk/topology"
)

// An entry of the list of topologies as RFC 7951 has it. Attributes are leaves of module ctl-topology.
type (
	topologyJSON struct {
		ID       string       `json:"topology-id"`
		Provided bool         `json:"server-provided"`
		Source   string       `json:"ctl-topology:source,omitempty"`
		State    string       `json:"ctl-topology:source-state,omitempty"`
		Observed string       `json:"ctl-topology:observed,omitempty"`
		Node     []attributes `json:"node,omitempty"`
		Link     []attributes `json:"link,omitempty"`
	}
	attributes map[string]any
)

// The attributes that have leaves, by what the leaves are.
const (
	text = iota + 1
	boolean
	list // leaf-list; the attribute has its values separated by commas
)

var (
	ofNodes = map[string]int{
		"name":                 text,
		"type":                 text,
		"model":                text,
		"address":              text,
		"mac":                  text,
		"answering":            boolean,
		"manufacturer":         text,
		"hardware":             text,
		"software":             text,
		"datapath-id":          text,
		"partial":              text,
		"neighbors-not-placed": text,
	}
	ofPorts = map[string]int{
		"name":       text,
		"state":      text,
		"speed-kbps": text,
		"mac":        text,
	}
	ofLinks = map[string]int{
		"confirmed":           boolean,
		"known-from":          text,
		"inferred":            boolean,
		"node-level":          boolean,
		"source-members":      list,
		"destination-members": list,
	}
)

// withGiven adds the attributes that a source gives to an entry.
func (a attributes) withGiven(leaves map[string]int, given map[string]string) attributes {
	for name, value := range given {
		if name == "source" {
			name = "known-from" // a link's source is where it begins
		}
		switch leaf := "ctl-topology:" + name; leaves[name] {
		case boolean:
			a[leaf] = value == "true"
		case list:
			a[leaf] = strings.Split(value, ",")
		case text:
			if name != "state" || value == "up" || value == "down" {
				a[leaf] = value
			}
		}
	}
	return a
}

// Seen says of a topology who observed it and when.
type Seen struct {
	Source   string    // plugin
	State    string    // observing, silent or stopped
	Observed time.Time // zero if it is not known
}

// Topology returns one topology as a JSON object, the entry of the list, with what is known
// of its source; nil when the id does not exist.
func (v *View) Topology(id string, seen Seen) []byte {
	t, ok := v.Topologies[id]
	if !ok {
		return nil
	}
	out := renderTopology(t)
	out.Source, out.State, out.Observed = seen.Source, seen.State, Instant(seen.Observed)
	raw, _ := json.Marshal(out)
	return raw
}

// Instant writes a time as module ctl-topology has it, "" for the zero time.
func Instant(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

func renderTopology(t topology.Topology) topologyJSON {
	out := topologyJSON{ID: t.ID, Provided: true}
	for _, id := range slices.Sorted(maps.Keys(t.Nodes)) {
		n := attributes{"node-id": id}.withGiven(ofNodes, t.Nodes[id].Attributes)
		at := Instant(t.Nodes[id].Observed)
		if at != "" && t.Nodes[id].Attributes["answering"] == "false" {
			n["ctl-topology:observed"] = at
		}
		var tps []attributes
		for _, tp := range slices.Sorted(maps.Keys(t.Nodes[id].TPs)) {
			tps = append(
				tps,
				attributes{"tp-id": tp}.withGiven(ofPorts, t.Nodes[id].TPs[tp].Attributes),
			)
		}
		if tps != nil {
			n["termination-point"] = tps
		}
		out.Node = append(out.Node, n)
	}
	for _, id := range slices.Sorted(maps.Keys(t.Links)) {
		l := t.Links[id]
		source := attributes{"source-node": l.SourceNode}
		dest := attributes{"dest-node": l.DestNode}
		if l.SourceTP != "" {
			source["source-tp"] = l.SourceTP
		}
		if l.DestTP != "" {
			dest["dest-tp"] = l.DestTP
		}
		out.Link = append(
			out.Link,
			attributes{
				"link-id":     id,
				"source":      source,
				"destination": dest,
			}.withGiven(ofLinks, l.Attributes),
		)
	}
	return out
}
