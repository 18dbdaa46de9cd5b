// Package traps receives SNMP notifications: traps of versions 1, 2c and 3, and informs, which it
// answers. gosnmp reads the messages; Decoder decides who is believed, and Receiver is the socket
// around it. kinds is the table of what a notification makes the plugin read again.
//
// Only switches of the list are believed, and only they are ever answered: the source address must
// be listed and the message must carry that switch's community, or be made with its version 3 user.
// Everything that is kept is bounded.
package traps

import (
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/gosnmp/gosnmp"

	"ctl.internal/plugins/switch/mib"
)

// Kind is what a notification reports, by the name its MIB gives it.
type Kind string

// The kinds that report links, and those that are not understood.
const (
	LinkDown Kind = "linkDown"
	LinkUp   Kind = "linkUp"
	Other    Kind = "other"
)

// Effect is what is read again of the switch.
type Effect struct {
	Ports     bool // the states of its ports
	Neighbors bool // its neighbours, even if the switch says that none has changed
	Repeat    bool // a few times more: neighbours appear some time after
}

// kinds are the notifications that are understood, by the value of snmpTrapOID: SNMPv2-MIB (RFC 3418),
// LLDP-MIB and LLDP-V2-MIB (IEEE 802.1AB), BRIDGE-MIB (RFC 4188). Some version 1 agents leave out the 0
// before the last arc of an enterprise's own traps, and some firmware adds an instance.
var kinds = func() map[string]kind {
	table := map[string]kind{}
	for _, k := range []struct {
		kind
		oids string
	}{
		{kind{"coldStart", Effect{true, true, true}}, "1.3.6.1.6.3.1.1.5.1"},
		{kind{"warmStart", Effect{true, true, true}}, "1.3.6.1.6.3.1.1.5.2"},
		{kind{LinkDown, Effect{Ports: true}}, "1.3.6.1.6.3.1.1.5.3 1.3.6.1.6.3.1.1.5.3.0"},
		{kind{LinkUp, Effect{true, true, true}}, "1.3.6.1.6.3.1.1.5.4 1.3.6.1.6.3.1.1.5.4.0"},
		{kind{"authenticationFailure", Effect{}}, "1.3.6.1.6.3.1.1.5.5"},
		{kind{"lldpRemTablesChange", Effect{
			Ports:     true,
			Neighbors: true,
		}},
			"1.0.8802.1.1.2.0.0.1 1.0.8802.1.1.2.0.1 1.3.111.2.802.1.1.13.0.0.1 1.3.111.2.802.1.1.13.0.1"},
		{kind{"newRoot", Effect{Ports: true}}, "1.3.6.1.2.1.17.0.1 1.3.6.1.2.1.17.0.0.1"},
		{kind{"topologyChange", Effect{Ports: true}}, "1.3.6.1.2.1.17.0.2 1.3.6.1.2.1.17.0.0.2"},
	} {
		for oid := range strings.FieldsSeq(k.oids) {
			table[oid] = k.kind
		}
	}
	return table
}()

type kind struct {
	name   Kind
	effect Effect
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
	// Of linkUp and linkDown; 0 when not reported.
	IfIndex uint32 `json:"if-index,omitempty"`
	Admin   int32  `json:"admin,omitempty"`
	Oper    int32  `json:"oper,omitempty"`
	// Nodes are all switches it may be of: one, or several at one address.
	Nodes  []mib.MAC `json:"-"`
	Effect Effect    `json:"-"`
}

// The variable bindings that are read.
const (
	snmpTrapOID   = ".1.3.6.1.6.3.1.1.4.1.0"
	snmpTraps     = "1.3.6.1.6.3.1.1.5" // the parent of the standard notifications (RFC 3418)
	ifEntry       = ".1.3.6.1.2.1.2.2.1"
	ifIndex       = 1 // columns of ifEntry
	ifAdminStatus = 7
	ifOperStatus  = 8
)

// enterpriseSpecific is the generic-trap of version 1 traps that are not standard.
const enterpriseSpecific = 6

// readNotification fills a Trap from a notification; false: the message is not a notification.
func (t *Trap) readNotification(p *gosnmp.SnmpPacket) bool {
	rest := p.Variables
	ticks := uint32(0)
	switch p.PDUType {
	case gosnmp.Trap: // of version 1: the value that snmpTrapOID has for it is RFC 3584 section 3.1
		if p.Version != gosnmp.Version1 ||
			p.GenericTrap < 0 ||
			p.GenericTrap > enterpriseSpecific ||
			p.Enterprise == "" {
			return false
		}
		t.OID, ticks = fmt.Sprintf("%s.%d", snmpTraps, p.GenericTrap+1), uint32(p.Timestamp)
		if p.GenericTrap == enterpriseSpecific {
			t.OID = fmt.Sprintf(
				"%s.0.%d",
				strings.TrimPrefix(p.Enterprise, "."),
				uint32(p.SpecificTrap),
			)
		}
	case gosnmp.SNMPv2Trap, gosnmp.InformRequest:
		if p.Version == gosnmp.Version1 {
			return false
		}
		if len(rest) > 0 && rest[0].Name == mib.SysUpTime && rest[0].Type == gosnmp.TimeTicks {
			ticks, _ = rest[0].Value.(uint32)
			rest = rest[1:]
		}
		if len(rest) == 0 ||
			rest[0].Name != snmpTrapOID ||
			rest[0].Type != gosnmp.ObjectIdentifier {
			return false
		}
		oid, _ := rest[0].Value.(string)
		t.OID, rest = strings.TrimPrefix(oid, "."), rest[1:]
	default:
		return false
	}
	t.Version = map[gosnmp.SnmpVersion]string{
		gosnmp.Version1:  "1",
		gosnmp.Version2c: "2c",
		gosnmp.Version3:  "3",
	}[p.Version]
	t.Inform, t.UpTime = p.PDUType == gosnmp.InformRequest, time.Duration(ticks)*10*time.Millisecond
	k, ok := kinds[t.OID]
	if !ok {
		k.name = Other
	}
	if t.Kind, t.Effect = k.name, k.effect; t.Kind == LinkUp || t.Kind == LinkDown {
		t.findInterface(rest)
	}
	return t.OID != ""
}

// findInterface finds the interface: in the value of ifIndex, else in the instance of any
// column of ifTable that came along.
func (t *Trap) findInterface(list []gosnmp.SnmpPDU) {
	for _, vb := range list {
		arcs, ok := mib.Under(ifEntry, vb.Name, nil)
		if !ok || len(arcs) != 2 {
			continue
		}
		n, _ := vb.Value.(int)
		switch number := vb.Type == gosnmp.Integer && n > 0; {
		case arcs[0] == ifIndex && number:
			t.IfIndex = uint32(n)
			continue
		case arcs[0] == ifAdminStatus && number:
			t.Admin = int32(n)
		case arcs[0] == ifOperStatus && number:
			t.Oper = int32(n)
		}
		if t.IfIndex == 0 {
			t.IfIndex = arcs[1]
		}
	}
}

// Summary is the trap in a few words, for people.
func (t *Trap) Summary() string {
	s := string(t.Kind)
	if t.Kind == Other {
		s = t.OID
	}
	if t.IfIndex != 0 {
		s += fmt.Sprintf(" ifIndex %d", t.IfIndex)
	}
	return s
}
