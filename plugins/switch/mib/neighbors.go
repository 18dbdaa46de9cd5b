package mib

import "net/netip"

// When tables changed: SNMPv2-MIB (RFC 3418), IF-MIB (RFC 2863), LLDP-MIB and
// LLDP-V2-MIB (IEEE 802.1AB).
const (
	SysUpTime              OID = ".1.3.6.1.2.1.1.3.0"
	IfTableLastChange      OID = ".1.3.6.1.2.1.31.1.5.0"
	LLDPRemTablesChanged   OID = ".1.0.8802.1.1.2.1.2.1.0" // lldpStatsRemTablesLastChangeTime
	LLDPV2RemTablesChanged OID = ".1.3.111.2.802.1.1.13.1.2.1.0"
)

// LLDP-V2-MIB (IEEE 802.1AB-2016): the columns of the remote table stand one
// further than in LLDP-MIB, and ports are ifIndexes.
const (
	LLDPV2LocChassisSubtype OID = ".1.3.111.2.802.1.1.13.1.3.1.0"
	LLDPV2LocChassisID      OID = ".1.3.111.2.802.1.1.13.1.3.2.0"
	LLDPV2LocSysName        OID = ".1.3.111.2.802.1.1.13.1.3.3.0"
	LLDPV2LocPortSubtype    OID = ".1.3.111.2.802.1.1.13.1.3.7.1.2"
	LLDPV2LocPortID         OID = ".1.3.111.2.802.1.1.13.1.3.7.1.3"
	LLDPV2LocPortDesc       OID = ".1.3.111.2.802.1.1.13.1.3.7.1.4"
	LLDPV2RemChassisSubtype OID = ".1.3.111.2.802.1.1.13.1.4.1.1.5"
	LLDPV2RemChassisID      OID = ".1.3.111.2.802.1.1.13.1.4.1.1.6"
	LLDPV2RemPortSubtype    OID = ".1.3.111.2.802.1.1.13.1.4.1.1.7"
	LLDPV2RemPortID         OID = ".1.3.111.2.802.1.1.13.1.4.1.1.8"
	LLDPV2RemPortDesc       OID = ".1.3.111.2.802.1.1.13.1.4.1.1.9"
	LLDPV2RemSysName        OID = ".1.3.111.2.802.1.1.13.1.4.1.1.10"
	LLDPV2RemManIfSubtype   OID = ".1.3.111.2.802.1.1.13.1.4.2.1.3"
)

// CISCO-CDP-MIB.
const (
	CDPGlobalDeviceID OID = ".1.3.6.1.4.1.9.9.23.1.3.4.0"
	CDPAddressType    OID = ".1.3.6.1.4.1.9.9.23.1.2.1.1.3"
	CDPAddress        OID = ".1.3.6.1.4.1.9.9.23.1.2.1.1.4"
	CDPDeviceID       OID = ".1.3.6.1.4.1.9.9.23.1.2.1.1.6"
	CDPDevicePort     OID = ".1.3.6.1.4.1.9.9.23.1.2.1.1.7"
	CDPSysName        OID = ".1.3.6.1.4.1.9.9.23.1.2.1.1.17"
)

// FOUNDRY-SN-SWITCH-GROUP-MIB, with the index of cdpCacheTable, and EXTREME-EDP-MIB.
const (
	FDPDeviceID   OID = ".1.3.6.1.4.1.1991.1.1.3.20.1.2.1.1.3"
	FDPAddress    OID = ".1.3.6.1.4.1.1991.1.1.3.20.1.2.1.1.5"
	FDPDevicePort OID = ".1.3.6.1.4.1.1991.1.1.3.20.1.2.1.1.7"
	EDPName       OID = ".1.3.6.1.4.1.1916.1.13.2.1.3"
	EDPSlot       OID = ".1.3.6.1.4.1.1916.1.13.2.1.5"
	EDPPort       OID = ".1.3.6.1.4.1.1916.1.13.2.1.6"
)

// BRIDGE-MIB (RFC 4188): who sends on the segment of a port.
const (
	StpPortDesignatedBridgeOf OID = ".1.3.6.1.2.1.17.2.15.1.8"
	StpPortDesignatedPortOf   OID = ".1.3.6.1.2.1.17.2.15.1.9"
)

// LLDPV2Remote decodes the index of lldpV2RemTable: TimeMark, ifIndex, the group of
// destination addresses, and a number. Neighbours that are reported by several
// groups of addresses are rows of their own, so the group is part of Index.
func LLDPV2Remote(ix []uint32) (RemoteIndex, bool) {
	if len(ix) != 4 {
		return RemoteIndex{}, false
	}
	return RemoteIndex{ix[0], ix[1], ix[2]<<24 ^ ix[3]}, true
}

// LLDPV2Management decodes the index of lldpV2RemManAddrTable.
func LLDPV2Management(ix []uint32) (RemoteIndex, netip.Addr, bool) {
	if len(ix) < 5 {
		return RemoteIndex{}, netip.Addr{}, false
	}
	row, _ := LLDPV2Remote(ix[:4])
	_, a, ok := LLDPManagement(append([]uint32{0, 0, 0}, ix[4:]...))
	return row, a, ok
}

// CDPRemote decodes the index of cdpCacheTable: ifIndex and a number.
func CDPRemote(ix []uint32) (RemoteIndex, bool) {
	if len(ix) != 2 {
		return RemoteIndex{}, false
	}
	return RemoteIndex{0, ix[0], ix[1]}, true
}

// EDPRemote decodes the index of extremeEdpTable: ifIndex and eight octets, of which the last six are the address of the
// neighbour.
func EDPRemote(ix []uint32) (RemoteIndex, MAC, bool) {
	if len(ix) != 9 {
		return RemoteIndex{}, 0, false
	}
	m, ok := MACFromArcs(ix[3:])
	return RemoteIndex{uint32(m >> 32), ix[0], uint32(m)}, m, ok
}
