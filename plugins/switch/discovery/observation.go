package discovery

import (
	"net/netip"
	"time"

	"ctl.internal/plugins/switch/mib"
)

// Observation is what one switch of the list reported.
type Observation struct {
	Node    mib.MAC // of the list
	Address netip.Addr
	Model   string // of the list
	SysName string
	SysDesc string
	SysOID  string
	Bridge  mib.MAC    // dot1dBaseBridgeAddress, 0 when not told
	Chassis Identifier // lldpLocChassisId, empty when not told

	Ports     []Port
	Neighbors []Neighbor

	Observed time.Time // when the switch answered
	// Stale says that it did not answer the last time: this is the last good data.
	Stale bool
	// Notes tell what is missing or odd, one line each.
	Notes []string
}

// Identifier is an LLDP chassis or port id. Subtype 0 is "not told".
type Identifier struct {
	Subtype int32
	ID      []byte
}

// The subtypes that matter here (IEEE 802.1AB table 9-2 and 9-3).
const (
	chassisMAC     = 4
	chassisAddress = 5
	portMAC        = 3
)

// Port is a port of a switch.
type Port struct {
	ID        string // termination point: the number, or "if<ifIndex>" where numbers clash
	Number    uint32 // dot1dBasePort; ifIndex on a device without BRIDGE-MIB
	IfIndex   uint32
	LLDPLocal uint32 // lldpLocPortNum, 0 for none
	Name      string // ifName
	Descr     string // ifDescr
	MAC       mib.MAC
	LLDP      Identifier // lldpLocPortId
	LLDPDesc  string
	Admin     int32 // ifAdminStatus: 1 up, 2 down, 0 not told
	Oper      int32 // ifOperStatus
	Speed     uint64
	Bridged   bool // has a dot1dBasePort
}

// Neighbor is a row of lldpRemTable.
type Neighbor struct {
	LocalPort string // Port.ID
	Chassis   Identifier
	Port      Identifier
	PortDesc  string
	SysName   string
	Addresses []netip.Addr // management addresses
	Protocol  string       // "lldp"
}

func (p *Port) down() bool { return p.Oper == 2 || p.Oper == 7 }
