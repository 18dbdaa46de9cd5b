package snmpagent

import (
	"ctl.internal/internal/lab/faults"
	"ctl.internal/internal/lab/snmpwire"
)

// hugeAnswer is the size of the answers of faults.Set.Huge, octets.
const hugeAnswer = 60000

// request answers one PDU.
type request struct {
	agent  *Agent
	faults *faults.Set
	mib    MIB
	v1     bool
	write  bool
	room   int // octets for variable bindings
}

// limitMessage is the greatest message that may go out.
func (q *request) limitMessage(n int) int {
	if q.faults.Huge {
		return hugeAnswer
	}
	return n
}

// answerPDU returns the response and whether there is one.
func (q *request) answerPDU(p snmpwire.PDU) (snmpwire.RawPDU, bool) {
	r := snmpwire.RawPDU{
		Type:      snmpwire.Response,
		RequestID: p.RequestID,
	}
	if q.faults.WrongID {
		r.RequestID ^= 0x5555
	}
	mib := q.mib
	f := q.faults
	if f.Loop || f.Back || f.WrongType || f.Missing != nil {
		mib = &faultyMIB{mib, f}
	}
	if q.faults.Status != snmpwire.NoError && p.Type != snmpwire.InformRequest {
		return q.refusePDU(r, p, q.faults.Status, 1), true
	}
	var status snmpwire.Status
	var place int
	switch p.Type {
	case snmpwire.GetRequest:
		r.VarBinds, status, place = q.readInstances(p, func(name snmpwire.OID) (snmpwire.OID, snmpwire.Value) {
			return name, mib.Get(name)
		})
	case snmpwire.GetNextRequest:
		r.VarBinds, status, place = q.readInstances(p, func(name snmpwire.OID) (snmpwire.OID, snmpwire.Value) {
			name, v := mib.Next(name, nil)
			for q.v1 && v.Tag == snmpwire.Counter64 { // version 1 has no such type: RFC 3584 section 4.2.2.1
				name, v = mib.Next(name, nil)
			}
			return name, v
		})
	case snmpwire.GetBulkRequest:
		if q.v1 || q.faults.NoBulk {
			return r, false
		}
		r.VarBinds, status = q.readBulk(mib, p)
	case snmpwire.SetRequest:
		if r.VarBinds = snmpwire.AppendVarBinds(nil, p.VarBinds); len(r.VarBinds) <= q.room { // else nothing is done
			status, place = q.setInstances(mib, p)
		}
		if q.faults.SetMute {
			return r, false
		}
	default:
		return r, false
	}
	q.agent.varbinds.Add(uint64(len(p.VarBinds)))
	if len(r.VarBinds) > q.room && status == snmpwire.NoError {
		status, place = snmpwire.TooBig, 0
	}
	if status != snmpwire.NoError {
		return q.refusePDU(r, p, status, place), true
	}
	return r, true
}

// refusePDU makes an error response: the request's own variable bindings, none
// with tooBig (RFC 3416 section 4.2.1).
func (q *request) refusePDU(
	r snmpwire.RawPDU,
	p snmpwire.PDU,
	status snmpwire.Status,
	place int,
) snmpwire.RawPDU {
	r.VarBinds = nil
	if q.v1 {
		status = status.V1()
	}
	if status != snmpwire.TooBig || q.v1 {
		if b := snmpwire.AppendVarBinds(nil, p.VarBinds); len(b) <= q.room {
			r.VarBinds = b
		}
	}
	r.Status, r.Index = status, place
	return r
}

func (q *request) tooMany(n int) bool {
	return q.faults.TooBig > 0 && n > q.faults.TooBig
}

// readInstances answers GET and GETNEXT: look finds the instance for a name.
func (q *request) readInstances(
	p snmpwire.PDU,
	look func(snmpwire.OID) (snmpwire.OID, snmpwire.Value),
) (
	out []byte, status snmpwire.Status, place int) {
	for i, vb := range p.VarBinds {
		name, v := look(vb.Name)
		if q.v1 && (v.Exception() || v.Tag == snmpwire.Counter64) {
			return nil, snmpwire.NoSuchName, i + 1
		}
		out = snmpwire.AppendVarBind(out, name, v)
	}
	return out, q.tooManyStatus(len(p.VarBinds)), 0
}

func (q *request) tooManyStatus(n int) snmpwire.Status {
	if q.tooMany(n) {
		return snmpwire.TooBig
	}
	return snmpwire.NoError
}

func (q *request) setInstances(mib MIB, p snmpwire.PDU) (snmpwire.Status, int) {
	switch {
	case !q.write:
		return snmpwire.NoAccess, min(1, len(p.VarBinds))
	case q.faults.SetStatus != snmpwire.NoError:
		return q.faults.SetStatus, min(1, len(p.VarBinds))
	case q.tooMany(len(p.VarBinds)):
		return snmpwire.TooBig, 0
	case q.faults.SetIgnore:
		return snmpwire.NoError, 0
	}
	status, place := mib.Set(p.VarBinds)
	if status == snmpwire.NoError {
		q.agent.sets.Add(1)
	}
	return status, place
}

// readBulk answers GETBULK (RFC 3416 section 4.2.3): as many variable bindings as
// fit; the first that does not fit ends the answer.
func (q *request) readBulk(mib MIB, p snmpwire.PDU) ([]byte, snmpwire.Status) {
	single := min(max(int(p.Status), 0), len(p.VarBinds))
	repeat := max(p.Index, 0)
	out := make([]byte, 0, min(max(q.room, 0), 2048))
	count := 0
	add := func(name snmpwire.OID, v snmpwire.Value) bool {
		before := len(out)
		if out = snmpwire.AppendVarBind(out, name, v); len(out) > q.room {
			out = out[:before]
			return false
		}
		count++
		return true
	}
	defer func() { q.agent.varbinds.Add(uint64(max(0, count-len(p.VarBinds)))) }()
	var spare snmpwire.OID
	for _, vb := range p.VarBinds[:single] {
		var v snmpwire.Value
		spare, v = mib.Next(vb.Name, spare)
		if !add(spare, v) {
			return out, snmpwire.NoError
		}
	}
	at := make([]snmpwire.OID, len(p.VarBinds)-single)
	for i, vb := range p.VarBinds[single:] {
		at[i] = vb.Name
	}
	own := make([]bool, len(at)) // at[i] is ours to overwrite
	for done := len(at) == 0; !done && repeat > 0; repeat-- {
		done = true
		for i := range at {
			name, v := mib.Next(at[i], spare)
			if !add(name, v) {
				return out, q.tooManyStatus(count)
			}
			done = done && v.Tag == snmpwire.EndOfMibView
			if spare = nil; own[i] {
				spare = at[i]
			}
			at[i], own[i] = name, true
		}
		if done && q.faults.Huge && repeat > 1 { // keep repeating the end
			done = false
		}
	}
	return out, q.tooManyStatus(count)
}
