// Command openflow is the plugin that OpenFlow 1.3 switches connect to. It finds out
// which switches there are and how they are linked, and publishes that as a topology.
// It programs nothing but the rules it needs for that.
//
// The way of a message: channel reads it (ofp13 is the codec) → service, the one
// goroutine that decides → discovery, the decisions (lldp proves links) → channel
// writes the answers, and service publishes the topology and writes it for the other
// nodes. shell shows it. Only the process with the role openflow-discovery acts.
package main
