// Package switchpeers proves the switch plugin against real network devices: snmpd
// with lldpd and Open vSwitch in network namespaces, and recordings of real switches
// played by snmpsim. Run it as root with the build tag peers (make test-peers); a
// peer that is not installed is skipped, and reported.
package switchpeers
