package topology_test

import (
	"context"
	"fmt"

	"ctl.internal/sdk/topology"
)

// A plugin returns a Source in sdk.Plugin.Topology, mostly a Publisher that it feeds with whole views. Who watches
// gets a snapshot, and then what differs from one view to the next.
func Example() {
	view := func(nodes ...string) topology.Topology {
		t := topology.Topology{ID: "acme:1", Nodes: map[string]topology.Node{}}
		for _, id := range nodes {
			t.Nodes[id] = topology.Node{ID: id}
		}
		return t
	}
	var p topology.Publisher
	p.Set(view("a", "b"))

	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	err := p.Watch(ctx, nil, func(c topology.Change) error {
		fmt.Println("snapshot:", c.Snapshot, "new:", len(c.PutNodes), "gone:", c.RemovedNodes)
		if !c.Snapshot {
			cancel()
		}
		return nil
	}, func() { p.Set(view("a", "c")) })
	fmt.Println(err)
	// Output:
	// snapshot: true new: 2 gone: []
	// snapshot: false new: 1 gone: [b]
	// context canceled
}
