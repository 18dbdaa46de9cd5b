package snmpagent

import (
	"slices"

	"ctl.internal/internal/lab/faults"
	"ctl.internal/internal/lab/snmpwire"
)

// corruptAnswer damages a finished answer.
func corruptAnswer(f *faults.Set, out []byte) []byte {
	if f.Garbage {
		for i := range out {
			out[i] = byte(i*37) ^ 0xa5
		}
	}
	if f.Truncate {
		out = out[:len(out)/2]
	}
	return out
}

// faultyMIB is a MIB with holes, loops and wrong types.
type faultyMIB struct {
	MIB
	faults *faults.Set
}

func (m *faultyMIB) Get(name snmpwire.OID) snmpwire.Value {
	if faults.Subtree(m.faults.Missing, name) != nil {
		return snmpwire.Value{Tag: snmpwire.NoSuchObject}
	}
	return m.retypeValue(name, m.MIB.Get(name))
}

func (m *faultyMIB) Next(name, dst snmpwire.OID) (snmpwire.OID, snmpwire.Value) {
	if m.faults.Loop && m.faults.Covers(name) {
		if v := m.Get(name); !v.Exception() {
			return append(dst[:0], name...), v
		}
	}
	found, v := m.MIB.Next(name, dst)
	tree := faults.Subtree(m.faults.Within, name)
	if m.faults.Back && tree != nil && (v.Exception() || !found.HasPrefix(tree)) {
		found, v = m.MIB.Next(tree, nil)
	}
	for !v.Exception() {
		hole := faults.Subtree(m.faults.Missing, found)
		if hole == nil {
			return found, m.retypeValue(found, v)
		}
		// No object has the greatest arc: this is the end of the hole.
		found, v = m.MIB.Next(hole.Append(0xffffffff, 0xffffffff), nil)
	}
	return append(found[:0], name...), v
}

func (m *faultyMIB) Set(list []snmpwire.VarBind) (snmpwire.Status, int) {
	for i, vb := range list {
		if faults.Subtree(m.faults.Missing, vb.Name) != nil {
			return snmpwire.NotWritable, i + 1
		}
	}
	return m.MIB.Set(list)
}

func (m *faultyMIB) retypeValue(name snmpwire.OID, v snmpwire.Value) snmpwire.Value {
	if !m.faults.WrongType || v.Exception() || !m.faults.Covers(name) {
		return v
	}
	if v.Tag == snmpwire.OctetString {
		return snmpwire.Int32(len(v.Bytes))
	}
	return snmpwire.Octets(slices.Clone([]byte(v.String())))
}
