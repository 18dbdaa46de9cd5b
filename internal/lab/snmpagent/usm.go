package snmpagent

import (
	"bytes"
	"errors"

	"ctl.internal/internal/lab/faults"
	"ctl.internal/internal/lab/snmpwire"
)

// timeWindow is how far a message's time may be off, seconds (RFC 3414 section 2.2.3).
const timeWindow = 150

// The counters that reports carry: usmStats of RFC 3414, snmpUnknownContexts
// of RFC 3413.
const (
	usmStats                  = "1.3.6.1.6.3.15.1.1."
	unsupportedSecLevels      = usmStats + "1.0"
	notInTimeWindows          = usmStats + "2.0"
	unknownUserNames          = usmStats + "3.0"
	unknownEngineIDs          = usmStats + "4.0"
	wrongDigests              = usmStats + "5.0"
	decryptionErrors          = usmStats + "6.0"
	unknownContexts           = "1.3.6.1.6.3.12.1.5.0"
	securityFlags        byte = snmpwire.FlagAuth | snmpwire.FlagPriv
)

// engineTime returns snmpEngineBoots and snmpEngineTime, seconds.
func (a *Agent) engineTime() (boots, seconds int) {
	l := a.life.Load()
	return l.boots, int(a.cfg.Clock().Sub(l.started).Seconds())
}

// handleV3 is the agent's side of RFC 3414 section 3.2.
func (a *Agent) handleV3(f *faults.Set, in []byte) []byte {
	m, err := snmpwire.DecodeV3(in)
	if err != nil {
		a.badBER.Add(1)
		return nil
	}
	if a.deliverV3(m) || len(a.keys) == 0 {
		return nil
	}
	if !bytes.Equal(m.EngineID, a.cfg.EngineID) {
		return a.report(m, nil, unknownEngineIDs)
	}
	lazy, ok := a.keys[m.User]
	if !ok {
		a.badAuth.Add(1)
		return a.report(m, nil, unknownUserNames)
	}
	user := lazy.user
	if m.Flags&snmpwire.FlagAuth != 0 && user.Auth == snmpwire.NoAuth ||
		m.Flags&snmpwire.FlagPriv != 0 && user.Priv == snmpwire.NoPriv {
		a.badAuth.Add(1)
		return a.report(m, nil, unsupportedSecLevels)
	}
	keys := lazy.get(a.cfg.EngineID)
	if m.Flags&snmpwire.FlagAuth != 0 {
		if m.Verify(keys) != nil {
			a.badAuth.Add(1)
			return a.report(m, nil, wrongDigests)
		}
		boots, now := a.engineTime()
		if off := m.Time - now; m.Boots != boots || off > timeWindow || off < -timeWindow {
			return a.report(m, keys, notInTimeWindows)
		}
	}
	if err := m.Open(keys); err != nil {
		a.badBER.Add(1)
		if m.Flags&snmpwire.FlagPriv != 0 {
			return a.report(m, nil, decryptionErrors)
		}
		return nil
	}
	if _, view := a.cfg.Views[string(m.Context)]; len(m.Context) > 0 && !view {
		return a.report(m, keys, unknownContexts)
	}
	return a.answerV3(f, m, keys)
}

func (a *Agent) answerV3(f *faults.Set, m *snmpwire.V3, keys *snmpwire.Keys) []byte {
	mib, view := a.cfg.Views[string(m.Context)]
	if !view {
		mib = a.cfg.MIB
	}
	q := request{agent: a, mib: mib, faults: f, write: !keys.User.ReadOnly}
	q.room = q.limit(min(a.cfg.MaxMessage, m.MaxSize)) - 240
	var pdu snmpwire.RawPDU
	if required(keys.User)&^m.Flags != 0 { // VACM: the user may not come with less than it has
		pdu = q.refuse(snmpwire.RawPDU{Type: snmpwire.Response, RequestID: m.PDU.RequestID}, m.PDU, snmpwire.AuthorizationError, 0)
	} else {
		var ok bool
		if pdu, ok = q.answer(m.PDU); !ok {
			return nil
		}
	}
	return a.seal(m, keys, m.Flags&securityFlags, pdu)
}

func required(u *snmpwire.User) byte {
	switch {
	case u.Priv != snmpwire.NoPriv:
		return securityFlags
	case u.Auth != snmpwire.NoAuth:
		return snmpwire.FlagAuth
	}
	return 0
}

// report says why a message was not accepted. Only a time report is
// authenticated; the caller passes keys then.
func (a *Agent) report(m *snmpwire.V3, keys *snmpwire.Keys, counter string) []byte {
	if m.Flags&snmpwire.FlagReportable == 0 {
		return nil
	}
	var flags byte
	if keys != nil {
		flags = m.Flags & snmpwire.FlagAuth
	}
	if m.PDU.Type == 0 && m.Flags&snmpwire.FlagPriv == 0 && m.Open(nil) != nil {
		return nil
	}
	pdu := snmpwire.PDU{Type: snmpwire.Report, RequestID: m.PDU.RequestID, VarBinds: []snmpwire.VarBind{
		{Name: snmpwire.MustOID(counter), Value: snmpwire.Unsigned(snmpwire.Counter32, a.badAuth.Load()+1)}}}
	return a.seal(m, keys, flags, pdu.Raw())
}

// seal writes a message of this engine that answers m.
func (a *Agent) seal(m *snmpwire.V3, keys *snmpwire.Keys, flags byte, pdu snmpwire.RawPDU) []byte {
	boots, now := a.engineTime()
	out, err := snmpwire.EncodeV3(snmpwire.V3{
		MsgID: m.MsgID, MaxSize: maxMessageV3, Flags: flags, EngineID: a.cfg.EngineID, Boots: boots,
		Time: now, User: m.User, ContextID: a.cfg.EngineID, Context: m.Context,
	}, keys, a.salt.Add(1), pdu)
	if err != nil { // only a key of the wrong length, which Localize never makes
		panic(errors.Join(errors.New("snmpagent: cannot seal"), err))
	}
	return out
}
