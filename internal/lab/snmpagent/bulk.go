package snmpagent

import "ctl.internal/internal/lab/snmpwire"

// bulk answers GETBULK (RFC 3416 section 4.2.3): as many variable bindings as
// fit; the first that does not fit ends the answer.
func (q *request) bulk(mib MIB, p snmpwire.PDU) ([]byte, snmpwire.Status) {
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
