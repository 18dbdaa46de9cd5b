// Package netconfpeers drives real NETCONF servers with the driver bier-driver-ietf:
// netconfd of Debian behind an sshd of its own, and netopeer2 where CTL_NETOPEER2 names
// one; and a freeRtr with bier-driver-cli where CTL_FREERTR does.
package netconfpeers
