package service

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"ctl.internal/internal/lab/network"
	"ctl.internal/internal/lab/simswitch"
	"ctl.internal/internal/lab/snmpagent"
	"ctl.internal/internal/lab/snmpwire"
	"ctl.internal/plugins/switch/mib"
	"ctl.internal/plugins/switch/snmp"
	"ctl.internal/plugins/switch/writes"
	"ctl.internal/sdk/fault"
)

// mustCall is call of an RPC that succeeds.
func (b *bench) mustCall(t *testing.T, module, rpc, input string) string {
	t.Helper()
	out, err := b.call(t, module, rpc, input)
	if err != nil {
		t.Fatalf("%s:%s %s: %v", module, rpc, input, err)
	}
	return out
}

// shows is all that the VLANs and ports of sw1 show.
func (b *bench) shows(t *testing.T) string {
	t.Helper()
	all := b.mustCall(t, "switch", "vlans", `{"switch":"sw1"}`) +
		b.mustCall(t, "switch", "ports", `{"switch":"sw1"}`) +
		b.mustCall(t, "switch-port", "get-ports", `{"switch":"sw1"}`)
	return regexp.MustCompile(`"observed":"[^"]*"`).ReplaceAllString(all, "")
}

// lastChange is the newest change that can be undone.
func (b *bench) lastChange(t *testing.T) writes.Record {
	t.Helper()
	all := b.writer.Done("")
	if len(all) == 0 {
		t.Fatal("no change can be undone")
	}
	return all[0]
}

// undoChange takes back a change and returns the output.
func (b *bench) undoChange(t *testing.T, id string, force bool) (undoOut, error) {
	t.Helper()
	in, _ := json.Marshal(undoIn{id, force})
	text, err := b.call(t, "switch-undo", "undo", string(in))
	if err != nil {
		return undoOut{}, err
	}
	var out undoOut
	if err := json.Unmarshal([]byte(text), &out); err != nil || (out.Operation == "") != slices.Contains(out.Left, writes.NothingShows) {
		t.Fatalf("%v: %s", err, text)
	}
	return out, nil
}

// Each change is taken back exactly, its undo as well.
func TestUndo(t *testing.T) {
	for _, model := range []string{"", "D-Link_DGS-3120", "Accton_ECS4610-52T"} {
		b := newLab(t, network.Options{Topology: "chain:2", Ports: 6, Hosts: 1, Models: []string{model}})
		name := func(n string) string {
			if model == "" {
				return "port" + n
			}
			return n
		}
		for _, c := range []struct{ module, rpc, input string }{
			{"switch", "vlan-add", `{"switch":"sw1","vlan-id":20,"vlan-name":"lab","untagged":["4"],"tagged":["1"]}`},
			{"switch", "vlan-add", `{"switch":"sw1","vlan-id":10,"vlan-name":"office","untagged":["3","4"],"tagged":["2"]}`},
			{"switch", "vlan-set", `{"switch":"sw1","vlan-id":10,"untagged":["5"],"tagged":["3"]}`},
			{"switch", "vlan-del", `{"switch":"sw1","vlan-id":10}`},
			{"switch-port", "set-port", `{"switch":"sw1","port":"3","state":"down","description":"a bench"}`},
		} {
			for _, n := range []string{"1", "2", "3", "4", "5"} {
				c.input = strings.ReplaceAll(c.input, `"`+n+`"`, `"`+name(n)+`"`)
			}
			before := b.shows(t)
			b.mustCall(t, c.module, c.rpc, c.input)
			after := b.shows(t)
			r := b.lastChange(t)
			undo, err := b.undoChange(t, r.ID, false)
			if now := b.shows(t); err != nil || len(undo.Left) > 0 || now != before || before == after {
				t.Fatalf("%s: undoing %s: %v %v\n got %s\nwant %s", model, c.input, err, undo.Left, now, before)
			}
			undo, err = b.undoChange(t, undo.Operation, false)
			if now := b.shows(t); err != nil || len(undo.Left) > 0 || now != after {
				t.Fatalf("%s: redoing %s: %v %v\n got %s\nwant %s", model, c.input, err, undo.Left, now, after)
			}
			undo, err = b.undoChange(t, undo.Operation, false)
			if now := b.shows(t); err != nil || now != before {
				t.Fatalf("%s: undoing %s once more: %v\n got %s\nwant %s", model, c.input, err, now, before)
			}
			if _, err = b.undoChange(t, undo.Operation, false); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// What was changed since stays, is named, and is overwritten by force alone; the rest is taken back.
func TestUndoOfWhatWasChangedSince(t *testing.T) {
	b := newLab(t, network.Options{Topology: "chain:2", Ports: 6, Hosts: 1})
	before := b.shows(t)
	b.mustCall(t, "switch-port", "set-port", `{"switch":"sw1","port":"port4","state":"down","description":"first"}`)
	first := b.lastChange(t)
	b.mustCall(t, "switch-port", "set-port", `{"switch":"sw1","port":"port4","description":"second"}`)
	second := b.lastChange(t)
	out, err := b.undoChange(t, first.ID, false)
	if err != nil || len(out.Left) != 1 || !strings.Contains(out.Left[0], `"second"`) || !strings.Contains(out.Left[0], second.ID) {
		t.Fatalf("%v %q", err, out.Left)
	}
	got := b.mustCall(t, "switch-port", "get-ports", `{"switch":"sw1","port":"port4"}`)
	if !strings.Contains(got, `"state":"up","description":"second"`) {
		t.Fatal(got)
	}
	if _, err := b.undoChange(t, first.ID, false); fault.KindOf(err) != fault.InUse || !strings.Contains(err.Error(), second.ID) {
		t.Fatal(err)
	}
	if _, err := b.undoChange(t, first.ID, true); err != nil || b.shows(t) != before {
		t.Fatalf("%v\n got %s\nwant %s", err, b.shows(t), before)
	}
	if out, err := b.undoChange(t, first.ID, false); err != nil || !slices.Equal(out.Left, []string{writes.NothingShows}) {
		t.Fatalf("%v %q", err, out.Left)
	}

	// A VLAN that has other ports since stays, without the ports of the change.
	b.mustCall(t, "switch", "vlan-add", `{"switch":"sw1","vlan-id":30,"untagged":["port4"]}`)
	made := b.lastChange(t)
	b.mustCall(t, "switch", "vlan-set", `{"switch":"sw1","vlan-id":30,"untagged":["port4","port5"]}`)
	out, err = b.undoChange(t, made.ID, false)
	if err != nil || len(out.Left) == 0 || !strings.Contains(out.Left[0], "VLAN 30") {
		t.Fatalf("%v %q", err, out.Left)
	}
	vlans := b.mustCall(t, "switch", "vlans", `{"switch":"sw1","vlan-id":30}`)
	if !strings.Contains(vlans, `port5`) || strings.Contains(vlans, "port4") {
		t.Fatal(vlans)
	}
	if _, err := b.undoChange(t, made.ID, true); err != nil {
		t.Fatal(err)
	}
	if vlans = b.mustCall(t, "switch", "vlans", `{"switch":"sw1"}`); strings.Contains(vlans, `"vlan-id":30`) {
		t.Fatal(vlans)
	}
	if _, err := b.undoChange(t, "20261128T000000.000000000-NONE", false); fault.KindOf(err) != fault.NotFound {
		t.Fatal(err)
	}
	list := b.mustCall(t, "switch-undo", "get-undoable", `{"switch":"sw1","limit":2}`)
	if strings.Count(list, `"operation"`) != 2 || !strings.Contains(list, `"change":"undoing making VLAN 30"`) {
		t.Fatal(list)
	}
}

// exchangedNames is a switch whose interfaces 3 and 4 change their names.
type exchangedNames struct {
	snmpagent.MIB
	on atomic.Bool
}

func (e *exchangedNames) name(name snmpwire.OID, v snmpwire.Value) snmpwire.Value {
	for _, oid := range []string{"1.3.6.1.2.1.31.1.1.1.1", "1.3.6.1.2.1.2.2.1.2"} {
		column := snmpwire.MustOID(oid)
		if e.on.Load() && name.HasPrefix(column) && len(name) == len(column)+1 {
			switch name[len(column)] {
			case 3:
				return e.MIB.Get(column.Append(4))
			case 4:
				return e.MIB.Get(column.Append(3))
			}
		}
	}
	return v
}

func (e *exchangedNames) Get(name snmpwire.OID) snmpwire.Value { return e.name(name, e.MIB.Get(name)) }

func (e *exchangedNames) Next(name, dst snmpwire.OID) (snmpwire.OID, snmpwire.Value) {
	at, v := e.MIB.Next(name, dst)
	return at, e.name(at, v)
}

// Neither an undo nor the undo of it changes a port whose interface is another one now.
func TestUndoAtAPortThatIsAnother(t *testing.T) {
	model, err := simswitch.New(simswitch.Config{Name: "sw1", MAC: simswitch.MAC{2, 0, 0, 0, 0, 1}, Ports: 8, Address: netip.MustParsePrefix("192.0.2.1/24")})
	if err != nil {
		t.Fatal(err)
	}
	e := &exchangedNames{MIB: model.MIB(simswitch.NewSchema(simswitch.LLDP))}
	h := snmpagent.NewHost()
	t.Cleanup(h.Close)
	s, err := h.Listen(netip.MustParseAddrPort("127.0.0.1:0"), snmpagent.New(snmpagent.Config{MIB: e, ReadCommunity: "public", WriteCommunity: "public"}))
	if err != nil {
		t.Fatal(err)
	}
	b := benchOf(t, fmt.Appendf(nil, "MAC,IP,SNMP_Community,CLI_Username,CLI_Password,Model,Port\n02:00:00:00:00:01,127.0.0.1,public,admin,password,generic,%d\n", s.Addr().Port()))
	b.mustCall(t, "switch-port", "set-port", `{"switch":"sw1","port":"port3","description":"a bench"}`)
	for range 3 { // an undo, that of the undo, and so on
		last := b.lastChange(t).ID
		before := b.shows(t)
		e.on.Store(true)
		_, err := b.undoChange(t, last, false)
		e.on.Store(false)
		if fault.KindOf(err) != fault.InUse || !strings.Contains(err.Error(), "changed places") || b.shows(t) != before {
			t.Fatalf("%v\n got %s\nwant %s", err, b.shows(t), before)
		}
		if _, err := b.undoChange(t, last, false); err != nil {
			t.Fatal(err)
		}
	}
}

// A VLAN that was given another name since is somebody else's: it stays, without the ports of the change.
func TestUndoOfAVLANThatWasRenamed(t *testing.T) {
	b := newLab(t, network.Options{Topology: "chain:2", Ports: 6, Hosts: 1})
	b.mustCall(t, "switch", "vlan-add", `{"switch":"sw1","vlan-id":20,"vlan-name":"lab","tagged":["port4"]}`)
	made := b.lastChange(t)
	sw, err := b.findNamedSwitch("sw1")
	if err != nil {
		t.Fatal(err)
	}
	at := netip.AddrPortFrom(netip.MustParseAddr(sw.Address), uint16(sw.Snmp.Port))
	name := snmp.Octets(mib.Sub(mib.QVlanStaticName, 20), []byte("ours"))
	if err := b.client.Set(t.Context(), snmp.Target{Addr: at, Community: sw.Snmp.WriteCommunity}, name); err != nil {
		t.Fatal(err)
	}
	out, err := b.undoChange(t, made.ID, false)
	if err != nil || len(out.Left) != 1 || !strings.Contains(out.Left[0], "ours") {
		t.Fatalf("%v %q", err, out.Left)
	}
	if now := b.mustCall(t, "switch", "vlans", `{"switch":"sw1","vlan-id":20}`); !strings.Contains(now, `"ours"`) || strings.Contains(now, "port4") {
		t.Error(now)
	}
	if _, err = b.undoChange(t, made.ID, false); fault.KindOf(err) != fault.InUse {
		t.Error(err)
	}
	if _, err = b.undoChange(t, made.ID, true); err != nil {
		t.Fatal(err)
	}
	if now := b.mustCall(t, "switch", "vlans", `{"switch":"sw1"}`); strings.Contains(now, `"vlan-id":20`) {
		t.Error(now)
	}
}
