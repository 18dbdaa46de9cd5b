// Package netconfpeers drives real routers with the BIER drivers: netconfd of Debian
// with its own sshd, netopeer2 when NETOPEER2_BIN names an installation, and
// three freeRtr when FREERTR_JAR names a jar; the latter two under a real controller.
// docs/bier-driver.md says what the variables name.
package netconfpeers
