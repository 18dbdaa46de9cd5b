// Package faults names the ways in which a simulated switch misbehaves. It is
// data only; package snmpagent acts on it, package labctl reads it from the
// command line.
package faults
