// Package snmpwire turns SNMP messages of versions 1, 2c and 3 into bytes and
// back: BER, PDUs, the user-based security model. It holds no state and does no I/O.
//
// It exists because a client library does not serve the authoritative engine's side
// (the discovery, reports, time). A receiver of informs is such an engine: the
// switch plugin's trap receiver reads with it. So are the simulated switches of
// package lab/simswitch, which must be able to send what is wrong on purpose, too.
// Programs that ask devices use gosnmp; programs that want an agent use package
// lab/snmpagent.
package snmpwire
