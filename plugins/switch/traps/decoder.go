package traps

import (
	"bytes"
	"crypto/rand"
	"crypto/subtle"
	"fmt"
	"maps"
	"net/netip"
	"strings"
	"time"

	"github.com/gosnmp/gosnmp"

	"ctl.internal/plugins/switch/mib"
	"ctl.internal/plugins/switch/snmp"
	"ctl.internal/plugins/switch/switchlist"
)

// Verdict is what became of a message.
type Verdict int

// Accepted messages are traps. The others are counted and nothing else happens.
const (
	Accepted      Verdict = iota
	Asked                 // a version 3 sender was answered with our engine, or with our time
	UnknownSource         // the address is not in the switch list
	NotAuthentic          // wrong community, user, digest or level
	Replayed              // a version 3 message from the past
	Malformed             // no message, or none that belongs here
)

// Engine is this receiver as an SNMP engine (RFC 3411 section 3.1.1): informs of
// version 3 are addressed to it.
type Engine struct {
	ID      []byte // 5 to 32 octets
	Boots   int    // how often it was started
	Started time.Time
}

// timeWindow is how far the time of a message may be off (RFC 3414 section 2.2.3).
const timeWindow = 150 * time.Second

// The counters that reports carry: usmStats of RFC 3414.
const (
	notInTimeWindows = 2
	unknownEngineIDs = 4
)

// The bounds: octets of a message that we take, engines remembered for one address, and switches at one
// address that a trap may be of.
const (
	maxMessage = 65507
	maxEngines = 4
	maxAlike   = 16
)

// Decoder reads messages and decides about them. It is used by one goroutine.
type Decoder struct {
	engine  Engine
	senders map[netip.Addr][]*switchlist.Entry
	clocks  map[netip.Addr][]clock
	proved  *Clocks // nil: nothing is
	reports map[int]uint32
}

// NewDecoder makes a Decoder; engine is who we are to senders of version 3 informs, proved are the times of other
// engines that are known otherwise, or nil.
func NewDecoder(engine Engine, proved *Clocks) *Decoder {
	return &Decoder{
		engine:  engine,
		proved:  proved,
		clocks:  map[netip.Addr][]clock{},
		reports: map[int]uint32{},
	}
}

// SetSenders replaces the switches that are believed, and forgets what was kept of others.
func (d *Decoder) SetSenders(list []switchlist.Entry) {
	d.senders = make(map[netip.Addr][]*switchlist.Entry, len(list))
	for i := range list {
		a := list[i].Address.Unmap()
		d.senders[a] = append(d.senders[a], &list[i])
	}
	d.proved.keepAddresses(func(a netip.Addr) bool { return len(d.senders[a]) > 0 })
	maps.DeleteFunc(d.clocks, func(a netip.Addr, _ []clock) bool {
		return len(d.senders[a]) == 0
	})
}

// Decode reads a message that came at a time from an address. reply is to be sent
// back unless it is nil; t is set when the verdict is Accepted.
func (d *Decoder) Decode(
	now time.Time,
	from netip.AddrPort,
	msg []byte,
) (t *Trap, reply []byte, v Verdict) {
	listed := d.senders[from.Addr().Unmap()]
	if len(listed) == 0 {
		return nil, nil, UnknownSource
	}
	t = &Trap{At: now, From: from}
	p, err := snmp.Unmarshal(&gosnmp.UsmSecurityParameters{}, msg, false)
	var sender []*switchlist.Entry
	if err == nil && p.Version != gosnmp.Version3 {
		sender, reply, v = decodeCommunity(t, p, listed, msg)
	} else {
		sender, reply, v = d.decodeV3(t, p, listed, msg)
	}
	if v != Accepted {
		return nil, reply, v
	}
	t.Nodes = nodesOf(sender, from)
	if len(t.Nodes) == 1 {
		t.Node = t.Nodes[0]
	}
	return t, reply, Accepted
}

// listedAt are the switches of the list at an address.
func (d *Decoder) listedAt(from netip.AddrPort) string {
	var names []string
	for _, m := range nodesOf(d.senders[from.Addr().Unmap()], from) {
		names = append(names, m.String())
	}
	return strings.Join(names, ", ")
}

// decodeCommunity reads messages of versions 1 and 2c.
func decodeCommunity(
	t *Trap,
	p *gosnmp.SnmpPacket,
	listed []*switchlist.Entry,
	msg []byte,
) ([]*switchlist.Entry, []byte, Verdict) {
	sender := filterEntries(listed, func(e *switchlist.Entry) bool {
		return matchesSecret(p.Community, e.ReadCommunity) ||
			matchesSecret(p.Community, e.WriteCommunity)
	})
	switch {
	case len(sender) == 0:
		return nil, nil, NotAuthentic
	case !t.readNotification(p):
		return nil, nil, Malformed
	case !t.Inform:
		return sender, nil, Accepted
	}
	// The answer is the message again, as a response (RFC 3416 section 4.2.7).
	reply := bytes.Clone(msg)
	head := append([]byte{byte(gosnmp.OctetString), byte(len(p.Community))}, p.Community...)
	i := bytes.Index(reply, head) + len(head)
	if i < len(head) || i >= len(reply) || reply[i] != byte(gosnmp.InformRequest) {
		return nil, nil, Malformed
	}
	reply[i] = byte(gosnmp.GetResponse)
	return sender, reply, Accepted
}

func matchesSecret(got, want string) bool {
	return want != "" && subtle.ConstantTimeCompare([]byte(got), []byte(want)) == 1
}

// decodeV3 is RFC 3414 section 3.2 for a receiver: the authority for traps is their sender, for informs it is
// us. p is the message if it needs no keys to be read, else nil.
func (d *Decoder) decodeV3(
	t *Trap,
	p *gosnmp.SnmpPacket,
	listed []*switchlist.Entry,
	msg []byte,
) ([]*switchlist.Entry, []byte, Verdict) {
	users := filterEntries(listed, func(e *switchlist.Entry) bool {
		return e.V3User != ""
	})
	switch {
	case len(users) == 0 && p == nil:
		return nil, nil, Malformed
	case len(users) == 0:
		return nil, nil, NotAuthentic
	}
	plain := p
	// Several switches may share the address and the user.
	sender := filterEntries(users, func(e *switchlist.Entry) bool {
		target := snmp.Target{
			User:         e.V3User,
			AuthProtocol: e.V3AuthProtocol,
			AuthPassword: e.V3AuthPassword,
			PrivProtocol: e.V3PrivProtocol,
			PrivPassword: e.V3PrivPassword,
		}
		made := plain
		if target.Level() != gosnmp.NoAuthNoPriv {
			var err error
			if made, err = snmp.Unmarshal(target.Security(), msg, true); err != nil {
				return false
			}
		}
		if made == nil ||
			made.Version != gosnmp.Version3 ||
			made.MsgFlags&gosnmp.AuthPriv != target.Level() ||
			usmParameters(made).UserName != e.V3User {
			return false // the list asks for as much protection as the user has
		}
		p = made
		return true
	})
	if p == nil {
		return nil, nil, NotAuthentic
	}
	sp := usmParameters(p)
	ours := sp.AuthoritativeEngineID == string(d.engine.ID)
	switch {
	case p.MsgFlags&gosnmp.Reportable != 0 && !ours: // who are you?
		return nil, d.makeReport(t.At, p, gosnmp.NoAuthNoPriv, unknownEngineIDs), Asked
	case len(sender) == 0:
		return nil, nil, NotAuthentic
	case len(sp.AuthoritativeEngineID) < 5:
		return nil, nil, Malformed
	case p.MsgFlags&gosnmp.AuthNoPriv == 0:
	case ours && !d.inTime(t.At, sp): // what time is it?
		return nil, d.makeReport(t.At, p, gosnmp.AuthNoPriv, notInTimeWindows), Asked
	case !ours && !d.isFreshMessage(t.At, t.From.Addr().Unmap(), sp):
		return nil, nil, Replayed
	}
	if !t.readNotification(p) || t.Inform != ours {
		return nil, nil, Malformed
	}
	if !t.Inform {
		return sender, nil, Accepted
	}
	reply := d.makeAnswer(t.At, p, p.MsgFlags&gosnmp.AuthPriv, gosnmp.GetResponse, p.Variables)
	if reply == nil {
		return nil, nil, Malformed // it has a value that cannot be sent back
	}
	return sender, reply, Accepted
}

func usmParameters(p *gosnmp.SnmpPacket) *gosnmp.UsmSecurityParameters {
	return p.SecurityParameters.(*gosnmp.UsmSecurityParameters)
}

// inTime checks a message to us against our own clock.
func (d *Decoder) inTime(now time.Time, sp *gosnmp.UsmSecurityParameters) bool {
	off := time.Duration(sp.AuthoritativeEngineTime)*time.Second - now.Sub(d.engine.Started)
	return int(sp.AuthoritativeEngineBoots) == d.engine.Boots && off.Abs() <= timeWindow
}

// makeReport gives a sender what it needs to be understood: our engine id, or, with the user's keys, our time.
// Reports are the only answers to those who did not prove who they are; they go to listed addresses only.
func (d *Decoder) makeReport(
	now time.Time,
	p *gosnmp.SnmpPacket,
	level gosnmp.SnmpV3MsgFlags,
	counter int,
) []byte {
	d.reports[counter]++
	return d.makeAnswer(now, p, level, gosnmp.Report, []gosnmp.SnmpPDU{
		{
			Name:  fmt.Sprintf(".1.3.6.1.6.3.15.1.1.%d.0", counter),
			Type:  gosnmp.Counter32,
			Value: d.reports[counter],
		}})
}

// makeAnswer makes a message of this engine that answers p; nil when that is impossible.
func (d *Decoder) makeAnswer(
	now time.Time,
	p *gosnmp.SnmpPacket,
	level gosnmp.SnmpV3MsgFlags,
	kind gosnmp.PDUType,
	list []gosnmp.SnmpPDU,
) []byte {
	sp := usmParameters(p).Copy().(*gosnmp.UsmSecurityParameters)
	if sp.AuthoritativeEngineID != string(d.engine.ID) {
		sp.AuthoritativeEngineID, sp.SecretKey, sp.PrivacyKey = string(d.engine.ID), nil, nil
	}
	sp.AuthoritativeEngineBoots, sp.AuthoritativeEngineTime = uint32(d.engine.Boots), uint32(now.Sub(d.engine.Started).Seconds())
	sp.PrivacyParameters = make([]byte, 8)
	_, _ = rand.Read(sp.PrivacyParameters) // never fails
	out := gosnmp.SnmpPacket{
		Version:            gosnmp.Version3,
		MsgID:              p.MsgID,
		MsgMaxSize:         maxMessage,
		MsgFlags:           level,
		SecurityModel:      gosnmp.UserSecurityModel,
		SecurityParameters: sp,
		PDUType:            kind,
		RequestID:          p.RequestID,
		Variables:          list,
		ContextEngineID:    p.ContextEngineID,
		ContextName:        p.ContextName,
	} // the context of the question (RFC 3412 section 7.1)
	if out.ContextEngineID == "" || level == gosnmp.NoAuthNoPriv {
		out.ContextEngineID = string(d.engine.ID)
	}
	b, err := out.MarshalMsg()
	if err != nil {
		return nil
	}
	return b
}

func filterEntries(list []*switchlist.Entry, f func(*switchlist.Entry) bool) []*switchlist.Entry {
	var out []*switchlist.Entry
	for _, e := range list {
		if f(e) {
			out = append(out, e)
		}
	}
	return out
}

// nodesOf says of which switch a trap is. Several at one address are distinguished by
// the port the agent sends from, where that is the port it is asked at.
func nodesOf(list []*switchlist.Entry, from netip.AddrPort) []mib.MAC {
	if len(list) > 1 {
		at := filterEntries(list, func(e *switchlist.Entry) bool {
			return e.Port == from.Port()
		})
		if len(at) > 0 {
			list = at
		}
	}
	if len(list) > maxAlike {
		return nil
	}
	out := make([]mib.MAC, len(list))
	for i := range list {
		out[i] = list[i].MAC
	}
	return out
}
