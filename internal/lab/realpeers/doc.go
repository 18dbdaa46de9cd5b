// Package realpeers holds tests only: net-snmp's programs against the
// simulated switches. They skip, and say so, where net-snmp is not installed.
// Tests that need nothing but Go are beside the packages they test.
package realpeers
