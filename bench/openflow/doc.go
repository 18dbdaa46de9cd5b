// Command openflow measures the OpenFlow plugin against a ring of Open vSwitch
// switches (test/labs/lab-ovs.sh): how long until all links are known, how soon a
// cut cable is seen, and what that costs. README.md says how to run it.
package main
