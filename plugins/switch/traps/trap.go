package traps

import (
	"net/netip"
	"strings"
	"time"

	"ctl.internal/internal/snmpwire"
	"ctl.internal/plugins/switch/mib"
)

// Kind is what a notification tells, by the name its MIB gives it.
type Kind string

// The kinds that are understood; everything else is Other.
const (
	ColdStart             Kind = "coldStart"
	WarmStart             Kind = "warmStart"
	LinkDown              Kind = "linkDown"
	LinkUp                Kind = "linkUp"
	AuthenticationFailure Kind = "authenticationFailure"
	RemTablesChange       Kind = "lldpRemTablesChange"
	NewRoot               Kind = "newRoot"
	TopologyChange        Kind = "topologyChange"
	Other                 Kind = "other"
)

// kinds are the values of snmpTrapOID: SNMPv2-MIB (RFC 3418), LLDP-MIB and
// LLDP-V2-MIB (IEEE 802.1AB), BRIDGE-MIB (RFC 4188).
var kinds = map[string]Kind{
	"1.3.6.1.6.3.1.1.5.1":        ColdStart,
	"1.3.6.1.6.3.1.1.5.2":        WarmStart,
	"1.3.6.1.6.3.1.1.5.3":        LinkDown,
	"1.3.6.1.6.3.1.1.5.4":        LinkUp,
	"1.3.6.1.6.3.1.1.5.5":        AuthenticationFailure,
	"1.0.8802.1.1.2.0.0.1":       RemTablesChange,
	"1.3.111.2.802.1.1.13.0.0.1": RemTablesChange,
	"1.3.6.1.2.1.17.0.1":         NewRoot,
	"1.3.6.1.2.1.17.0.2":         TopologyChange,
	"1.3.6.1.2.1.17.0.0.1":       NewRoot, // as some version 1 agents send them
	"1.3.6.1.2.1.17.0.0.2":       TopologyChange,
	"1.0.8802.1.1.2.0.1":         RemTablesChange,
	"1.3.111.2.802.1.1.13.0.1":   RemTablesChange,
	"1.3.6.1.6.3.1.1.5.3.0":      LinkDown, // as some firmware sends them, with an instance
	"1.3.6.1.6.3.1.1.5.4.0":      LinkUp,
}

// Trap is a notification of a switch of the list.
type Trap struct {
	At      time.Time      `json:"at"`
	From    netip.AddrPort `json:"from"`
	Node    mib.MAC        `json:"node,omitempty"` // 0 when several switches of the list have this address
	Version string         `json:"version"`        // "1", "2c", "3"
	Inform  bool           `json:"inform,omitempty"`
	Kind    Kind           `json:"kind"`
	OID     string         `json:"oid"` // snmpTrapOID, without a leading dot
	UpTime  time.Duration  `json:"uptime"`
	// Of linkUp and linkDown; 0 when not told.
	IfIndex uint32 `json:"if-index,omitempty"`
	Admin   int32  `json:"admin,omitempty"`
	Oper    int32  `json:"oper,omitempty"`
	// Nodes are all switches it may be of: one, or several at one address.
	Nodes []mib.MAC `json:"-"`
}

// The variable bindings that are read.
var (
	sysUpTime   = snmpwire.OID{1, 3, 6, 1, 2, 1, 1, 3, 0}
	snmpTrapOID = snmpwire.OID{1, 3, 6, 1, 6, 3, 1, 1, 4, 1, 0}
	ifEntry     = snmpwire.OID{1, 3, 6, 1, 2, 1, 2, 2, 1}
)

// The columns of ifEntry that are read.
const (
	ifIndex       = 1
	ifAdminStatus = 7
	ifOperStatus  = 8
)

// read fills a Trap from what a message carried.
func (t *Trap) read(oid snmpwire.OID, ticks uint32, list []snmpwire.VarBind) {
	t.OID = oid.String()
	t.UpTime = time.Duration(ticks) * 10 * time.Millisecond
	if t.Kind = kinds[t.OID]; t.Kind == "" {
		t.Kind = Other
	}
	if t.Kind == LinkUp || t.Kind == LinkDown {
		t.link(list)
	}
}

// link finds the interface: in the value of ifIndex, else in the instance of any
// column of ifTable that came along.
func (t *Trap) link(list []snmpwire.VarBind) {
	for _, vb := range list {
		if !vb.Name.HasPrefix(ifEntry) || len(vb.Name) != len(ifEntry)+2 {
			continue
		}
		column, instance := vb.Name[len(ifEntry)], vb.Name[len(ifEntry)+1]
		number := vb.Value.Tag == snmpwire.Integer && vb.Value.Int > 0
		switch {
		case column == ifIndex && number:
			t.IfIndex = uint32(vb.Value.Int)
			continue
		case column == ifAdminStatus && number:
			t.Admin = int32(vb.Value.Int)
		case column == ifOperStatus && number:
			t.Oper = int32(vb.Value.Int)
		}
		if t.IfIndex == 0 {
			t.IfIndex = instance
		}
	}
}

// notification reads what versions 2c and 3 put in front of the other bindings.
func notification(p snmpwire.PDU) (oid snmpwire.OID, ticks uint32, rest []snmpwire.VarBind, ok bool) {
	rest = p.VarBinds
	if len(rest) > 0 && rest[0].Name.Compare(sysUpTime) == 0 && rest[0].Value.Tag == snmpwire.TimeTicks {
		ticks, rest = uint32(rest[0].Value.Int), rest[1:]
	}
	if len(rest) == 0 || rest[0].Name.Compare(snmpTrapOID) != 0 || rest[0].Value.Tag != snmpwire.ObjectID {
		return nil, 0, nil, false
	}
	return rest[0].Value.OID, ticks, rest[1:], true
}

// Summary is the trap in a few words, for people.
func (t *Trap) Summary() string {
	s := string(t.Kind)
	if t.Kind == Other {
		s = t.OID
	}
	if t.IfIndex != 0 {
		s += " ifIndex " + uintText(t.IfIndex)
	}
	return strings.TrimSpace(s)
}
