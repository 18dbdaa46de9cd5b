// Command switch is the plugin that controls Ethernet switches: the RPCs of the modules
// topology, fdb, vlan, acl, misc-config and switch-db, and the shell commands of scope
// switch.
//
// The way of a request: operations → driver (which one? whose turn?) → mibdriver → snmp,
// or xmldriver (what vendorxml describes), or a vendor's driver plugin. The way of a
// discovery: inventory (csvlist) → survey → mibdriver.Observe → discovery → service,
// which publishes it. journal remembers changes under way, sdn applies what SDN needs.
// mib is what all of them know of MIB objects.
package main
