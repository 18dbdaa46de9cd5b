//go:build peers

package truthpeers

import (
	"context"
	"fmt"
	"strings"
)

// derived is one step on topologies that are made of what is written to network-topology.
func derived(ctx context.Context, w *worker, key string) { derivedOf(ctx, w, "derived", key) }

// derivedOf is one step on a BIER topology that is derived from network-topology: its register is the topology, the value
// the one node of it. It is written in the tree network-topology, and read only where it is derived.
func derivedOf(ctx context.Context, w *worker, prefix, key string) {
	id := prefix + "-" + key
	source := "/network-topology:network-topology/topology=" + id
	v := fmt.Sprint("n", w.serial.Add(1))
	switch w.rnd.IntN(6) {
	case 0, 1:
		body := fmt.Sprintf(`{"network-topology:topology":[{"topology-id":%q,"node":[{"node-id":%q}]}]}`, id, v)
		w.note(key, "put", v, w.write(ctx, "PUT", roots[w.rnd.IntN(2)]+source, body))
	case 2:
		w.note(key, "take", "", w.write(ctx, "DELETE", roots[0]+source, ""))
	case 3:
		w.note(key, "read", "", func() (string, bool) {
			status, body := w.ask(ctx, "GET", roots[w.rnd.IntN(3)]+"/bier-topology:bier-network-topology/bier-topology="+id, "")
			if status == 404 {
				return "", strings.Contains(body, "no such data")
			}
			return nodesOf(body, "bier-node"), status == 200
		})
	case 4:
		w.note(key, "read", "", func() (string, bool) {
			status, body := w.ask(ctx, "POST", "/restconf/operations/bier-topology-api:query-topology", fmt.Sprintf(`{"input":{"topology-id":%q}}`, id))
			if status == 200 && strings.Contains(body, "no topology") {
				return "", true
			}
			return nodesOf(body, "node-id"), status == 200
		})
	case 5:
		w.readDerived(ctx, prefix)
	}
}

// readDerived reads all topologies with a prefix at one moment.
func (w *worker) readDerived(ctx context.Context, prefix string) {
	begin := w.h.now()
	status, body := w.ask(ctx, "GET", roots[w.rnd.IntN(3)]+"/bier-topology:bier-network-topology", "")
	end := w.h.now()
	if status != 200 {
		return
	}
	all := map[string]string{}
	for _, t := range objects(body, "bier-topology") {
		all[fmt.Sprint(t["topology-id"])] = nodesIn(t["bier-node"])
	}
	for i := range keys {
		key := fmt.Sprint("k", i)
		w.h.add(call{key: key, op: "read", begin: begin, end: end, outcome: all[prefix+"-"+key]})
	}
}

// nodesOf returns the ids of the nodes in a list of an answer, as one word.
func nodesOf(body, list string) string {
	var ids []string
	for _, n := range objects(body, list) {
		ids = append(ids, fmt.Sprint(n["node-id"]))
	}
	return strings.Join(ids, ",")
}

// nodesIn returns the ids of the nodes of a list, as one word.
func nodesIn(list any) string {
	nodes, _ := list.([]any)
	var ids []string
	for _, n := range nodes {
		if node, ok := n.(map[string]any); ok {
			ids = append(ids, fmt.Sprint(node["node-id"]))
		}
	}
	return strings.Join(ids, ",")
}
