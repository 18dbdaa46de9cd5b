package traps

import (
	"errors"
	"net/netip"
	"time"

	"ctl.internal/internal/snmpwire"
	"ctl.internal/plugins/switch/switchlist"
)

// Verdict is what became of a message.
type Verdict int

// Accepted messages are traps. The others are counted and nothing else happens.
const (
	Accepted      Verdict = iota
	Asked                 // a version 3 sender asked who we are, or was told its time is off
	UnknownSource         // the address is not in the switch list
	NotAuthentic          // wrong community, user, digest or level
	Replayed              // a version 3 message from the past
	Malformed             // no message, or none that belongs here
)

// Desk decides about messages. It is used by one goroutine.
type Desk struct {
	senders Senders
	usm     *usm
}

// NewDesk makes a Desk; engine is who we are to senders of version 3 informs.
func NewDesk(engine Engine) *Desk { return &Desk{usm: newUSM(engine)} }

// SetSenders replaces the switches that are believed.
func (d *Desk) SetSenders(s Senders) {
	d.senders = s
	d.usm.forget(s)
}

var errNoTrap = errors.New("not a notification")

// Handle reads a message that came at a time from an address. reply is to be sent
// back unless it is nil; t is set when the verdict is Accepted.
func (d *Desk) Handle(now time.Time, from netip.AddrPort, msg []byte) (t *Trap, reply []byte, v Verdict) {
	listed := d.senders[from.Addr().Unmap()]
	if len(listed) == 0 {
		return nil, nil, UnknownSource
	}
	version, err := snmpwire.Version(msg)
	if err != nil {
		return nil, nil, Malformed
	}
	t = &Trap{At: now, From: from}
	var sender []*switchlist.Entry
	switch version {
	case snmpwire.Version1:
		sender, v = d.v1(t, listed, msg)
	case snmpwire.Version2c:
		sender, reply, v = d.v2c(t, listed, msg)
	case snmpwire.Version3:
		sender, reply, v = d.v3(t, listed, msg)
	default:
		v = Malformed
	}
	if v != Accepted {
		return nil, reply, v
	}
	t.Nodes = nodes(sender, from)
	if len(t.Nodes) == 1 {
		t.Node = t.Nodes[0]
	}
	return t, reply, Accepted
}

func (d *Desk) v1(t *Trap, listed []*switchlist.Entry, msg []byte) ([]*switchlist.Entry, Verdict) {
	community, trap, err := snmpwire.DecodeTrapV1(msg)
	if err != nil {
		return nil, Malformed
	}
	sender := withCommunity(listed, community)
	if len(sender) == 0 {
		return nil, NotAuthentic
	}
	t.Version = "1"
	t.read(trap.OID(), trap.Time, trap.VarBinds)
	return sender, Accepted
}

func (d *Desk) v2c(t *Trap, listed []*switchlist.Entry, msg []byte) ([]*switchlist.Entry, []byte, Verdict) {
	m, err := snmpwire.DecodeCommunity(msg)
	if err != nil {
		return nil, nil, Malformed
	}
	sender := withCommunity(listed, m.Community)
	if len(sender) == 0 {
		return nil, nil, NotAuthentic
	}
	answer, err := t.pdu("2c", m.PDU)
	if err != nil {
		return nil, nil, Malformed
	}
	if answer == nil {
		return sender, nil, Accepted
	}
	return sender, snmpwire.EncodeCommunity(m.Version, m.Community, answer.Raw()), Accepted
}

// pdu reads a notification of version 2c or 3; answer is what an inform wants back
// (RFC 3416 section 4.2.7).
func (t *Trap) pdu(version string, p snmpwire.PDU) (answer *snmpwire.PDU, err error) {
	if p.Type != snmpwire.TrapV2 && p.Type != snmpwire.InformRequest {
		return nil, errNoTrap
	}
	oid, ticks, rest, ok := notification(p)
	if !ok {
		return nil, errNoTrap
	}
	t.Version, t.Inform = version, p.Type == snmpwire.InformRequest
	t.read(oid, ticks, rest)
	if t.Inform {
		return &snmpwire.PDU{Type: snmpwire.Response, RequestID: p.RequestID, VarBinds: p.VarBinds}, nil
	}
	return nil, nil
}
