package simswitch

import "fmt"

// Profile is what differs between makes of switches. The quirks are those that
// recordings of real devices show.
type Profile struct {
	Model    string // as the switch list names it
	Descr    string // sysDescr
	ObjectID string // sysObjectID

	IfIndexOffset int    // ifIndex = port + offset; 0: they are equal
	SVI           int    // ifIndex of the management interface, 0 = 5121
	PortName      string // ifName and LLDP port id, with one %d for the port
	SamePortID    bool   // LLDP advertises the same port id on every port
	PortIDSubtype int    // LLDP port id: 3 MAC, 5 interface name, 7 local; 0 = 5
	PortIDEnd     string // appended to LLDP port ids of subtype 5 and 7: a NUL, say

	ChassisDiffers bool // the LLDP chassis id is not the bridge address
	ChassisText    bool // the LLDP chassis id is ASCII with hyphens, not 6 octets
	LLDPByIfIndex  bool // lldpLocPortNum is the ifIndex, not the base port

	PortListLen    int  // octets of PortList values; 0: as many as the ports need
	PortListTail   bool // the octets after the ports hold bits that must be kept
	PortListExact  bool // SET of another length is refused with wrongLength
	PortListText   bool // the agent shows "1,2,24" instead of a bitmap and takes no SET of it
	FDBOffset      int  // FDB id = VLAN id + offset
	TimeMark       bool // dot1qVlanCurrentTable has a time mark that is not 0
	CreateAlone    bool // a VLAN takes its ports only in a PDU after the one that made it
	KeepUsedVLAN   bool // a VLAN that is some port's PVID is not destroyed
	PickPort       bool // a static address whose status comes before its ports is put on port 1
	NoQBridgeTable bool // addresses are in dot1dTpFdbTable only
	PoE            bool // the ports supply power over Ethernet
}

// Profiles returns the profiles there are; the first is the default one.
func Profiles() []Profile {
	return []Profile{
		{
			Model:    "generic",
			Descr:    "Simulated L2 switch",
			ObjectID: "1.3.6.1.4.1.99999.1.1",
			PortName: "port%d",
		},
		{
			Model:         "D-Link_DGS-3650",
			Descr:         "DGS-3650 Gigabit Ethernet Switch (simulated)",
			ObjectID:      "1.3.6.1.4.1.171.10.70.16",
			PortName:      "1/%d",
			PortIDSubtype: 7,
			PortIDEnd:     "\x00",
			ChassisText:   true,
			PortListLen:   8,
			PickPort:      true,
		},
		{
			Model:         "D-Link_DGS-3120",
			Descr:         "DGS-3120-24TC Gigabit Ethernet Switch (simulated)",
			ObjectID:      "1.3.6.1.4.1.171.10.117.1.1",
			PortName:      "1/%d",
			PortIDSubtype: 7,
			PortListLen:   8,
			SVI:           5122,
			PoE:           true,
		},
		{
			Model:          "D-Link_DGS-1510-28X",
			Descr:          "DGS-1510-28X (simulated)",
			ObjectID:       "1.3.6.1.4.1.171.10.133.3.1",
			PortName:       "eth1/0/%d",
			ChassisDiffers: true,
			PortListLen:    48,
			PortListTail:   true,
			PortListExact:  true,
		},
		{
			Model:         "Accton_ECS4610-52T",
			Descr:         "ECS4610-52T (simulated)",
			ObjectID:      "1.3.6.1.4.1.259.6.10.94",
			PortName:      "Ethernet1/%d",
			PortIDSubtype: 3,
			CreateAlone:   true,
			TimeMark:      true,
		},
		{
			Model:         "Dell_PowerConnect-5548",
			Descr:         "PowerConnect 5548 (simulated)",
			ObjectID:      "1.3.6.1.4.1.674.10895.3031",
			PortName:      "gi1/0/%d",
			IfIndexOffset: 48,
			LLDPByIfIndex: true,
			KeepUsedVLAN:  true,
			PortListLen:   126,
		},
		{
			Model:         "TP-Link_T2600G",
			Descr:         "JetStream T2600G-28TS (simulated)",
			ObjectID:      "1.3.6.1.4.1.11863.5.33",
			PortName:      "gigabitEthernet 1/0/%d",
			IfIndexOffset: 49152,
			FDBOffset:     0,
		},
		{
			Model:         "HP_ProCurve",
			Descr:         "ProCurve J9019A Switch 2510-24 (simulated)",
			ObjectID:      "1.3.6.1.4.1.11.2.3.7.11.65",
			PortName:      "%d",
			PortIDSubtype: 7,
			FDBOffset:     4096,
			PoE:           true,
		},
		{
			Model:         "Juniper_QFX5100",
			Descr:         "Juniper qfx5100-48s (simulated)",
			ObjectID:      "1.3.6.1.4.1.2636.1.1.1.4.82.5",
			PortName:      "xe-0/0/%d",
			IfIndexOffset: 500,
			LLDPByIfIndex: true,
			PortListText:  true,
			TimeMark:      true,
			FDBOffset:     65536,
		},
		{
			Model:          "D-Link_DGS-3627G",
			Descr:          "DGS-3627G (simulated)",
			ObjectID:       "1.3.6.1.4.1.171.10.70.9",
			PortName:       "port %d",
			SamePortID:     true,
			PortListLen:    8,
			NoQBridgeTable: true,
			SVI:            5120,
		},
	}
}

// ProfileOf returns the profile of a model; empty is the default one.
func ProfileOf(model string) (Profile, error) {
	all := Profiles()
	for _, p := range all {
		if p.Model == model || model == "" {
			return p, nil
		}
	}
	return Profile{}, fmt.Errorf(
		"no profile for model %.40q; the first of those there are is %q",
		model,
		all[0].Model,
	)
}
