// Package snmpagent is a small SNMP agent for versions 1, 2c and 3: it answers
// GET, GETNEXT, GETBULK and SET of a MIB, sends traps and informs, and
// misbehaves as a faults.Set says. Thousands of agents fit in one process.
//
// Agent is the decision core: octets in, octets out. Server puts it on a UDP
// socket. Schema makes a MIB of columns that are computed from a model.
// What the switches are is package simswitch; the bytes are package snmpwire.
package snmpagent
