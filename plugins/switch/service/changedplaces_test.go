package service

import (
	"fmt"
	"net/netip"
	"slices"
	"sync/atomic"
	"testing"

	"ctl.internal/internal/lab/simswitch"
	"ctl.internal/internal/lab/snmpagent"
	"ctl.internal/internal/lab/snmpwire"
)

// exchanged is a switch whose base ports 3 and 4 change places, as when a member of a stack is replaced.
type exchanged struct {
	snmpagent.MIB
	on atomic.Bool
}

// place is the interface of a base port as the switch has it now.
func (e *exchanged) place(name snmpwire.OID, v snmpwire.Value) snmpwire.Value {
	column := snmpwire.MustOID("1.3.6.1.2.1.17.1.4.1.2")
	if !e.on.Load() || !name.HasPrefix(column) || len(name) != len(column)+1 {
		return v
	}
	switch name[len(column)] {
	case 3:
		return e.MIB.Get(column.Append(4))
	case 4:
		return e.MIB.Get(column.Append(3))
	}
	return v
}

func (e *exchanged) Get(name snmpwire.OID) snmpwire.Value { return e.place(name, e.MIB.Get(name)) }

func (e *exchanged) Next(name, dst snmpwire.OID) (snmpwire.OID, snmpwire.Value) {
	at, v := e.MIB.Next(name, dst)
	return at, e.place(at, v)
}

// A port that is named is the one that is changed, wherever it is by now; the switch is not discovered in between.
func TestNamedPortsThatChangePlaces(t *testing.T) {
	model, err := simswitch.New(simswitch.Config{Name: "sw1", MAC: simswitch.MAC{2, 0, 0, 0, 0, 1}, Ports: 8, Address: netip.MustParsePrefix("192.0.2.1/24")})
	if err != nil {
		t.Fatal(err)
	}
	e := &exchanged{MIB: model.MIB(simswitch.NewSchema(simswitch.LLDP))}
	h := snmpagent.NewHost()
	t.Cleanup(h.Close)
	s, err := h.Listen(netip.MustParseAddrPort("127.0.0.1:0"), snmpagent.New(snmpagent.Config{MIB: e, ReadCommunity: "public", WriteCommunity: "public"}))
	if err != nil {
		t.Fatal(err)
	}
	b := benchOf(t, fmt.Appendf(nil, "MAC,IP,SNMP_Community,CLI_Username,CLI_Password,Model,Port\n02:00:00:00:00:01,127.0.0.1,public,admin,password,generic,%d\n", s.Addr().Port()))
	ports := func(vlan int) []int {
		for _, v := range model.VLANs() {
			if v.ID == vlan {
				return v.Egress
			}
		}
		return nil
	}
	for _, step := range []struct {
		exchanged bool
		vlan      int
		number    int // of port3, in the VLAN
	}{{false, 30, 3}, {true, 31, 4}, {false, 32, 3}} {
		e.on.Store(step.exchanged)
		if _, err := b.call(t, "switch", "vlan-add", fmt.Sprintf(`{"switch":"sw1","vlan-id":%d,"untagged":["port3"]}`, step.vlan)); err != nil {
			t.Fatal(err)
		}
		if got := ports(step.vlan); !slices.Equal(got, []int{step.number}) {
			t.Errorf("exchanged %v: VLAN %d has the ports %v, want %d, which is port3 now", step.exchanged, step.vlan, got, step.number)
		}
		description := fmt.Sprint("VLAN ", step.vlan)
		if _, err := b.call(t, "switch-port", "set-port", fmt.Sprintf(`{"switch":"sw1","port":"port3","description":%q}`, description)); err != nil {
			t.Fatal(err)
		}
		if got := string(e.MIB.Get(snmpwire.MustOID("1.3.6.1.2.1.31.1.1.1.18.3")).Bytes); got != description {
			t.Errorf("exchanged %v: interface port3 has the description %q, want %q", step.exchanged, got, description)
		}
	}
	e.on.Store(true)
	if _, err := b.call(t, "switch-port", "bounce-port", `{"switch":"sw1","port":"port3","pause-ms":100}`); err != nil || !model.AdminUp(3) || !model.AdminUp(4) {
		t.Errorf("a bounce: %v, up %v and %v", err, model.AdminUp(3), model.AdminUp(4))
	}
}
