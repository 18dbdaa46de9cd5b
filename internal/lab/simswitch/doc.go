// Package simswitch models an Ethernet switch behind the MIBs that controllers
// read and write: SNMPv2-MIB system, IF-MIB, ipNetToMedia, BRIDGE-MIB,
// Q-BRIDGE-MIB and LLDP-MIB. Every value is computed from the model when it is
// asked for, so a switch of 48 ports takes some kilobytes.
//
// The model acts: a VLAN that becomes active shows up in the current table, a
// port that goes down loses its neighbours and learned addresses. What joins
// switches to each other is package network; who answers on the wire is
// package snmpagent.
package simswitch
