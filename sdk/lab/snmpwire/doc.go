// Package snmpwire turns SNMP messages of versions 1, 2c and 3 into bytes and
// back, for the simulated switches of package simswitch: BER, PDUs, the
// user-based security model. It holds no state and does no I/O.
//
// It exists because a client library does not serve the agent's side (the
// engine discovery, reports, authoritative time) and because a simulator must
// be able to send what is wrong on purpose. A receiver of informs is an
// authoritative engine too, so the switch plugin's trap receiver reads with it.
// Programs that ask real devices use gosnmp; programs that want an agent use
// package snmpagent.
package snmpwire
