package conformance

import (
	"fmt"
	"slices"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

// fdbVLAN is a VLAN with a port for entries.
func (k *kit) fdbVLAN() uint32 {
	if k.hasOperation("WriteVlan") {
		k.writeVLAN(&switchdriver.VLAN{
			VlanId:      vlanA,
			EgressPorts: k.Ports[:2],
		}, true, true)
		return vlanA
	}
	return 1
}

func fdbLife(k *kit) {
	vlan := k.fdbVLAN()
	e := &switchdriver.FDBEntry{
		VlanId: vlan,
		Mac:    station,
		Port:   k.Ports[0],
		Type:   switchdriver.FDBMgmt,
	}
	missingFDB(k)
	k.checkRefused(
		"removing an entry that is not there",
		k.client.DeleteFDBEntry(k.testContext(), k.Switch, vlan, station),
		fault.NotFound,
	)
	for _, port := range k.Ports[:2] { // made, and moved
		e.Port = port
		k.mustSucceed("WriteFdbEntry", k.client.WriteFDBEntry(k.testContext(), k.Switch, e))
		one, err := k.client.ReadFDB(k.testContext(), k.Switch, vlan, station)
		k.mustSucceed("ReadFdb of one entry", err)
		if len(one) != 1 ||
			one[0].Port != port ||
			one[0].Mac != station ||
			one[0].VlanId != vlan ||
			one[0].Type != switchdriver.FDBMgmt {
			k.t.Errorf("wrote %v, read %v", e, one)
		}
		if n := len(k.findEntries(vlan, station)); n != 1 {
			k.t.Errorf("the table has the entry %d times", n)
		}
	}
	k.mustSucceed(
		"DeleteFdbEntry",
		k.client.DeleteFDBEntry(k.testContext(), k.Switch, vlan, station),
	)
	if left := k.findEntries(vlan, station); len(left) > 0 {
		k.t.Errorf("the entry was removed, but is read: %v", left)
	}
}

// findEntries reads the whole table and returns the entries of an address.
func (k *kit) findEntries(vlan uint32, mac uint64) []*switchdriver.FDBEntry {
	all, err := k.client.ReadFDB(k.testContext(), k.Switch, 0, 0)
	k.mustSucceed("ReadFdb", err)
	for _, e := range all {
		if e.Type < switchdriver.FDBOther || e.Type > switchdriver.FDBMgmt {
			k.t.Errorf("an entry as read: %v", e)
		}
	}
	return slices.DeleteFunc(all, func(e *switchdriver.FDBEntry) bool {
		return e.VlanId != vlan || e.Mac != mac
	})
}

func missingFDB(k *kit) {
	_, err := k.client.ReadFDB(k.testContext(), k.Switch, vlanB, station+9)
	k.checkRefused("reading an entry that is not there", err, fault.NotFound)
}

func badFDB(k *kit) {
	vlan := k.fdbVLAN()
	defer k.sendsNothing("refused entries")()
	for name, e := range map[string]*switchdriver.FDBEntry{
		"none at all": nil,
		"VLAN 0": {
			Mac:  station,
			Port: k.Ports[0],
		},
		"VLAN 4095": {
			VlanId: 4095,
			Mac:    station,
			Port:   k.Ports[0],
		},
		"no address": {
			VlanId: vlan,
			Port:   k.Ports[0],
		},
		"a group address": {
			VlanId: vlan,
			Mac:    0x01_00_5e_00_00_01,
			Port:   k.Ports[0],
		},
		"an address of 49 bits": {
			VlanId: vlan,
			Mac:    station | 1<<48,
			Port:   k.Ports[0],
		},
		"port 0": {VlanId: vlan, Mac: station},
		"a port outside the VLAN": {
			VlanId: vlan,
			Mac:    station,
			Port:   65000,
		},
	} {
		k.checkRefused("a forwarding entry with "+name, k.client.WriteFDBEntry(k.testContext(), k.Switch, e), bad...)
	}
	k.checkRefused("a forwarding entry in a VLAN that is not there", k.client.WriteFDBEntry(k.testContext(), k.Switch,
		&switchdriver.FDBEntry{
			VlanId: vlanB,
			Mac:    station,
			Port:   k.Ports[0],
		}), fault.NotFound, fault.Invalid)
}

func checkPorts(k *kit) {
	all, err := k.client.ReadPorts(k.testContext(), k.Switch)
	k.mustSucceed("ReadPorts", err)
	seen := map[uint32]bool{}
	for _, p := range all {
		if p.AdminStatus < 0 || p.AdminStatus > 2 || p.OperStatus < 0 || p.OperStatus > 2 {
			k.t.Errorf(
				"port %d: status %d/%d; 1 up, 2 down, 0 not known",
				p.Number,
				p.AdminStatus,
				p.OperStatus,
			)
		}
		seen[p.Number] = true
	}
	for _, p := range k.Ports {
		if !seen[p] {
			k.t.Errorf("the switch has port %d, but it is not reported", p)
		}
	}
}

func readSTP(k *kit) {
	all, _, err := k.client.ReadSTP(k.testContext(), k.Switch, 0)
	k.mustSucceed("ReadStp", err)
	for _, p := range all {
		if p.State < switchdriver.STPDisabled {
			k.t.Errorf("port %d as read: %v", p.Port, p)
		}
	}
	if len(all) > 0 {
		one, _, err := k.client.ReadSTP(k.testContext(), k.Switch, all[0].Port)
		if err != nil || len(one) != 1 || one[0].Port != all[0].Port {
			k.t.Errorf("port %d alone: %v, %v", all[0].Port, one, err)
		}
	}
	_, _, err = k.client.ReadSTP(k.testContext(), k.Switch, 65000)
	k.checkRefused("the spanning tree of a port that is not there", err, fault.NotFound)
}

func writeSTP(k *kit) {
	write := func(port uint32, on bool) {
		k.t.Helper()
		what := fmt.Sprintf("WriteStp %v of port %d (0 is the switch)", on, port)
		k.mustSucceed(what, k.client.WriteSTP(k.testContext(), k.Switch, port, on))
		k.checkShown(what, &pluginv1.WriteStpRequest{
			Port:   port,
			Enable: on,
		})
	}
	was := true
	if k.hasOperation("ReadStp") {
		var err error
		_, was, err = k.client.ReadSTP(k.testContext(), k.Switch, 0)
		k.mustSucceed("ReadStp", err)
	}
	for _, on := range []bool{!was, was, was, !was, was} {
		write(0, on)
	}
	write(k.Ports[0], false)
	write(k.Ports[0], true)
	k.checkRefused(
		"spanning tree of a port that is not there",
		k.client.WriteSTP(k.testContext(), k.Switch, 65000, false),
		fault.NotFound,
	)
}

func arpLife(k *kit) {
	all, err := k.client.ReadARP(k.testContext(), k.Switch, "")
	k.mustSucceed("ReadArp", err)
	for _, e := range all {
		if err := switchdriver.CheckIPv4("ip-address", e.IpAddress); err != nil {
			k.t.Errorf("an entry as read: %v", err)
		}
	}
	_, err = k.client.ReadARP(k.testContext(), k.Switch, "198.51.100.250")
	k.checkRefused("reading an entry that is not there", err, fault.NotFound)
	if k.ARP == "" {
		k.t.Skip("SKIPPED, NOT TESTED: the peer, the switch of the driver, has no address for an entry")
	}
	for _, mac := range []uint64{station, station + 1} { // made, and changed
		e := &switchdriver.ARPEntry{IpAddress: k.ARP, Mac: mac}
		k.mustSucceed("WriteArpEntry", k.client.WriteARPEntry(k.testContext(), k.Switch, e, 0))
		k.checkShown("WriteArpEntry", &pluginv1.WriteArpEntryRequest{Entry: e})
	}
	k.mustSucceed("DeleteArpEntry", k.client.DeleteARPEntry(k.testContext(), k.Switch, k.ARP))
	_, err = k.client.ReadARP(k.testContext(), k.Switch, k.ARP)
	k.checkRefused("reading an entry that was removed", err, fault.NotFound)
}

func badARP(k *kit) {
	defer k.sendsNothing("refused entries")()
	for name, e := range map[string]*switchdriver.ARPEntry{
		"none at all": nil,
		"no address":  {Mac: station},
		"a command": {
			IpAddress: "192.0.2.1\nreboot",
			Mac:       station,
		},
		"no MAC address": {IpAddress: "192.0.2.1"},
		"a group MAC address": {
			IpAddress: "192.0.2.1",
			Mac:       0x01_00_5e_00_00_01,
		},
	} {
		k.checkRefused("an ARP entry with "+name, k.client.WriteARPEntry(k.testContext(), k.Switch, e, 0), bad...)
	}
	k.checkRefused("an ARP entry with a prefix of 33", k.client.WriteARPEntry(
		k.testContext(),
		k.Switch,
		&switchdriver.ARPEntry{
			IpAddress: "192.0.2.1",
			Mac:       station,
		},
		33,
	), bad...)
	k.checkRefused("removing an ARP entry of no address", k.client.DeleteARPEntry(k.testContext(), k.Switch, "x"), bad...)
}
