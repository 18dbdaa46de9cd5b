// Package simline is a simulated VLAN switch with the simplest management there is:
// lines of text over TCP. It stands for a make of switches that nobody has a driver
// for yet; the example drivers (examples/switchdriver-*, ctl plugin new) speak to it.
//
// A session: the switch says "ready"; "login USER PASSWORD" comes first. Commands are
// "show ports", "show vlans", "set vlan ID tagged 1,2 untagged 3 name TEXT" (a list of
// no ports is "-") and "unset vlan ID". An answer is lines of data, then "ok", or
// "error TEXT". The switch thinks of nothing: "set" makes or replaces, and leaves it
// to others that a port is untagged in one VLAN only.
package simline
