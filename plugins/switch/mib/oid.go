// Package mib knows the MIB objects a switch is controlled with: their identifiers,
// how their indexes and PortLists are decoded, and nothing of how they are fetched
// (package snmp) or what is done with them (package mibdriver). All of it is free
// of input and output.
package mib

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// OID is an object identifier in dotted decimal with a leading dot.
type OID = string

// SNMPv2-MIB (RFC 3418), IF-MIB (RFC 2863).
const (
	SysDescr    OID = ".1.3.6.1.2.1.1.1.0"
	SysObjectID OID = ".1.3.6.1.2.1.1.2.0"
	SysName     OID = ".1.3.6.1.2.1.1.5.0"

	IfDescr       OID = ".1.3.6.1.2.1.2.2.1.2"
	IfType        OID = ".1.3.6.1.2.1.2.2.1.3"
	IfSpeed       OID = ".1.3.6.1.2.1.2.2.1.5"
	IfPhysAddress OID = ".1.3.6.1.2.1.2.2.1.6"
	IfAdminStatus OID = ".1.3.6.1.2.1.2.2.1.7"
	IfOperStatus  OID = ".1.3.6.1.2.1.2.2.1.8"
	IfInOctets    OID = ".1.3.6.1.2.1.2.2.1.10"
	IfInDiscards  OID = ".1.3.6.1.2.1.2.2.1.13"
	IfInErrors    OID = ".1.3.6.1.2.1.2.2.1.14"
	IfOutOctets   OID = ".1.3.6.1.2.1.2.2.1.16"
	IfOutDiscards OID = ".1.3.6.1.2.1.2.2.1.19"
	IfOutErrors   OID = ".1.3.6.1.2.1.2.2.1.20"
	IfHCInOctets  OID = ".1.3.6.1.2.1.31.1.1.1.6"
	IfHCOutOctets OID = ".1.3.6.1.2.1.31.1.1.1.10"
	IfName        OID = ".1.3.6.1.2.1.31.1.1.1.1"
	IfStackStatus OID = ".1.3.6.1.2.1.31.1.2.1.3" // by the ifIndex above and the one below
	IfHighSpeed   OID = ".1.3.6.1.2.1.31.1.1.1.15"
	IfAlias       OID = ".1.3.6.1.2.1.31.1.1.1.18"
)

// EtherLike-MIB (RFC 3635), by ifIndex.
const (
	Dot3StatsDuplexStatus OID = ".1.3.6.1.2.1.10.7.2.1.19"
	Dot3PauseOperMode     OID = ".1.3.6.1.2.1.10.7.10.1.2"

	DuplexStatusHalf = 2
	DuplexStatusFull = 3
)

// ENTITY-MIB (RFC 6933) and ENTITY-SENSOR-MIB (RFC 3433), by entPhysicalIndex.
const (
	EntDescr       OID = ".1.3.6.1.2.1.47.1.1.1.1.2"
	EntContainedIn OID = ".1.3.6.1.2.1.47.1.1.1.1.4"
	EntClass       OID = ".1.3.6.1.2.1.47.1.1.1.1.5"
	EntName        OID = ".1.3.6.1.2.1.47.1.1.1.1.7"
	EntHardware    OID = ".1.3.6.1.2.1.47.1.1.1.1.8"
	EntFirmware    OID = ".1.3.6.1.2.1.47.1.1.1.1.9"
	EntSoftware    OID = ".1.3.6.1.2.1.47.1.1.1.1.10"
	EntSerial      OID = ".1.3.6.1.2.1.47.1.1.1.1.11"
	EntVendor      OID = ".1.3.6.1.2.1.47.1.1.1.1.12"
	EntModel       OID = ".1.3.6.1.2.1.47.1.1.1.1.13"
	EntIsFRU       OID = ".1.3.6.1.2.1.47.1.1.1.1.16"

	EntSensorType      OID = ".1.3.6.1.2.1.99.1.1.1.1"
	EntSensorScale     OID = ".1.3.6.1.2.1.99.1.1.1.2"
	EntSensorPrecision OID = ".1.3.6.1.2.1.99.1.1.1.3"
	EntSensorValue     OID = ".1.3.6.1.2.1.99.1.1.1.4"
	EntSensorStatus    OID = ".1.3.6.1.2.1.99.1.1.1.5"
)

// POWER-ETHERNET-MIB (RFC 3621): ports by group and number in it, supplies by group.
const (
	PsePortAdminEnable     OID = ".1.3.6.1.2.1.105.1.1.1.3"
	PsePortDetectionStatus OID = ".1.3.6.1.2.1.105.1.1.1.6"
	PsePortPowerPriority   OID = ".1.3.6.1.2.1.105.1.1.1.7"
	PsePortClassification  OID = ".1.3.6.1.2.1.105.1.1.1.10"
	MainPsePower           OID = ".1.3.6.1.2.1.105.1.3.1.1.2"
	MainPseConsumption     OID = ".1.3.6.1.2.1.105.1.3.1.1.4"
)

// IP-MIB: ipAddrTable and ipNetToMediaTable (RFC 1213, RFC 4293).
const (
	IPAdEntIfIndex  OID = ".1.3.6.1.2.1.4.20.1.2"
	IPAdEntNetMask  OID = ".1.3.6.1.2.1.4.20.1.3"
	ARPPhysAddress  OID = ".1.3.6.1.2.1.4.22.1.2"
	ARPType         OID = ".1.3.6.1.2.1.4.22.1.4"
	PhysicalAddress OID = ".1.3.6.1.2.1.4.35.1.4" // ipNetToPhysicalPhysAddress
	PhysicalType    OID = ".1.3.6.1.2.1.4.35.1.6"
	ARPTypeInvalid      = 2
	ARPTypeStatic       = 4
)

// Routes: ipRouteTable (RFC 1213) by destination, ipCidrRouteTable (RFC 4292) by destination, mask, TOS and next hop.
const (
	IPRouteNextHop     OID = ".1.3.6.1.2.1.4.21.1.7"
	IPCidrRouteNextHop OID = ".1.3.6.1.2.1.4.24.4.1.4"
)

// BRIDGE-MIB (RFC 4188).
const (
	StpPortState          OID = ".1.3.6.1.2.1.17.2.15.1.3"
	StpPortEnable         OID = ".1.3.6.1.2.1.17.2.15.1.4"
	StpPortDesignatedRoot OID = ".1.3.6.1.2.1.17.2.15.1.6"
	BaseBridgeAddress     OID = ".1.3.6.1.2.1.17.1.1.0"
	BasePortIfIndex       OID = ".1.3.6.1.2.1.17.1.4.1.2"
	TpFdbPort             OID = ".1.3.6.1.2.1.17.4.3.1.2"
	TpFdbStatus           OID = ".1.3.6.1.2.1.17.4.3.1.3"
)

// Q-BRIDGE-MIB (RFC 4363).
const (
	QTpFdbPort             OID = ".1.3.6.1.2.1.17.7.1.2.2.1.2"
	QTpFdbStatus           OID = ".1.3.6.1.2.1.17.7.1.2.2.1.3"
	QStaticUnicastPorts    OID = ".1.3.6.1.2.1.17.7.1.3.1.1.3" // dot1qStaticUnicastAllowedToGoTo
	QStaticUnicastStatus   OID = ".1.3.6.1.2.1.17.7.1.3.1.1.4"
	QVlanFdbID             OID = ".1.3.6.1.2.1.17.7.1.4.2.1.3"
	QVlanCurrentEgress     OID = ".1.3.6.1.2.1.17.7.1.4.2.1.4"
	QVlanCurrentUntagged   OID = ".1.3.6.1.2.1.17.7.1.4.2.1.5"
	QVlanStaticName        OID = ".1.3.6.1.2.1.17.7.1.4.3.1.1"
	QVlanStaticEgress      OID = ".1.3.6.1.2.1.17.7.1.4.3.1.2"
	QVlanStaticUntagged    OID = ".1.3.6.1.2.1.17.7.1.4.3.1.4"
	QVlanStaticRowStatus   OID = ".1.3.6.1.2.1.17.7.1.4.3.1.5"
	QPvid                  OID = ".1.3.6.1.2.1.17.7.1.4.5.1.1"
	StaticUnicastPermanent     = 3
	StaticUnicastInvalid       = 2
)

// LLDP-MIB (IEEE 802.1AB-2005).
const (
	LLDPLocChassisSubtype OID = ".1.0.8802.1.1.2.1.3.1.0"
	LLDPLocChassisID      OID = ".1.0.8802.1.1.2.1.3.2.0"
	LLDPLocSysName        OID = ".1.0.8802.1.1.2.1.3.3.0"
	LLDPLocPortSubtype    OID = ".1.0.8802.1.1.2.1.3.7.1.2"
	LLDPLocPortID         OID = ".1.0.8802.1.1.2.1.3.7.1.3"
	LLDPLocPortDesc       OID = ".1.0.8802.1.1.2.1.3.7.1.4"
	LLDPRemChassisSubtype OID = ".1.0.8802.1.1.2.1.4.1.1.4"
	LLDPRemChassisID      OID = ".1.0.8802.1.1.2.1.4.1.1.5"
	LLDPRemPortSubtype    OID = ".1.0.8802.1.1.2.1.4.1.1.6"
	LLDPRemPortID         OID = ".1.0.8802.1.1.2.1.4.1.1.7"
	LLDPRemPortDesc       OID = ".1.0.8802.1.1.2.1.4.1.1.8"
	LLDPRemSysName        OID = ".1.0.8802.1.1.2.1.4.1.1.9"
	LLDPRemManIfSubtype   OID = ".1.0.8802.1.1.2.1.4.2.1.3"
)

// ENTITY-MIB (RFC 6933).
const (
	EntPhysicalName OID = ".1.3.6.1.2.1.47.1.1.1.1.7"
	EntAliasMapping OID = ".1.3.6.1.2.1.47.1.3.2.1.2" // entAliasMappingIdentifier, a row of ifTable
	IfIndex         OID = ".1.3.6.1.2.1.2.2.1.1"
)

// The aggregate that a port is in: LAG-MIB (IEEE 802.1AX) by ifIndex, and the link
// aggregation TLV (LLDP-EXT-DOT3-MIB) by lldpLocPortNum.
const (
	AggPortAttached OID = ".1.2.840.10006.300.43.1.2.1.1.13"   // dot3adAggPortAttachedAggID
	LLDPLocAggPort  OID = ".1.0.8802.1.1.2.1.5.4623.1.2.3.1.2" // lldpXdot3LocLinkAggPortId
)

// CISCO-VTP-MIB and CISCO-VLAN-MEMBERSHIP-MIB.
const (
	VTPVlanState        OID = ".1.3.6.1.4.1.9.9.46.1.3.1.1.2"
	VTPVlanType         OID = ".1.3.6.1.4.1.9.9.46.1.3.1.1.3"
	VTPVlanName         OID = ".1.3.6.1.4.1.9.9.46.1.3.1.1.4"
	TrunkVlans          OID = ".1.3.6.1.4.1.9.9.46.1.6.1.1.4" // vlanTrunkPortVlansEnabled, VLANs 0 to 1023
	TrunkNative         OID = ".1.3.6.1.4.1.9.9.46.1.6.1.1.5"
	TrunkStatus         OID = ".1.3.6.1.4.1.9.9.46.1.6.1.1.14" // vlanTrunkPortDynamicStatus
	TrunkVlans2k        OID = ".1.3.6.1.4.1.9.9.46.1.6.1.1.17"
	TrunkVlans3k        OID = ".1.3.6.1.4.1.9.9.46.1.6.1.1.18"
	TrunkVlans4k        OID = ".1.3.6.1.4.1.9.9.46.1.6.1.1.19"
	AccessVlan          OID = ".1.3.6.1.4.1.9.9.68.1.2.2.1.2" // vmVlan
	VTPStateOperational     = 1
	VTPTypeEthernet         = 1
	Trunking                = 1
)

// Values of RowStatus (RFC 2579).
const (
	RowActive        = 1
	RowNotReady      = 3
	RowCreateAndGo   = 4
	RowCreateAndWait = 5
	RowDestroy       = 6
)

// Sub appends arcs to an identifier.
func Sub(oid OID, arcs ...uint32) OID {
	var b strings.Builder
	b.Grow(len(oid) + 11*len(arcs))
	b.WriteString(oid)
	for _, a := range arcs {
		b.WriteByte('.')
		b.WriteString(strconv.FormatUint(uint64(a), 10))
	}
	return b.String()
}

// Under returns the arcs of oid below base, on an arc boundary; false when oid is
// not below base or has an arc that is no 32-bit number. dst is reused.
func Under(base, oid OID, dst []uint32) ([]uint32, bool) {
	if len(oid) <= len(base) || oid[:len(base)] != base || oid[len(base)] != '.' {
		return nil, false
	}
	dst = dst[:0]
	var n uint64
	digits := 0
	for i := len(base) + 1; ; i++ {
		if i == len(oid) || oid[i] == '.' {
			if digits == 0 || len(dst) >= maxArcs {
				return nil, false
			}
			dst = append(dst, uint32(n))
			if i == len(oid) {
				return dst, true
			}
			n, digits = 0, 0
			continue
		}
		c := oid[i]
		if c < '0' || c > '9' {
			return nil, false
		}
		if n = n*10 + uint64(c-'0'); n > 0xffffffff {
			return nil, false
		}
		digits++
	}
}

// maxArcs is the limit of RFC 2578 section 3.5.
const maxArcs = 128

// tables are the tables that are read, by the identifiers of their entries.
var tables = []struct{ entry, name string }{
	{".1.3.6.1.2.1.2.2.1", "ifTable"}, {".1.3.6.1.2.1.31.1.1.1", "ifXTable"}, {".1.3.6.1.2.1.31.1.2.1", "ifStackTable"},
	{".1.3.6.1.2.1.4.20.1", "ipAddrTable"}, {".1.3.6.1.2.1.4.22.1", "ipNetToMediaTable"}, {".1.3.6.1.2.1.4.35.1", "ipNetToPhysicalTable"},
	{".1.3.6.1.2.1.17.1.4.1", "dot1dBasePortTable"}, {".1.3.6.1.2.1.17.2.15.1", "dot1dStpPortTable"}, {".1.3.6.1.2.1.17.4.3.1", "dot1dTpFdbTable"},
	{".1.3.6.1.2.1.17.7.1.2.2.1", "dot1qTpFdbTable"}, {".1.3.6.1.2.1.17.7.1.4.2.1", "dot1qVlanCurrentTable"},
	{".1.3.6.1.2.1.17.7.1.4.3.1", "dot1qVlanStaticTable"}, {".1.3.6.1.2.1.17.7.1.4.5.1", "dot1qPortVlanTable"},
	{".1.0.8802.1.1.2.1.3.7.1", "lldpLocPortTable"}, {".1.0.8802.1.1.2.1.4.1.1", "lldpRemTable"}, {".1.0.8802.1.1.2.1.4.2.1", "lldpRemManAddrTable"},
	{".1.3.111.2.802.1.1.13.1.3.7.1", "lldpV2LocPortTable"}, {".1.3.111.2.802.1.1.13.1.4.1.1", "lldpV2RemTable"},
	{".1.3.111.2.802.1.1.13.1.4.2.1", "lldpV2RemManAddrTable"}, {".1.3.6.1.4.1.9.9.23.1.2.1.1", "cdpCacheTable"},
	{".1.3.6.1.4.1.1991.1.1.3.20.1.2.1.1", "snFdpCacheTable"}, {".1.3.6.1.4.1.1916.1.13.2.1", "extremeEdpTable"},
	{".1.3.6.1.2.1.47.1.1.1.1", "entPhysicalTable"}, {".1.2.840.10006.300.43.1.2.1.1", "dot3adAggPortTable"},
}

// TableOf names the table that an object is in; the object itself where it is in none that is known.
func TableOf(oid OID) string {
	for _, t := range tables {
		rest, ok := strings.CutPrefix(oid, t.entry)
		if ok && (rest == "" || rest[0] == '.') {
			return t.name
		}
	}
	return strings.TrimPrefix(oid, ".")
}

// Text returns octets of a device as text for people and for comparison: NULs and
// blanks at the ends are gone, other control characters become blanks, and bytes
// that are no UTF-8 are read as Latin-1.
func Text(b []byte) string {
	s := string(b)
	if !utf8.ValidString(s) {
		r := make([]rune, len(b))
		for i, c := range b {
			r[i] = rune(c)
		}
		s = string(r)
	}
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || (r >= 0x80 && r < 0xa0) {
			return ' '
		}
		return r
	}, s)
	return strings.TrimSpace(s)
}
