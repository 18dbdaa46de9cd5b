package snmpagent

import (
	"bytes"
	"context"
	"fmt"

	"ctl.internal/internal/lab/snmpwire"
)

// maxMessageV3 is the msgMaxSize that agents announce, octets.
const maxMessageV3 = 65507

// encodeOwn writes a message of which this engine is the authority: a trap.
func (a *Agent) encodeOwn(to Target, pdu snmpwire.RawPDU) ([]byte, error) {
	if to.User == nil {
		return nil, fmt.Errorf("trap to %s: version 3 needs a user", to.Addr)
	}
	boots, now := a.engineTime()
	return snmpwire.EncodeV3(snmpwire.V3{
		MsgID: newID(), MaxSize: maxMessageV3, Flags: required(to.User), EngineID: a.cfg.EngineID, Boots: boots,
		Time: now, User: to.User.Name, ContextID: a.cfg.EngineID,
	}, to.User.Localize(a.cfg.EngineID), a.salt.Add(1), pdu)
}

// deliverV3 hands a report or response to the inform that waits for it.
func (a *Agent) deliverV3(m *snmpwire.V3) bool {
	key := pendingKey{true, m.MsgID}
	if m.Flags&snmpwire.FlagReportable != 0 {
		return false
	}
	if _, ok := a.pending.Load(key); !ok {
		return false
	}
	return a.deliverKey(key, answer{v3: m.Clone()})
}

// informV3 asks the receiver, who is the authority, for its engine id and
// time, then sends (RFC 3414 section 4).
func (s *Server) informV3(ctx context.Context, to Target, n Notification) error {
	if to.User == nil {
		return fmt.Errorf("inform to %s: version 3 needs a user", to.Addr)
	}
	var peer snmpwire.V3
	var keys *snmpwire.Keys
	for step := 0; step < 3; step++ {
		m := snmpwire.V3{MsgID: newID(), MaxSize: maxMessageV3, Flags: snmpwire.FlagReportable, ContextID: s.agent.cfg.EngineID}
		pdu := snmpwire.PDU{Type: snmpwire.GetRequest, RequestID: newID()}.Raw()
		if keys != nil {
			m.Flags |= required(to.User)
			m.EngineID, m.Boots, m.Time, m.User = peer.EngineID, peer.Boots, peer.Time, to.User.Name
			pdu = n.pdu(snmpwire.InformRequest, newID())
		}
		msg, err := snmpwire.EncodeV3(m, keys, s.agent.salt.Add(1), pdu)
		if err != nil {
			return err
		}
		got, err := s.ask(ctx, to, pendingKey{true, m.MsgID}, msg)
		if err != nil {
			return err
		}
		peer = *got.v3
		if keys == nil || !bytes.Equal(peer.EngineID, m.EngineID) {
			keys = to.User.Localize(peer.EngineID)
			continue
		}
		if peer.Flags&snmpwire.FlagAuth != 0 && peer.Verify(keys) != nil {
			return fmt.Errorf("inform to %s: %w", to.Addr, snmpwire.ErrDigest)
		}
		if peer.Open(keys) == nil && peer.PDU.Type == snmpwire.Response {
			return nil
		}
	}
	return fmt.Errorf("inform to %s: the receiver answers with reports only", to.Addr)
}
