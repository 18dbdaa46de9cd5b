// Package switchdriver is the capability of controlling the switches of a vendor.
//
// A driver says which switches it is for and implements only the operations it
// has, each a small interface of its own; whatever it lacks falls to the
// standard-MIB driver of the switch plugin.
package switchdriver

import pluginv1 "ctl.internal/proto/ctl/plugin/v1"

// The data of the contract. They are the messages of proto/ctl/plugin/v1, where
// each field is described with its MIB object.
type (
	Switch     = pluginv1.Switch
	VLAN       = pluginv1.Vlan
	FDBEntry   = pluginv1.FdbEntry
	Port       = pluginv1.Port
	Neighbor   = pluginv1.Neighbor
	STPPort    = pluginv1.StpPort
	ARPEntry   = pluginv1.ArpEntry
	ACLProfile = pluginv1.AclProfile
	ACLRule    = pluginv1.AclRule
	ACLAction  = pluginv1.ApplyAclRequest_Action
	ACLEntry   = pluginv1.AclEntry
	Settings   = pluginv1.ApplySettingsRequest

	PortSettings = pluginv1.PortSettings
	PowerSupply  = pluginv1.PowerSupply
)

// Match says which switches a driver is for. A switch matches by the exact model
// of the switch list first, then by the longest sysObjectID prefix, then by sysDescr.
type Match struct {
	Models       []string
	SysObjectIDs []string // prefixes on an arc boundary, "1.3.6.1.4.1.171.10"
	SysDescr     string   // RE2; empty = none
}

// Driver is what every driver implements. Operations are the further interfaces
// of this package that its type satisfies.
//
// What holds for all operations, and is checked by package conformance:
//   - Bad values are refused before anything is sent: fault.Invalid or fault.Missing,
//     with the path of each; the Check functions of this package do it.
//   - What is asked for is not there: fault.NotFound; is there already: fault.Exists.
//   - A switch that does not answer: fault.Timeout, fault.Unavailable or
//     fault.Downstream with fault.SourceDevice, within a deadline of the driver's own;
//     the text names the switch (Label). A refusal by the switch: fault.Downstream.
//   - What this switch cannot do, though others of the driver can: fault.Unsupported.
//   - When ctx ends the call ends, and nothing of it goes on.
//   - Changes of one switch are made one after the other (Turns), read back before
//     they are called done, and taken back as a whole when a part fails.
//   - No login is in a text, a log or a report.
type Driver interface {
	Match() Match
}
