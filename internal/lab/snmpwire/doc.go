// Package snmpwire turns SNMP messages of versions 1, 2c and 3 into bytes and
// back: BER, PDUs, the user-based security model. It holds no state and does no I/O.
//
// It exists because a client library does not serve the authoritative engine's side
// (the discovery, reports, time), and because simulated switches must be able to send
// what is wrong on purpose. The product speaks SNMP by gosnmp.
package snmpwire
