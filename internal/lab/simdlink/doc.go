// Package simdlink is a simulated D-Link switch at its command line, by telnet and SSH:
// the login dialogue, pages, access profiles and rules, spanning tree and traffic
// settings of the xStack series. It misbehaves on demand (Faults).
//
// It keeps what it is told and shows it; no frame passes. Switches with SNMP are
// package simswitch, routers with a command line package simcli.
package simdlink
