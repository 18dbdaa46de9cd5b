// Package bridge is the VLANs of an Open vSwitch bridge as the contract has them, and
// what to write for a change. There is no table of VLANs in OVSDB: they are what the
// columns tag, trunks and vlan_mode of the ports say (ovs-vswitchd.conf.db(5)), and
// the names that are kept in the bridge's external_ids as vlan-ID.
package bridge
