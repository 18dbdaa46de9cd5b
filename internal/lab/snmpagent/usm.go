package snmpagent

import (
	"errors"
	"strings"

	"github.com/gosnmp/gosnmp"

	"ctl.internal/internal/lab/faults"
	"ctl.internal/internal/lab/snmpwire"
)

// timeWindow is how far a message's time may be off, seconds (RFC 3414 section 2.2.3).
const timeWindow = 150

// The counters that reports carry: usmStats of RFC 3414, snmpUnknownContexts
// of RFC 3413.
const (
	usmStats             = "1.3.6.1.6.3.15.1.1."
	unsupportedSecLevels = usmStats + "1.0"
	notInTimeWindows     = usmStats + "2.0"
	unknownUserNames     = usmStats + "3.0"
	unknownEngineIDs     = usmStats + "4.0"
	wrongDigests         = usmStats + "5.0"
	decryptionErrors     = usmStats + "6.0"
	unknownContexts      = "1.3.6.1.6.3.12.1.5.0"
)

// engineTime returns snmpEngineBoots and snmpEngineTime, seconds.
func (a *Agent) engineTime() (boots, seconds int) {
	l := a.life.Load()
	return l.boots, int(a.cfg.Clock().Sub(l.started).Seconds())
}

// handleV3 is the agent's side of RFC 3414 section 3.2.
func (a *Agent) handleV3(f *faults.Set, in []byte) []byte {
	m, err := snmpwire.DecodeV3(in, nil)
	switch {
	case err != nil && !errors.Is(err, snmpwire.ErrSealed):
		a.badBER.Add(1)
		return nil
	case m.MsgFlags&gosnmp.Reportable == 0 && a.deliverInformResponse(in), len(a.users) == 0:
		return nil
	}
	if m.USM().AuthoritativeEngineID != string(a.cfg.EngineID) {
		return a.reportCounter(m, nil, unknownEngineIDs)
	}
	u, ok := a.users[m.USM().UserName]
	if !ok {
		return a.refuseUser(m, unknownUserNames)
	}
	level := m.MsgFlags & gosnmp.AuthPriv
	if level&^u.Level() != 0 {
		return a.refuseUser(m, unsupportedSecLevels)
	}
	keys := u.keys()
	if level != gosnmp.NoAuthNoPriv {
		head := m
		m, err = snmpwire.DecodeV3(in, keys)
		if err != nil &&
			strings.Contains(strings.ToLower(err.Error()), "authentic") { // gosnmp says so in texts only
			return a.refuseUser(head, wrongDigests)
		}
		boots, now := a.engineTime()
		at := head.USM()
		off := int(at.AuthoritativeEngineTime) - now
		if int(at.AuthoritativeEngineBoots) != boots || off > timeWindow || off < -timeWindow {
			return a.reportCounter(head, keys, notInTimeWindows)
		}
		if err != nil {
			a.badBER.Add(1)
			return a.reportCounter(head, keys, decryptionErrors)
		}
	}
	mib, view := a.cfg.Views[m.ContextName]
	if !view {
		mib = a.cfg.MIB
	}
	if m.ContextName != "" && !view {
		return a.reportCounter(m, keys, unknownContexts)
	}
	q := request{
		agent:  a,
		mib:    mib,
		faults: f,
		write:  !u.ReadOnly,
	}
	q.room = q.limitMessage(min(a.cfg.MaxMessage, int(m.MsgMaxSize))) - 240
	if u.Level()&^level != 0 { // VACM: the user may not come with less than it has
		refused := snmpwire.RawPDU{
			Type:      snmpwire.Response,
			RequestID: m.PDU.RequestID,
		}
		return a.sealMessage(
			m,
			keys,
			level,
			q.refusePDU(refused, m.PDU, snmpwire.AuthorizationError, 0),
		)
	}
	pdu, ok := q.answerPDU(m.PDU)
	if !ok {
		return nil
	}
	return a.sealMessage(m, keys, level, pdu)
}

// refuseUser counts and reports a message of a user who is not who they say.
func (a *Agent) refuseUser(m *snmpwire.MessageV3, counter string) []byte {
	a.badAuth.Add(1)
	return a.reportCounter(m, nil, counter)
}

// reportCounter says why a message was not accepted. It is authenticated where the caller passes keys.
func (a *Agent) reportCounter(m *snmpwire.MessageV3, keys *snmpwire.Keys, counter string) []byte {
	if m.MsgFlags&gosnmp.Reportable == 0 {
		return nil
	}
	level := m.MsgFlags & gosnmp.AuthNoPriv
	if keys == nil {
		level = gosnmp.NoAuthNoPriv
		keys = &snmpwire.Keys{
			UserName:              m.USM().UserName,
			AuthoritativeEngineID: string(a.cfg.EngineID),
		}
	}
	pdu := snmpwire.PDU{
		Type:      snmpwire.Report,
		RequestID: m.PDU.RequestID,
		VarBinds: []snmpwire.VarBind{
			{
				Name:  snmpwire.MustOID(counter),
				Value: snmpwire.Unsigned(snmpwire.Counter32, a.badAuth.Load()+1),
			}},
	}
	return a.sealMessage(m, keys, level, pdu.Raw())
}

// sealMessage writes a message of this engine that answers m.
func (a *Agent) sealMessage(m *snmpwire.MessageV3, keys *snmpwire.Keys, level gosnmp.SnmpV3MsgFlags,
	pdu snmpwire.RawPDU) []byte {
	boots, now := a.engineTime()
	out, err := snmpwire.EncodeV3(gosnmp.SnmpPacket{
		MsgID:           m.MsgID,
		MsgFlags:        level,
		ContextEngineID: string(a.cfg.EngineID),
		ContextName:     m.ContextName,
	}, keys, boots, now, pdu)
	if err != nil {
		return nil // a value that gosnmp does not know
	}
	return out
}
