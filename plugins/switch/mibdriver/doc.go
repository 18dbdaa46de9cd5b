// Package mibdriver is the driver for every switch that has no better one: it uses
// the standard MIBs only, over SNMP. It implements the interfaces of
// sdk/switchdriver for VLANs, forwarding tables, ports, neighbours,
// spanning tree and ARP.
//
// Which driver a switch gets is package driver's business. What a VLAN change
// consists of is decided in plan.go, without input or output; the rest fetches,
// sends and reads back.
package mibdriver
