package discovery

import (
	"bytes"
	"testing"
	"time"

	"ctl.internal/plugins/openflow/lldp"
	"ctl.internal/plugins/openflow/ofp13"
)

const ring3 = "1:1>2:2 1:2>3:1 2:1>3:2 2:2>1:1 3:1>1:2 3:2>2:1"

// Links are known at once when the last switch is, without waiting for a turn.
func TestRing(t *testing.T) {
	w := newWorld(t, options())
	w.ring(3)
	w.want(ring3)
	v := w.core.View(w.now)
	l := v.Links["openflow:3:1"]
	if len(v.Nodes) != 3 || l.SourceNode != "openflow:3" || l.SourceTP != "openflow:3:1" || l.DestNode != "openflow:1" || l.DestTP != "openflow:1:2" {
		t.Errorf("%d nodes, link %+v", len(v.Nodes), l)
	}
	if tp := v.Nodes["openflow:2"].TPs["openflow:2:1"]; tp.Attributes["name"] != "s2-1" || tp.Attributes["state"] != "up" {
		t.Errorf("termination point %+v", tp)
	}
	w.wait(time.Minute)
	w.want(ring3)
	if n := w.core.Counters(); n.LinksFound != 6 || n.LinksLost != 0 || n.Stale != 0 {
		t.Errorf("a quiet minute: %+v", n)
	}
}

// A port that goes down takes the links in both directions with it, at once; what
// was under way then does not bring them back. Up again, they are back at once.
func TestPortDown(t *testing.T) {
	w := newWorld(t, options())
	ids := w.ring(3)
	old := w.frames[PortID{1, 1}]
	oldBack := w.frames[PortID{2, 2}]
	w.status(ids[0], 1, ofp13.StateDown)
	cut := "1:2>3:1 2:1>3:2 3:1>1:2 3:2>2:1"
	w.want(cut)
	w.arrive(PortID{2, 2}, old)
	w.arrive(PortID{1, 1}, oldBack)
	w.run()
	w.want(cut)
	w.lose = true
	w.status(ids[0], 1, 0)
	w.arrive(PortID{2, 2}, old) // made before the port went down
	w.run()
	w.want(cut)
	w.lose = false
	w.wait(2 * time.Second) // the second frame comes soon
	w.want("1:1>2:2 " + cut[:16] + "2:2>1:1 " + cut[16:])
	w.message(ids[2], 0, ofp13.PortStatus{Reason: ofp13.PortDeleted, Port: w.conns[ids[2]].ports[0]})
	w.run()
	w.want("1:1>2:2 2:1>3:2 2:2>1:1 3:2>2:1")
}

// What proves no link: frames that were made by others, changed, or are old.
func TestFramesThatProveNothing(t *testing.T) {
	w := newWorld(t, options())
	a, b := newBox(1, 2), newBox(2, 2)
	w.connect(a)
	w.connect(b)
	good := w.frames[PortID{1, 1}]
	changed := bytes.Clone(good)
	changed[len(changed)-40] ^= 1
	other := lldp.Key("other").Frame(lldp.Origin{Datapath: 1, Port: 1, Epoch: 1, Sequence: 1}, lldp.Header{})
	absent := lldp.Key("key").Frame(lldp.Origin{Datapath: 9, Port: 1, Epoch: 1, Sequence: 1}, lldp.Header{})
	ahead := lldp.Key("key").Frame(lldp.Origin{Datapath: 1, Port: 1, Epoch: 1, Sequence: 999}, lldp.Header{})
	for name, k := range map[string]struct {
		to    PortID
		frame []byte
		count func(Counters) uint64
	}{
		"changed on its way":       {PortID{2, 1}, changed, func(c Counters) uint64 { return c.Forged }},
		"made with another key":    {PortID{2, 1}, other, func(c Counters) uint64 { return c.Forged }},
		"back at its own port":     {PortID{1, 1}, good, func(c Counters) uint64 { return c.Stale }},
		"a port that is not there": {PortID{2, 77}, good, func(c Counters) uint64 { return c.Stale }},
		"of an absent switch":      {PortID{2, 1}, absent, func(c Counters) uint64 { return c.Stale }},
		"never sent":               {PortID{2, 1}, ahead, func(c Counters) uint64 { return c.Stale }},
		"not whole":                {PortID{2, 1}, good[:30], func(c Counters) uint64 { return c.Malformed }},
	} {
		t.Run(name, func(t *testing.T) {
			before := k.count(w.core.Counters())
			w.arrive(k.to, k.frame)
			w.run()
			if links := w.links(); links != "" || k.count(w.core.Counters()) != before+1 {
				t.Errorf("links %q, counters %+v", links, w.core.Counters())
			}
		})
	}
	w.wait(time.Minute) // by now the frame is many turns old
	w.arrive(PortID{2, 1}, good)
	w.run()
	w.want("")
}

// A link that no frame confirms any more is removed, although no port went down.
func TestAgeing(t *testing.T) {
	w := newWorld(t, options())
	w.ring(3)
	delete(w.cables, PortID{1, 1})
	w.wait(14 * time.Second)
	w.want(ring3)
	w.wait(10 * time.Second)
	w.want("1:2>3:1 2:1>3:2 2:2>1:1 3:1>1:2 3:2>2:1")
}

// After a hub a frame arrives at two ports: the link stays with the first, until
// that hears nothing any more.
func TestTwoReceivers(t *testing.T) {
	w := newWorld(t, options())
	w.cables[PortID{1, 1}] = PortID{2, 1}
	for i := range uint64(3) {
		w.connect(newBox(i+1, 1))
	}
	w.wait(2 * time.Second)
	w.want("1:1>2:1")
	w.arrive(PortID{3, 1}, w.frames[PortID{1, 1}])
	w.run()
	if w.core.Counters().Ambiguous == 0 {
		t.Error("the second receiver was not noticed")
	}
	w.want("1:1>2:1")
	w.cables[PortID{1, 1}] = PortID{3, 1}
	w.wait(12 * time.Second)
	w.want("1:1>3:1")
}

// Frames are sent no faster than the rate allows, and every port has its turn.
func TestPacing(t *testing.T) {
	o := options()
	o.Rate = 100
	w := newWorld(t, o)
	for i := range uint64(10) {
		w.connect(newBox(i+1, 50))
	}
	w.wait(time.Second)
	if w.sent > 100+10 {
		t.Errorf("%d frames in a second, at a rate of 100", w.sent)
	}
	w.wait(6 * time.Second)
	if len(w.frames) != 500 {
		t.Errorf("%d of 500 ports had their turn", len(w.frames))
	}
}

// What a switch sent is forgotten when its ports come and go all the time.
func TestQueuesStayBounded(t *testing.T) {
	w := newWorld(t, options())
	id := w.connect(newBox(1, 1))
	for range 2000 {
		w.status(id, 1, ofp13.StateDown)
		w.status(id, 1, 0)
		w.wait(100 * time.Millisecond)
	}
	for name, q := range map[string]*queue{"urgent": &w.core.queues.urgent, "soon": &w.core.queues.soon, "periodic": &w.core.queues.periodic} {
		if cap(*q) > 300 {
			t.Errorf("room for %d turns in queue %s", cap(*q), name)
		}
	}
}
