package discovery

import (
	"testing"

	"ctl.internal/plugins/openflow/ofp13"
	"ctl.internal/sdk/topology"
)

// BenchmarkPortDown is what a cut cable costs from PORT_STATUS to the change that
// watchers get, in a ring of 1,000 switches.
func BenchmarkPortDown(b *testing.B) {
	w := newWorld(&testing.T{}, options())
	ids := w.ring(1000)
	before := w.core.View(w.now)
	for i := range b.N {
		id := ids[i%len(ids)]
		port := w.conns[id].ports[0]
		for _, state := range []uint32{ofp13.StateDown, 0} {
			port.State = state
			w.message(id, 0, ofp13.PortStatus{Reason: ofp13.PortModified, Port: port})
			w.run()
			after := w.core.View(w.now)
			if c, _ := topology.Diff(before, after); len(c.PutNodes) != 1 {
				b.Fatalf("%d nodes changed", len(c.PutNodes))
			}
			before = after
		}
	}
}
