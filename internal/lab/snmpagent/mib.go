package snmpagent

import "ctl.internal/internal/lab/snmpwire"

// MIB is an ordered tree of objects. Its methods may be called at the same time.
type MIB interface {
	// Get returns the value of an instance, or NoSuchObject or NoSuchInstance.
	Get(name snmpwire.OID) snmpwire.Value
	// Next returns the first instance after name, its name appended to
	// dst[:0]; the value is EndOfMibView when there is none.
	Next(name, dst snmpwire.OID) (snmpwire.OID, snmpwire.Value)
	// Set does all of the assignments or none, as if at the same time
	// (RFC 3416 section 4.2.5). On failure it returns the status and the
	// 1-based place of the variable binding at fault.
	Set(list []snmpwire.VarBind) (snmpwire.Status, int)
}
