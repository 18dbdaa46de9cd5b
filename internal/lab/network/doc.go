// Package network joins simulated switches to networks that controllers can
// discover: links that LLDP tells of at both ends, a spanning tree, learned
// addresses, traps. It starts the agents, writes the switch list and knows the
// truth that a test compares a discovery with.
//
// One switch alone is package simswitch on package snmpagent.
package network
