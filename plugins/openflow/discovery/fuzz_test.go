package discovery

import (
	"bytes"
	"testing"
	"time"

	"ctl.internal/plugins/openflow/lldp"
	"ctl.internal/plugins/openflow/ofp13"
	"ctl.internal/sdk/topology"
)

// Whatever switches send, in whatever order: nothing panics, nobody else's switch goes,
// and the view holds together: links only between ports of nodes that are there, none
// from a port to itself.
func FuzzReceived(f *testing.F) {
	o := options()
	o.MaxPorts = 8
	hello := ofp13.Append(nil, 0, ofp13.Hello{Versions: 1 << ofp13.Version})
	features := ofp13.Append(nil, xidFeatures, ofp13.FeaturesReply{DatapathID: 9})
	ports := ofp13.Append(nil, xidPorts, ofp13.MultipartReply{Kind: ofp13.KindPorts, Ports: []ofp13.Port{{Number: 1}, {Number: 2}}})
	setup := ofp13.Append(nil, xidSetup, ofp13.BarrierReply{})
	number := uint32(1)
	frame := o.Key.Frame(lldp.Origin{Datapath: 1, Port: 1, Epoch: 1, Sequence: 1}, lldp.Header{})
	in := ofp13.Append(nil, 0, ofp13.PacketIn{Match: ofp13.Match{InPort: &number}, Data: frame})
	status := ofp13.Append(nil, 0, ofp13.PortStatus{Reason: ofp13.PortDeleted, Port: ofp13.Port{Number: 1}})
	f.Add(bytes.Join([][]byte{hello, features, ports, setup, in, status, in}, nil), uint8(3))
	f.Add(bytes.Join([][]byte{hello, features, setup, ports, status}, nil), uint8(0))
	f.Add(bytes.Join([][]byte{hello, ofp13.Append(nil, xidFeatures, ofp13.FeaturesReply{DatapathID: 1})}, nil), uint8(1))
	f.Fuzz(func(t *testing.T, stream []byte, pace uint8) {
		w := newWorld(t, o)
		others := w.ring(3)
		w.last++
		id := w.last
		w.core.Opened(id, "hostile", w.now)
		r := ofp13.NewReader(bytes.NewReader(stream))
		for range 64 {
			h, body, err := r.Next()
			if err != nil {
				break
			}
			m := ofp13.Message(ofp13.Other{T: h.Type, Body: body})
			if h.Version == ofp13.Version || h.Type == ofp13.TypeHello || h.Type == ofp13.TypeError {
				if m, err = ofp13.Decode(h.Type, body); err != nil {
					break
				}
			}
			w.core.Received(id, h, m, w.now)
			w.run()
			w.wait(time.Duration(pace%16) * 10 * time.Millisecond)
			holdsTogether(t, w.core.View(w.now))
		}
		w.core.Closed(id, "the end", w.now)
		holdsTogether(t, w.core.View(w.now))
		for _, other := range others {
			if why, closed := w.closed[other]; closed {
				t.Errorf("connection %d was closed: %s", other, why)
			}
		}
		if v := w.core.View(w.now); len(v.Nodes) != 3 {
			t.Errorf("%d nodes are left of three", len(v.Nodes))
		}
	})
}

func holdsTogether(t *testing.T, v topology.Topology) {
	t.Helper()
	has := func(node, tp string) bool {
		_, ok := v.Nodes[node].TPs[tp]
		return ok
	}
	for id, l := range v.Links {
		if l.SourceTP == l.DestTP || !has(l.SourceNode, l.SourceTP) || !has(l.DestNode, l.DestTP) {
			t.Errorf("link %s from %s to %s", id, l.SourceTP, l.DestTP)
		}
	}
}
