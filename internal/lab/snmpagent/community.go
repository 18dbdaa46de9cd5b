package snmpagent

import (
	"crypto/subtle"

	"ctl.internal/internal/lab/faults"
	"ctl.internal/internal/lab/snmpwire"
)

func (a *Agent) handleCommunity(f *faults.Set, in []byte) []byte {
	m, err := snmpwire.DecodeCommunity(in)
	if err != nil {
		a.badBER.Add(1)
		return nil
	}
	if m.PDU.Type == snmpwire.Response {
		a.deliverInformResponse(in)
		return nil
	}
	write := equalCommunity(m.Community, a.cfg.WriteCommunity)
	mib, view := a.cfg.Views[m.Community]
	if !view {
		mib = a.cfg.MIB
	}
	if !write && !view && !equalCommunity(m.Community, a.cfg.ReadCommunity) {
		a.badAuth.Add(1)
		if a.cfg.AuthFailure != nil {
			a.cfg.AuthFailure()
		}
		return nil
	}
	q := request{
		agent:  a,
		mib:    mib,
		faults: f,
		v1:     m.Version == snmpwire.Version1,
		write:  write,
	}
	q.room = q.limitMessage(a.cfg.MaxMessage) - 40 - len(m.Community)
	pdu, ok := q.answerPDU(m.PDU)
	if !ok {
		return nil
	}
	return snmpwire.EncodeCommunity(m.Version, m.Community, pdu)
}

func equalCommunity(got, want string) bool {
	return want != "" && subtle.ConstantTimeCompare([]byte(got), []byte(want)) == 1
}
