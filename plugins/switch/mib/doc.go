// Package mib knows the MIB objects a switch is controlled with: their identifiers,
// how their indexes and PortLists are decoded, and nothing of how they are fetched
// (package snmp) or what is done with them (package mibdriver). All of it is free
// of input and output.
package mib
