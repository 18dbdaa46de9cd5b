// Bier-driver-ietf configures BIER routers over NETCONF with the IETF's modules.
//
// Package dialect decides, without I/O, what to send; package device keeps the
// sessions and sends it. For routers with a command line see bier-driver-cli.
package main
