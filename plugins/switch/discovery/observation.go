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
	Bridge  mib.MAC    // dot1dBaseBridgeAddress, 0 when not reported
	Chassis Identifier // lldpLocChassisId, empty when not reported

	// Device is cdpGlobalDeviceId, empty when the switch does not speak CDP.
	Device string

	Ports     []Port
	Neighbors []Neighbor
	Marks     Marks
	// Evidence is other evidence of links; nil = not read.
	Evidence *Evidence

	Observed time.Time // when the switch answered
	// Stale says that it did not answer the last time: this is the last good data.
	Stale bool
	// Cut are the tables that could be read up to some row only.
	Cut []Cut `json:",omitempty"`
	// Notes say what is missing or unusual, one line each.
	Notes []string
}

// Cut is a table that could be read up to some row only.
type Cut struct{ Table, Why string }

// CutTables are the names of the tables that are cut.
func (o *Observation) CutTables() (names []string) {
	for _, c := range o.Cut {
		names = append(names, c.Table)
	}
	return names
}

// Identifier is an LLDP chassis or port id. Subtype 0 is "not reported".
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
	Admin     int32 // ifAdminStatus: 1 up, 2 down, 0 not reported
	Oper      int32 // ifOperStatus
	Speed     uint64
	Bridged   bool // has a dot1dBasePort
	// Aggregate is the ifIndex of the aggregate that the port is in. 0: in none, or not
	// asked for, as no two ports have the same neighbour.
	Aggregate uint32
}

// Mute reports whether the switch, when it answered last, reported no neighbours at all: it speaks no protocol for that,
// or its neighbours do not.
func (o *Observation) Mute() bool {
	return o.BySNMP() && len(o.Ports) > 0 && len(o.Neighbors) == 0
}

// BySNMP reports whether the standard MIBs reported the switch. Another driver's report is
// whole each time, and nothing else can be asked.
func (o *Observation) BySNMP() bool {
	return !o.Marks.At.IsZero()
}

// Marks are the switch's own notes of when its tables changed, in hundredths of a
// second of its uptime. 0 is not reported.
type Marks struct {
	UpTime     uint32
	At         time.Time // when UpTime was read
	Neighbors  uint32    // lldpStatsRemTablesLastChangeTime, or that of LLDP-V2-MIB
	Interfaces uint32    // ifTableLastChange
	// Doubtful: neighbours changed and the note did not.
	Doubtful bool
}

// Evidence is what the spanning tree and the forwarding table of a switch show of
// other switches of the list.
type Evidence struct {
	// Designated is who sends on the segment of a port, where that is not the switch
	// itself.
	Designated []Designated
	// Seen are the addresses of other switches, and of stations that most of them know, by the port they were learned at.
	Seen map[string][]mib.MAC
	// Silent are the addresses of switches of the list that have never answered, by the port they were learned at: such a
	// switch may be between two others.
	Silent map[string][]mib.MAC `json:",omitempty"`
	// Self are addresses that the switch has by the ARP tables of others, beside those it reports.
	Self []mib.MAC `json:",omitempty"`
	// Others are further addresses with their ports, and ARP what the switch knows of IP addresses: what they are worth
	// shows only when all switches have answered (KeepProvedAddresses).
	Others map[mib.MAC]string     `json:"-"`
	ARP    map[netip.Addr]mib.MAC `json:"-"`
}

// Designated is dot1dStpPortDesignatedBridge and dot1dStpPortDesignatedPort of a port.
type Designated struct {
	Port    string // Port.ID
	Bridge  mib.MAC
	FarPort uint32 // dot1dBasePort of that bridge
}

// The ways neighbours are reported.
const (
	LLDP   = "lldp"
	LLDPV2 = "lldp-v2" // LLDP-V2-MIB of IEEE 802.1AB-2016: another MIB, the same protocol
	CDP    = "cdp"
	FDP    = "fdp" // of Foundry and Brocade
	EDP    = "edp" // of Extreme
	STP    = "stp" // inferred
	FDB    = "fdb" // inferred
)

// Neighbor is a row of lldpRemTable, lldpV2RemTable, cdpCacheTable, snFdpCacheTable or extremeEdpTable.
type Neighbor struct {
	LocalPort string // Port.ID
	Chassis   Identifier
	Port      Identifier
	PortDesc  string
	SysName   string
	Addresses []netip.Addr // management addresses
	Protocol  string       // LLDP, LLDPV2, CDP, FDP or EDP
}

func (p *Port) isDown() bool {
	return p.Oper == 2 || p.Oper == 7
}
