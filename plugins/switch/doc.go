// Command switch is the plugin that controls Ethernet switches by SNMP: the RPCs
// of the modules topology, fdb and vlan, and the shell commands of scope switch.
//
// The way of a request: operations → driver (which one?) → mibdriver → snmp. The
// way of a discovery: inventory (csvlist) → survey → mibdriver.Observe → discovery
// → service, which publishes it. mib is what all of them know of MIB objects.
package main
