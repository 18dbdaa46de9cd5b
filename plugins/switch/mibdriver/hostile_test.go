package mibdriver_test

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"ctl.internal/internal/lab/simswitch"
	"ctl.internal/internal/lab/snmpagent"
	"ctl.internal/internal/lab/snmpwire"
	"ctl.internal/plugins/switch/mib"
	"ctl.internal/plugins/switch/mibdriver"
	"ctl.internal/plugins/switch/snmp"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

// hostile is a simulated switch whose agent does with SETs what a test says.
type hostile struct {
	snmpagent.MIB
	model *simswitch.Switch
	// act does the n-th SET, counted from 1; nil: as the model does.
	act  func(h *hostile, n int, list []snmpwire.VarBind) (snmpwire.Status, int)
	drop atomic.Bool // the answer to the request in hand is lost

	mu      sync.Mutex
	count   int
	waiting []snmpwire.VarBind
}

// Set implements snmpagent.MIB.
func (h *hostile) Set(list []snmpwire.VarBind) (snmpwire.Status, int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.count++
	if h.act == nil {
		return h.MIB.Set(list)
	}
	return h.act(h, h.count, list)
}

// listen serves the agent until the test ends and returns the switch as drivers get it.
func (h *hostile) listen(t testing.TB) *switchdriver.Switch {
	t.Helper()
	return listen(t, h, &h.drop)
}

// listen serves a MIB; drop says that the answer in hand is lost.
func listen(t testing.TB, served snmpagent.MIB, drop *atomic.Bool) *switchdriver.Switch {
	t.Helper()
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	agent := snmpagent.New(snmpagent.Config{MIB: served, ReadCommunity: "public", WriteCommunity: "private"})
	var work sync.WaitGroup
	work.Go(func() {
		buf := make([]byte, 8192)
		for {
			n, from, err := conn.ReadFromUDPAddrPort(buf)
			if err != nil {
				return
			}
			out := agent.Handle(buf[:n])
			if drop.Swap(false) || out == nil {
				continue
			}
			_, _ = conn.WriteToUDPAddrPort(out, from)
		}
	})
	t.Cleanup(func() { conn.Close(); work.Wait() })
	at := conn.LocalAddr().(*net.UDPAddr)
	sw := &switchdriver.Switch{NodeId: 0x020000000001, Address: "127.0.0.1", Snmp: access(uint16(at.Port))}
	sw.Snmp.WriteCommunity = "private"
	return sw
}

// newHostile makes a switch of 8 ports: 1 to 4 are in VLAN 20, 1 to 3 untagged, the others untagged in VLAN 1.
func newHostile(t testing.TB, profile string) *hostile {
	t.Helper()
	p := simswitch.Profiles()[0]
	for _, known := range simswitch.Profiles() {
		if known.Model == profile {
			p = known
		}
	}
	model, err := simswitch.New(simswitch.Config{Name: "h", MAC: simswitch.MAC{2, 0, 0, 0, 0, 1}, Ports: 8, Profile: p, Address: netip.MustParsePrefix("192.0.2.1/24")})
	if err != nil {
		t.Fatal(err)
	}
	h := &hostile{MIB: model.MIB(simswitch.NewSchema(simswitch.LLDP)), model: model}
	h.must(t, []snmpwire.VarBind{integer(mib.QVlanStaticRowStatus, 4, 20)})
	h.must(t, []snmpwire.VarBind{octetsOf(mib.QVlanStaticName, []byte("twenty"), 20), octetsOf(mib.QVlanStaticEgress, h.list(0xf0), 20), octetsOf(mib.QVlanStaticUntagged, h.list(0xe0), 20)})
	h.must(t, []snmpwire.VarBind{octetsOf(mib.QVlanStaticEgress, h.list(0x1f), 1), octetsOf(mib.QVlanStaticUntagged, h.list(0x1f), 1)})
	for port := range uint32(3) {
		h.must(t, []snmpwire.VarBind{gauge(mib.QPvid, 20, port+1)})
	}
	return h
}

// list is a PortList of the length that the model has.
func (h *hostile) list(first byte) []byte {
	out := make([]byte, max(1, h.model.Profile().PortListLen))
	out[0] = first
	return out
}

func (h *hostile) must(t testing.TB, list []snmpwire.VarBind) {
	t.Helper()
	if status, at := h.MIB.Set(list); status != snmpwire.NoError {
		t.Fatalf("%v: status %d at %d", list, status, at)
	}
}

// state is all that a change of VLANs touches.
func (h *hostile) state() string {
	var b strings.Builder
	for _, v := range h.model.VLANs() {
		fmt.Fprintf(&b, "VLAN %d %q %v %v %v; ", v.ID, v.Name, v.Active, v.Egress, v.Untagged)
	}
	for port := 1; port <= 8; port++ {
		fmt.Fprintf(&b, "%d ", h.model.PVID(port))
	}
	return b.String()
}

// reboot loses what is not saved: the switch is as newHostile makes it.
func (h *hostile) reboot() {
	for _, v := range h.model.VLANs() {
		if v.ID != 1 && v.ID != 20 {
			for port := range uint32(8) {
				h.MIB.Set([]snmpwire.VarBind{gauge(mib.QPvid, 1, port+1)})
			}
			h.MIB.Set([]snmpwire.VarBind{integer(mib.QVlanStaticRowStatus, 6, uint32(v.ID))})
		}
	}
	h.MIB.Set([]snmpwire.VarBind{integer(mib.QVlanStaticRowStatus, 4, 20)})
	h.MIB.Set([]snmpwire.VarBind{octetsOf(mib.QVlanStaticName, []byte("twenty"), 20), octetsOf(mib.QVlanStaticEgress, h.list(0xf0), 20), octetsOf(mib.QVlanStaticUntagged, h.list(0xe0), 20)})
	h.MIB.Set([]snmpwire.VarBind{octetsOf(mib.QVlanStaticEgress, h.list(0x1f), 1), octetsOf(mib.QVlanStaticUntagged, h.list(0x1f), 1)})
	for port := range uint32(8) {
		pvid := uint64(1)
		if port < 3 {
			pvid = 20
		}
		h.MIB.Set([]snmpwire.VarBind{gauge(mib.QPvid, pvid, port+1)})
	}
	h.model.Restart()
}

func name(base string, ix ...uint32) snmpwire.OID {
	return snmpwire.MustOID(strings.TrimPrefix(mib.Sub(base, ix...), "."))
}

func integer(base string, n int, ix ...uint32) snmpwire.VarBind {
	return snmpwire.VarBind{Name: name(base, ix...), Value: snmpwire.Int32(n)}
}

func gauge(base string, n uint64, ix ...uint32) snmpwire.VarBind {
	return snmpwire.VarBind{Name: name(base, ix...), Value: snmpwire.Unsigned(snmpwire.Gauge32, n)}
}

func octetsOf(base string, b []byte, ix ...uint32) snmpwire.VarBind {
	return snmpwire.VarBind{Name: name(base, ix...), Value: snmpwire.Octets(b)}
}

// habit is what an agent does with SETs.
type habit struct {
	name string
	act  func(h *hostile, n int, list []snmpwire.VarBind) (snmpwire.Status, int)
}

// without does a SET but for the bindings below some OIDs, of which it says that they were done.
func without(below ...snmpwire.OID) func(*hostile, int, []snmpwire.VarBind) (snmpwire.Status, int) {
	return func(h *hostile, _ int, list []snmpwire.VarBind) (snmpwire.Status, int) {
		rest := slices.DeleteFunc(slices.Clone(list), func(v snmpwire.VarBind) bool {
			return slices.ContainsFunc(below, func(o snmpwire.OID) bool { return v.Name.HasPrefix(o) })
		})
		if len(rest) == 0 {
			return snmpwire.NoError, 0
		}
		return h.MIB.Set(rest)
	}
}

// at has the n-th SET done otherwise.
func at(when int, f func(h *hostile, list []snmpwire.VarBind) (snmpwire.Status, int)) func(*hostile, int, []snmpwire.VarBind) (snmpwire.Status, int) {
	return func(h *hostile, n int, list []snmpwire.VarBind) (snmpwire.Status, int) {
		if n == when {
			return f(h, list)
		}
		return h.MIB.Set(list)
	}
}

// spoilLists stores PortLists otherwise than they were sent.
func spoilLists(below snmpwire.OID, spoil func(byte) byte) func(*hostile, int, []snmpwire.VarBind) (snmpwire.Status, int) {
	return func(h *hostile, _ int, list []snmpwire.VarBind) (snmpwire.Status, int) {
		list = slices.Clone(list)
		for i, v := range list {
			if v.Name.HasPrefix(below) && len(v.Value.Bytes) > 0 {
				b := slices.Clone(v.Value.Bytes)
				b[0] = spoil(b[0])
				list[i].Value = snmpwire.Octets(b)
			}
		}
		return h.MIB.Set(list)
	}
}

// ignorers are agents that answer noError and do not do all of it.
func ignorers() (out []habit) {
	for what, below := range map[string][]snmpwire.OID{
		"all":                   {snmpwire.MustOID("1.3")},
		"the lists of VLAN 1":   {name(mib.QVlanStaticEgress, 1), name(mib.QVlanStaticUntagged, 1)},
		"the egress of VLAN 1":  {name(mib.QVlanStaticEgress, 1)},
		"untagged of VLAN 1":    {name(mib.QVlanStaticUntagged, 1)},
		"the lists of VLAN 20":  {name(mib.QVlanStaticEgress, 20), name(mib.QVlanStaticUntagged, 20)},
		"the lists of VLAN 30":  {name(mib.QVlanStaticEgress, 30), name(mib.QVlanStaticUntagged, 30)},
		"untagged of VLAN 30":   {name(mib.QVlanStaticUntagged, 30)},
		"all untagged lists":    {name(mib.QVlanStaticUntagged)},
		"all egress lists":      {name(mib.QVlanStaticEgress)},
		"PVIDs":                 {name(mib.QPvid)},
		"the PVID of port 5":    {name(mib.QPvid, 5)},
		"the PVID of port 2":    {name(mib.QPvid, 2)},
		"names":                 {name(mib.QVlanStaticName)},
		"the status of VLAN 20": {name(mib.QVlanStaticRowStatus, 20)},
		"the status of VLAN 30": {name(mib.QVlanStaticRowStatus, 30)},
	} {
		out = append(out, habit{"ignores " + what, without(below...)})
	}
	return out
}

// halfway are agents that do part of the n-th SET, lose its answer, reboot, or do things late.
func halfway() (out []habit) {
	for n := 1; n <= 4; n++ {
		add := func(what string, f func(h *hostile, list []snmpwire.VarBind) (snmpwire.Status, int)) {
			out = append(out, habit{fmt.Sprintf("%s at SET %d", what, n), at(n, f)})
		}
		for _, status := range []snmpwire.Status{snmpwire.NoError, snmpwire.GenErr, snmpwire.CommitFailed} {
			add(fmt.Sprintf("does the first binding and answers %v", status), func(h *hostile, list []snmpwire.VarBind) (snmpwire.Status, int) {
				h.MIB.Set(list[:1])
				return status, 0
			})
			add(fmt.Sprintf("does the last binding and answers %v", status), func(h *hostile, list []snmpwire.VarBind) (snmpwire.Status, int) {
				h.MIB.Set(list[len(list)-1:])
				return status, 0
			})
		}
		add("loses the answer", func(h *hostile, list []snmpwire.VarBind) (snmpwire.Status, int) {
			h.drop.Store(true)
			return h.MIB.Set(list)
		})
		add("loses the request", func(h *hostile, _ []snmpwire.VarBind) (snmpwire.Status, int) {
			h.drop.Store(true)
			return snmpwire.GenErr, 0
		})
		add("reboots after the answer", func(h *hostile, list []snmpwire.VarBind) (snmpwire.Status, int) {
			status, place := h.MIB.Set(list)
			h.reboot()
			return status, place
		})
		add("reboots and loses the answer", func(h *hostile, _ []snmpwire.VarBind) (snmpwire.Status, int) {
			h.reboot()
			h.drop.Store(true)
			return snmpwire.NoError, 0
		})
		add("does it after the next", func(h *hostile, list []snmpwire.VarBind) (snmpwire.Status, int) {
			h.waiting = list
			return snmpwire.NoError, 0
		})
		late := out[len(out)-1].act
		out[len(out)-1].act = func(h *hostile, n int, list []snmpwire.VarBind) (snmpwire.Status, int) {
			status, place := late(h, n, list)
			if w := h.waiting; w != nil && n > 1 && !slices.Equal(names(w), names(list)) {
				h.waiting = nil
				h.MIB.Set(w)
			}
			return status, place
		}
		add("refuses", func(*hostile, []snmpwire.VarBind) (snmpwire.Status, int) { return snmpwire.InconsistentValue, 1 })
	}
	return out
}

func names(list []snmpwire.VarBind) (out []string) {
	for _, v := range list {
		out = append(out, v.Name.String())
	}
	return out
}

// others are agents that store lists otherwise, do more than they were asked to, or keep what they made.
func others() []habit {
	model := func(h *hostile, list []snmpwire.VarBind) (snmpwire.Status, int) { return h.MIB.Set(list) }
	destroys := func(list []snmpwire.VarBind) bool {
		return slices.ContainsFunc(list, func(v snmpwire.VarBind) bool {
			return v.Name.HasPrefix(name(mib.QVlanStaticRowStatus)) && v.Value.Int == 6
		})
	}
	after := func(what string, when func([]snmpwire.VarBind) bool, then func(h *hostile)) habit {
		return habit{what, func(h *hostile, _ int, list []snmpwire.VarBind) (snmpwire.Status, int) {
			status, place := model(h, list)
			if when(list) {
				then(h)
			}
			return status, place
		}}
	}
	sets := func(below snmpwire.OID) func([]snmpwire.VarBind) bool {
		return func(list []snmpwire.VarBind) bool {
			return slices.ContainsFunc(list, func(v snmpwire.VarBind) bool { return v.Name.HasPrefix(below) })
		}
	}
	return []habit{
		{"stores lists of VLAN 1 with all ports", spoilLists(name(mib.QVlanStaticEgress, 1), func(byte) byte { return 0xff })},
		{"stores egress lists without port 5", spoilLists(name(mib.QVlanStaticEgress), func(b byte) byte { return b &^ 0x08 })},
		{"stores untagged lists without port 6", spoilLists(name(mib.QVlanStaticUntagged), func(b byte) byte { return b &^ 0x04 })},
		{"refuses all", func(*hostile, int, []snmpwire.VarBind) (snmpwire.Status, int) { return snmpwire.NotWritable, 1 }},
		{"refuses PVIDs and to destroy", func(h *hostile, _ int, list []snmpwire.VarBind) (snmpwire.Status, int) {
			if destroys(list) || sets(name(mib.QPvid))(list) {
				return snmpwire.InconsistentValue, 1
			}
			return model(h, list)
		}},
		{"refuses PVIDs and ignores to destroy", func(h *hostile, _ int, list []snmpwire.VarBind) (snmpwire.Status, int) {
			if sets(name(mib.QPvid))(list) {
				return snmpwire.InconsistentValue, 1
			}
			if destroys(list) {
				return snmpwire.NoError, 0
			}
			return model(h, list)
		}},
		{"loses every second answer", func(h *hostile, n int, list []snmpwire.VarBind) (snmpwire.Status, int) {
			h.drop.Store(n%2 == 1)
			return model(h, list)
		}},
		after("takes all ports out of VLAN 1 when a VLAN goes", destroys, func(h *hostile) {
			h.MIB.Set([]snmpwire.VarBind{octetsOf(mib.QVlanStaticUntagged, h.list(0), 1), octetsOf(mib.QVlanStaticEgress, h.list(0), 1)})
		}),
		after("puts all ports into VLAN 1 at any PVID", sets(name(mib.QPvid)), func(h *hostile) {
			h.MIB.Set([]snmpwire.VarBind{octetsOf(mib.QVlanStaticEgress, h.list(0xff), 1), octetsOf(mib.QVlanStaticUntagged, h.list(0xff), 1)})
		}),
		after("takes port 4 out of VLAN 20 when VLAN 30 gets ports", sets(name(mib.QVlanStaticEgress, 30)), func(h *hostile) {
			h.MIB.Set([]snmpwire.VarBind{octetsOf(mib.QVlanStaticEgress, h.list(0xe0), 20)})
		}),
		after("gives port 7 another PVID when VLAN 30 gets ports", sets(name(mib.QVlanStaticEgress, 30)), func(h *hostile) {
			h.MIB.Set([]snmpwire.VarBind{gauge(mib.QPvid, 20, 7)})
		}),
		after("gives port 8 another PVID when a VLAN goes", destroys, func(h *hostile) {
			h.MIB.Set([]snmpwire.VarBind{gauge(mib.QPvid, 77, 8)})
		}),
		after("gives ports their PVID itself", sets(name(mib.QVlanStaticUntagged, 30)), func(h *hostile) {
			h.MIB.Set([]snmpwire.VarBind{gauge(mib.QPvid, 30, 5)})
		}),
	}
}

// writeCase is a change of VLANs and what is right afterwards.
type writeCase struct {
	name string
	do   func(context.Context, *mibdriver.Driver, *switchdriver.Switch) error
	want string
}

func writeCases() []writeCase {
	vlan := func(v *switchdriver.VLAN, create, ports bool) func(context.Context, *mibdriver.Driver, *switchdriver.Switch) error {
		return func(ctx context.Context, d *mibdriver.Driver, sw *switchdriver.Switch) error {
			_, err := d.WriteVLAN(ctx, sw, v, create, ports)
			return err
		}
	}
	const one, twenty = `VLAN 1 "default" true [4 5 6 7 8] [4 5 6 7 8]; `, `VLAN 20 "twenty" true [1 2 3 4] [1 2 3]; `
	return []writeCase{
		{"makes VLAN 30, untagged 5 and 6, tagged 2", vlan(&switchdriver.VLAN{VlanId: 30, Name: "thirty", EgressPorts: []uint32{2, 5, 6}, UntaggedPorts: []uint32{5, 6}}, true, true),
			`VLAN 1 "default" true [4 7 8] [4 7 8]; ` + twenty + `VLAN 30 "thirty" true [2 5 6] [5 6]; 20 20 20 1 30 30 1 1 `},
		{"makes VLAN 30 without ports", vlan(&switchdriver.VLAN{VlanId: 30, Name: "thirty"}, true, false),
			one + twenty + `VLAN 30 "thirty" true [] []; 20 20 20 1 1 1 1 1 `},
		{"moves the ports of VLAN 20", vlan(&switchdriver.VLAN{VlanId: 20, EgressPorts: []uint32{2, 3, 5, 6}, UntaggedPorts: []uint32{2, 5, 6}}, false, true),
			`VLAN 1 "default" true [1 4 7 8] [1 4 7 8]; VLAN 20 "twenty" true [2 3 5 6] [2 5 6]; 1 20 1 1 20 20 1 1 `},
		{"removes VLAN 20", func(ctx context.Context, d *mibdriver.Driver, sw *switchdriver.Switch) error {
			return d.DeleteVLAN(ctx, sw, 20)
		},
			`VLAN 1 "default" true [1 2 3 4 5 6 7 8] [1 2 3 4 5 6 7 8]; 1 1 1 1 1 1 1 1 `},
	}
}

// No agent, whatever it does with SETs, is called changed when it is not, and none is left half changed without a word.
func TestHostileAgents(t *testing.T) {
	habits := slices.Concat(ignorers(), halfway(), others(), []habit{{name: "as it should"}})
	c := snmp.NewClient(snmp.Options{Timeout: time.Second, Retries: 2})
	t.Cleanup(c.Close)
	d := mibdriver.New(c)
	var g errgroup.Group
	g.SetLimit(64)
	var cases, done, undone, reported atomic.Int64
	for _, profile := range []string{"generic", "Accton_ECS4610-52T", "Dell_PowerConnect-5548"} {
		for _, w := range writeCases() {
			for _, agent := range habits {
				h := newHostile(t, profile)
				h.act = agent.act
				sw := h.listen(t)
				g.Go(func() error {
					before := h.state()
					ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
					defer cancel()
					err := w.do(ctx, d, sw)
					after := h.state()
					cases.Add(1)
					known := err != nil && (strings.Contains(err.Error(), "could not be undone") || strings.Contains(err.Error(), "it is not known how much"))
					switch {
					case err == nil && after != w.want:
						t.Errorf("%s, an agent that %s, %s: SUCCESS, but\n it has %s\nright is %s", profile, agent.name, w.name, after, w.want)
					case err == nil:
						done.Add(1)
					case agent.act == nil:
						t.Errorf("%s, %s: %v", profile, w.name, err)
					case after == before:
						undone.Add(1)
					case !known:
						t.Errorf("%s, an agent that %s, %s: half changed, and not reported: %v\n   it has %s\nit had it %s", profile, agent.name, w.name, err, after, before)
					default:
						reported.Add(1)
					}
					return nil
				})
			}
		}
	}
	_ = g.Wait()
	t.Logf("%d write cases: %d done, %d undone, %d reported", cases.Load(), done.Load(), undone.Load(), reported.Load())
	if cases.Load() < 129 {
		t.Errorf("only %d cases", cases.Load())
	}
}

// A difference is an error that names the switch, the VLAN, the ports, and what was undone.
func TestDifferencesAreNamed(t *testing.T) {
	c := snmp.NewClient(snmp.Options{Timeout: 10 * time.Second})
	t.Cleanup(c.Close)
	d := mibdriver.New(c)
	cases := writeCases()
	for _, x := range []struct {
		act  func(*hostile, int, []snmpwire.VarBind) (snmpwire.Status, int)
		do   writeCase
		want []string
	}{
		{without(name(mib.QVlanStaticEgress, 1), name(mib.QVlanStaticUntagged, 1)), cases[0],
			[]string{"02:00:00:00:00:01", "VLAN 1 with the untagged ports 5, 6", "taken back: making VLAN 30, setting PVID 30 of the ports 5, 6"}},
		{without(name(mib.QPvid)), cases[3], []string{"port 1 with PVID 20", "taken back: setting the ports of VLAN 1"}},
		{without(name(mib.QPvid, 5)), cases[2], []string{"port 5 with PVID 1", "taken back: setting the ports of VLAN 20"}},
		{without(name(mib.QVlanStaticRowStatus, 20)), cases[3], []string{"VLAN 20 still there", "taken back: setting the ports of VLAN 1, setting PVID 1 of the ports 1, 2, 3"}},
		{func(h *hostile, _ int, list []snmpwire.VarBind) (snmpwire.Status, int) {
			if list[0].Name.HasPrefix(name(mib.QVlanStaticRowStatus)) { // destroys nothing
				return snmpwire.InconsistentValue, 1
			}
			if list[0].Name.HasPrefix(name(mib.QPvid)) {
				return snmpwire.GenErr, 1
			}
			return h.MIB.Set(list)
		}, cases[0], []string{"could not be undone: the switch shows VLAN 30", "refused: making VLAN 30"}},
	} {
		h := newHostile(t, "generic")
		h.act = x.act
		before := h.state()
		err := x.do.do(deadline(t), d, h.listen(t))
		if err == nil {
			t.Errorf("%s: SUCCESS", x.do.name)
			continue
		}
		for _, want := range x.want {
			if text := fault.All(err)[0].Text; !strings.Contains(text, want) {
				t.Errorf("%s: %q is not in: %s", x.do.name, want, text)
			}
		}
		if now := h.state(); now != before && !strings.Contains(err.Error(), "could not be undone") {
			t.Errorf("%s: %s\nit was %s", x.do.name, now, before)
		}
	}
}

// What a switch does besides what it was asked for is reported and taken back, unless it is at the members of an aggregate
// that was named.
func TestWhatWasNotAskedFor(t *testing.T) {
	c := snmp.NewClient(snmp.Options{Timeout: 10 * time.Second})
	t.Cleanup(c.Close)
	for _, x := range []struct{ habit, want string }{
		{"takes port 4 out of VLAN 20 when VLAN 30 gets ports", "VLAN 20 without the ports 4, which was not asked for"},
		{"gives port 7 another PVID when VLAN 30 gets ports", "port 7 with PVID 20, which was not asked for"},
	} {
		h := newHostile(t, "generic")
		i := slices.IndexFunc(others(), func(a habit) bool { return a.name == x.habit })
		once := false
		h.act = func(h *hostile, n int, list []snmpwire.VarBind) (snmpwire.Status, int) {
			if once {
				return h.MIB.Set(list)
			}
			once = slices.ContainsFunc(list, func(v snmpwire.VarBind) bool { return v.Name.HasPrefix(name(mib.QVlanStaticEgress, 30)) })
			return others()[i].act(h, n, list)
		}
		before := h.state()
		err := writeCases()[0].do(deadline(t), mibdriver.New(c), h.listen(t))
		if err == nil || !strings.Contains(err.Error(), x.want) || !strings.Contains(err.Error(), "taken back: ") || !strings.Contains(err.Error(), "what the switch did besides") {
			t.Errorf("an agent that %s: %v", x.habit, err)
		}
		if now := h.state(); now != before {
			t.Errorf("an agent that %s: it has %s\nit had %s", x.habit, now, before)
		}
	}
}

// A SET whose answer is lost, and whose repetition is refused because the row is there by then, was done.
func TestLostAnswers(t *testing.T) {
	c := snmp.NewClient(snmp.Options{Timeout: 500 * time.Millisecond, Retries: 4})
	t.Cleanup(c.Close)
	var all errgroup.Group
	for n := 1; n <= 3; n++ {
		for _, w := range writeCases() {
			h := newHostile(t, "generic")
			h.act = at(n, func(h *hostile, list []snmpwire.VarBind) (snmpwire.Status, int) {
				h.drop.Store(true)
				return h.MIB.Set(list)
			})
			sw := h.listen(t)
			all.Go(func() error {
				if err := w.do(deadline(t), mibdriver.New(c), sw); err != nil || h.state() != w.want {
					t.Errorf("%s, the answer to SET %d is lost: %v\nit has %s\nright is %s", w.name, n, err, h.state(), w.want)
				}
				return nil
			})
		}
	}
	_ = all.Wait()
}

// A VLAN that was removed, with something else left undone by the switch, is made again as it was.
func TestRemovedVLANComesBack(t *testing.T) {
	c := snmp.NewClient(snmp.Options{Timeout: 10 * time.Second})
	t.Cleanup(c.Close)
	for _, profile := range []string{"generic", "Accton_ECS4610-52T", "D-Link_DGS-1510-28X"} {
		h := newHostile(t, profile)
		fell := false
		h.act = func(h *hostile, n int, list []snmpwire.VarBind) (snmpwire.Status, int) {
			status, place := h.MIB.Set(list)
			if !fell && slices.Equal(names(list), []string{name(mib.QVlanStaticRowStatus, 20).String()}) {
				fell = true // with the VLAN, the ports go out of VLAN 1 again
				h.MIB.Set([]snmpwire.VarBind{octetsOf(mib.QVlanStaticUntagged, h.list(0x1f), 1), octetsOf(mib.QVlanStaticEgress, h.list(0x1f), 1)})
			}
			return status, place
		}
		before := h.state()
		err := mibdriver.New(c).DeleteVLAN(deadline(t), h.listen(t), 20)
		if err == nil || !fell || h.state() != before {
			t.Errorf("%s: %v\nit has %s\nit had %s", profile, err, h.state(), before)
		}
	}
}
