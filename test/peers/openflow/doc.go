// Package openflowpeers proves the OpenFlow plugin against Open vSwitch: rings of
// switches on its "dummy" datapath (test/labs/lab-ovs.sh), which needs no root. Run
// it with the build tag peers (make test-peers); without Open vSwitch it is skipped,
// and reported.
package openflowpeers
