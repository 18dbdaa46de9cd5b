// Package netconfpeers drives real NETCONF servers with the driver bier-driver-ietf:
// netconfd of Debian behind an sshd of its own.
package netconfpeers
