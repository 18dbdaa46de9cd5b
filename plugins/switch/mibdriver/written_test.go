package mibdriver_test

import (
	"context"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"ctl.internal/internal/lab/snmpwire"
	"ctl.internal/plugins/switch/mib"
	"ctl.internal/plugins/switch/mibdriver"
	"ctl.internal/plugins/switch/snmp"
	"ctl.internal/plugins/switch/writes"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/plugintest"
	"ctl.internal/sdk/state"
	"ctl.internal/sdk/switchdriver"
)

// newWriter keeps records of what a driver does at a switch, as the plugin does.
func newWriter(t *testing.T, d *mibdriver.Driver, sw *switchdriver.Switch) *writes.Writer {
	t.Helper()
	w := writes.New(writes.Options{Source: "node", Log: slog.New(slog.DiscardHandler),
		Find: func(uint64) (*switchdriver.Switch, error) { return sw, nil },
		Perform: func(ctx context.Context, sw *switchdriver.Switch, o *writes.Operation) ([]string, error) {
			_, err := switchdriver.Do(ctx, d, sw, o.Request)
			return nil, err
		},
		Repair: func(ctx context.Context, sw *switchdriver.Switch, r *writes.Record) (writes.Outcome, string, error) {
			return d.Recover(ctx, sw, r.Steps)
		}})
	c := plugintest.NewHost(t).Client(t, &pluginv1.Manifest{Name: "switch", Roles: []string{"role"}})
	ctx, cancel := context.WithCancel(context.Background())
	var work sync.WaitGroup
	t.Cleanup(func() { cancel(); work.Wait() })
	store, err := state.Open(ctx, c, w.Views()...)
	if err != nil {
		t.Fatal(err)
	}
	w.Bind(store)
	work.Go(func() { store.Role(ctx, "role", w.Run) })
	for limit := deadline(t); !w.Holds() && limit.Err() == nil; {
		runtime.Gosched()
	}
	return w
}

func untagged(vid uint32, ports ...uint32) *pluginv1.WriteVlanRequest {
	return &pluginv1.WriteVlanRequest{Vlan: &switchdriver.VLAN{VlanId: vid, EgressPorts: ports, UntaggedPorts: ports}, Create: true, SetPorts: true}
}

// exchanged has base ports 5 and 6 change places while on.
type exchanged struct {
	*hostile
	on atomic.Bool
}

func (x *exchanged) swap(at snmpwire.OID, v snmpwire.Value) snmpwire.Value {
	if x.on.Load() && at.HasPrefix(name(mib.BasePortIfIndex)) && (v.Int == 5 || v.Int == 6) {
		return snmpwire.Int32(int(11 - v.Int))
	}
	return v
}

func (x *exchanged) Get(at snmpwire.OID) snmpwire.Value { return x.swap(at, x.hostile.Get(at)) }

func (x *exchanged) Next(at, dst snmpwire.OID) (snmpwire.OID, snmpwire.Value) {
	found, v := x.hostile.Next(at, dst)
	return found, x.swap(found, v)
}

// A port that was named is the one that is called so when it is written, not the one that had its number before; one
// that changes places during the write is no success.
func TestPortsThatChangePlaces(t *testing.T) {
	c := snmp.NewClient(snmp.Options{Timeout: 10 * time.Second})
	t.Cleanup(c.Close)
	d := mibdriver.New(c)
	// From the SET of number `when` on, counted from 1, the ports have changed places; 0 = by x.on alone.
	start := func(when int) (*exchanged, *writes.Writer, *switchdriver.Switch) {
		x := &exchanged{hostile: newHostile(t, "generic")}
		if when > 0 {
			x.act = func(h *hostile, n int, list []snmpwire.VarBind) (snmpwire.Status, int) {
				if n == when {
					x.on.Store(true)
				}
				return h.MIB.Set(list)
			}
		}
		sw := listen(t, x, &x.drop)
		return x, newWriter(t, d, sw), sw
	}
	named := func(names map[uint32]string, ports ...uint32) writes.Operation {
		return writes.Operation{What: "making VLAN 30", Request: untagged(30, ports...), Ports: names}
	}

	x, w, sw := start(0)
	x.on.Store(true)
	_, err := w.Do(deadline(t), sw, named(map[uint32]string{5: "port5"}, 5))
	if state := x.state(); err != nil || !strings.Contains(state, `VLAN 30 "" true [6] [6]; 20 20 20 1 1 30 1 1`) {
		t.Errorf("port5 is base port 6 now: %v\n%s", err, state)
	}
	x, w, sw = start(0)
	x.on.Store(true)
	_, err = w.Do(deadline(t), sw, named(map[uint32]string{5: "port5", 6: "PORT6"}, 5, 6, 7))
	if state := x.state(); err != nil || !strings.Contains(state, `VLAN 30 "" true [5 6 7] [5 6 7]`) {
		t.Errorf("both are meant: %v\n%s", err, state)
	}
	before := newHostile(t, "generic").state()
	x, w, sw = start(0)
	_, err = w.Do(deadline(t), sw, named(map[uint32]string{5: "gone5"}, 5))
	kind(t, err, fault.InUse)
	if x.state() != before || x.count != 0 || err == nil || !strings.Contains(err.Error(), "port gone5 was number 5, which is port5") {
		t.Errorf("a port that is not called so any more: %v, %d SETs", err, x.count)
	}
	for when := 1; when <= 3; when++ {
		x, w, sw = start(when)
		_, err = w.Do(deadline(t), sw, named(map[uint32]string{5: "port5"}, 5))
		if err == nil || !strings.Contains(err.Error(), "port 5 as port6 (ifIndex 6), which was port5 (ifIndex 5) when the change began") || x.state() != before {
			t.Errorf("they change places at SET %d: %v\n%s", when, err, x.state())
		}
	}
}

// What is left half done is in the records, with what the switch shows, and stays there when it cannot be repaired.
func TestHalfChangesAreRecorded(t *testing.T) {
	c := snmp.NewClient(snmp.Options{Timeout: 10 * time.Second})
	t.Cleanup(c.Close)
	d := mibdriver.New(c)
	h := newHostile(t, "generic")
	h.act = func(h *hostile, _ int, list []snmpwire.VarBind) (snmpwire.Status, int) {
		if list[0].Name.HasPrefix(name(mib.QPvid)) || list[0].Name.HasPrefix(name(mib.QVlanStaticRowStatus)) {
			return snmpwire.InconsistentValue, 1 // no PVID is set, and no VLAN is removed
		}
		return h.MIB.Set(list)
	}
	sw := h.listen(t)
	w := newWriter(t, d, sw)
	_, err := w.Do(deadline(t), sw, writes.Operation{What: "making VLAN 30", Request: untagged(30, 5)})
	if err == nil || !strings.Contains(err.Error(), "could not be undone: the switch shows VLAN 30") {
		t.Errorf("reported: %v", err)
	}
	records := w.List()
	if len(records) != 1 || records[0].Outcome == writes.Undone || !strings.Contains(records[0].Text, "VLAN 30") {
		t.Errorf("recorded: %+v", records)
	}
	// The next write of the switch repairs first, and so does the end of the pause.
	_, _ = w.Do(deadline(t), sw, writes.Operation{What: "making VLAN 40", Request: &pluginv1.WriteVlanRequest{Vlan: &switchdriver.VLAN{VlanId: 40}, Create: true}})
	records = w.List()
	if len(records) != 1 || records[0].Outcome != writes.Left || !strings.Contains(records[0].Text, "the switch still shows VLAN 30") || strings.Contains(records[0].Text, "somebody else") {
		t.Errorf("after the repair: %+v", records)
	}
}
