// Package simcli is a simulated BIER router with a command line over SSH, in the
// manner of freeRtr: a running configuration of sections with indented lines, entered
// with "configure terminal", taken back with "no". Each line takes effect at once, but the
// egress list of a tunnel: that waits for "tunnel mode bier".
//
// Its grammar is that of the templates bier-driver-cli comes with. Routers with
// NETCONF are package simrouter.
package simcli
