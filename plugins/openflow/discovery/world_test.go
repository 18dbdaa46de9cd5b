package discovery

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"ctl.internal/plugins/openflow/lldp"
	"ctl.internal/plugins/openflow/ofp13"
)

// world is a core with switches that answer as they should, cables between them and
// a clock that the test moves.
type world struct {
	t      *testing.T
	core   *Core
	now    time.Time
	conns  map[ConnID]*box
	cables map[PortID]PortID
	closed map[ConnID]string
	frames map[PortID][]byte // newest frame that left by a port
	sent   int
	last   ConnID
	lose   bool // frames are lost on their way
}

// box is a switch at the end of a connection.
type box struct {
	datapath uint64
	ports    []ofp13.Port
	deaf     bool // answers nothing
	got      []ofp13.Message
	refuse   map[uint32]ofp13.Error // by transaction id
}

func options() Options {
	return Options{TopologyID: "flow:1", Key: lldp.Key("key"), Interval: 5 * time.Second, Expiry: 16 * time.Second, Rate: 5000,
		Echo: 5 * time.Second, Dead: 15 * time.Second, Handshake: 10 * time.Second, Statistics: 30 * time.Second,
		Role: ofp13.RoleEqual, TableMiss: MissDrop, MaxPorts: 64}
}

func newWorld(t *testing.T, o Options) *world {
	w := &world{t: t, core: New(o), now: time.Unix(1_000_000, 0), conns: map[ConnID]*box{}, cables: map[PortID]PortID{},
		closed: map[ConnID]string{}, frames: map[PortID][]byte{}}
	w.core.Act(7, w.now)
	return w
}

func newBox(datapath uint64, ports int) *box {
	b := &box{datapath: datapath, refuse: map[uint32]ofp13.Error{}}
	for n := range uint32(ports) {
		b.ports = append(b.ports, ofp13.Port{Number: n + 1, Name: fmt.Sprintf("s%d-%d", datapath, n+1)})
	}
	return b
}

// connect opens a connection for a switch and carries out what follows.
func (w *world) connect(b *box) ConnID {
	w.last++
	w.conns[w.last] = b
	w.core.Opened(w.last, fmt.Sprintf("switch-%d", b.datapath), w.now)
	w.run()
	return w.last
}

// ring connects n switches, port 1 of each to port 2 of the next.
func (w *world) ring(n int) []ConnID {
	for i := range uint64(n) {
		a, b := PortID{i + 1, 1}, PortID{(i+1)%uint64(n) + 1, 2}
		w.cables[a], w.cables[b] = b, a
	}
	var ids []ConnID
	for i := range n {
		ids = append(ids, w.connect(newBox(uint64(i+1), 2)))
	}
	return ids
}

func (w *world) message(id ConnID, xid uint32, m ofp13.Message) {
	w.core.Received(id, ofp13.Header{Version: ofp13.Version, Type: m.Type(), XID: xid}, m, w.now)
}

func (w *world) run() {
	for {
		actions := w.core.Take()
		if len(actions) == 0 {
			return
		}
		for _, a := range actions {
			b := w.conns[a.Conn]
			if b == nil {
				continue
			}
			if a.Message != nil {
				b.got = append(b.got, a.Message)
				w.answer(a.Conn, b, a)
			}
			if a.Close {
				w.closed[a.Conn] = a.Text
				delete(w.conns, a.Conn)
			}
		}
	}
}

func (w *world) answer(id ConnID, b *box, a Action) {
	if b.deaf {
		return
	}
	if e, ok := b.refuse[a.XID]; ok {
		w.message(id, a.XID, e)
		return
	}
	switch m := a.Message.(type) {
	case ofp13.Hello:
		w.message(id, 0, ofp13.Hello{Versions: 1 << 4})
	case ofp13.FeaturesRequest:
		w.message(id, a.XID, ofp13.FeaturesReply{DatapathID: b.datapath})
	case ofp13.EchoRequest:
		w.message(id, a.XID, ofp13.EchoReply{})
	case ofp13.BarrierRequest:
		w.message(id, a.XID, ofp13.BarrierReply{})
	case ofp13.RoleRequest:
		w.message(id, a.XID, ofp13.RoleReply{Role: max(m.Role, ofp13.RoleEqual), Generation: m.Generation})
	case ofp13.MultipartRequest:
		half := len(b.ports) / 2 // in two parts
		w.message(id, a.XID, ofp13.MultipartReply{Kind: m.Kind, More: true, Ports: b.ports[:half]})
		w.message(id, a.XID, ofp13.MultipartReply{Kind: m.Kind, Ports: b.ports[half:]})
	case ofp13.PacketOut:
		w.sent++
		from := PortID{b.datapath, m.Outputs[0].Port}
		w.frames[from] = m.Data
		if to, ok := w.cables[from]; ok && !w.lose {
			w.arrive(to, m.Data)
		}
	}
}

// arrive is a frame that comes to a port.
func (w *world) arrive(to PortID, data []byte) {
	for id, b := range w.conns {
		if b.datapath == to.Datapath && !b.deaf {
			n := to.Number
			w.message(id, 0, ofp13.PacketIn{Match: ofp13.Match{InPort: &n}, Data: data})
		}
	}
}

// status sends a PORT_STATUS; state has the bits of ofp13.Port.
func (w *world) status(id ConnID, number, state uint32) {
	b := w.conns[id]
	for i := range b.ports {
		if b.ports[i].Number == number {
			b.ports[i].State = state
			w.message(id, 0, ofp13.PortStatus{Reason: ofp13.PortModified, Port: b.ports[i]})
		}
	}
	w.run()
}

// wait moves the clock.
func (w *world) wait(d time.Duration) {
	for end := w.now.Add(d); w.now.Before(end); {
		w.now = w.now.Add(100 * time.Millisecond)
		w.core.Tick(w.now)
		w.run()
	}
}

// links is the topology's links in short, "1:1>2:2 2:2>1:1".
func (w *world) links() string {
	var out []string
	for _, l := range w.core.Links() {
		out = append(out, strings.ReplaceAll(l.From.String()+">"+l.To.String(), "openflow:", ""))
	}
	return strings.Join(out, " ")
}

func (w *world) want(links string) {
	w.t.Helper()
	if got := w.links(); got != links {
		w.t.Errorf("links are\n%s\nwant\n%s", got, links)
	}
}

func (w *world) endsWith(id ConnID, text string) {
	w.t.Helper()
	if why, ok := w.closed[id]; !ok || !strings.Contains(why, text) {
		w.t.Errorf("connection %d: closed %v with %q, want %q", id, ok, why, text)
	}
}
