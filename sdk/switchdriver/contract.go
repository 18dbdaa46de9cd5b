// Package switchdriver is the capability of controlling the switches of a vendor.
//
// A driver says which switches it is for and implements only the operations it
// has, each a small interface of its own; whatever it lacks falls to the
// standard-MIB driver of the switch plugin.
package switchdriver

import (
	"context"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
)

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

// VLANReader reads the VLANs of a switch (dot1qVlanStaticTable, dot1qVlanCurrentTable).
type VLANReader interface {
	ReadVLANs(ctx context.Context, sw *Switch) ([]*VLAN, error)
}

// VLANWriter makes, changes and removes VLANs. WriteVLAN answers the VLAN as read
// back. With create it fails with fault.Exists if the VLAN is there, without it
// with fault.NotFound if it is not. Without setPorts the ports stay as they are; with
// it the VLAN has these ports and no others. A port is untagged in one VLAN: it
// leaves the one it was in; one that is left without any goes back to VLAN 1.
// DeleteVLAN fails with fault.Invalid for VLAN 1.
type VLANWriter interface {
	WriteVLAN(ctx context.Context, sw *Switch, v *VLAN, create, setPorts bool) (*VLAN, error)
	DeleteVLAN(ctx context.Context, sw *Switch, vlanID uint32) error
}

// FDBReader reads the forwarding table; vlanID and mac non-zero ask for one entry,
// which fails with fault.NotFound when it is not there. Entries of no port are left out.
type FDBReader interface {
	ReadFDB(ctx context.Context, sw *Switch, vlanID uint32, mac uint64) ([]*FDBEntry, error)
}

// FDBWriter makes and removes static entries (dot1qStaticUnicastTable). The port
// must be in the VLAN (fault.Invalid), the VLAN on the switch (fault.NotFound), the
// type FDBMgmt or 0 unless the driver can do others.
type FDBWriter interface {
	WriteFDBEntry(ctx context.Context, sw *Switch, e *FDBEntry) error
	DeleteFDBEntry(ctx context.Context, sw *Switch, vlanID uint32, mac uint64) error
}

// PortReader reads the ports (dot1dBasePortTable, ifTable, ifXTable).
type PortReader interface {
	ReadPorts(ctx context.Context, sw *Switch) ([]*Port, error)
}

// NeighborReader reads what the switch has learned of its neighbours (LLDP-MIB).
type NeighborReader interface {
	ReadNeighbors(ctx context.Context, sw *Switch) ([]*Neighbor, error)
}

// STPReader reads spanning-tree state; port 0 asks for all ports.
type STPReader interface {
	ReadSTP(ctx context.Context, sw *Switch, port uint32) (ports []*STPPort, enabled bool, err error)
}

// STPWriter switches spanning tree on or off; port 0 is the whole switch. A port
// that is not there: fault.NotFound.
type STPWriter interface {
	WriteSTP(ctx context.Context, sw *Switch, port uint32, enable bool) error
}

// ARPReader reads the ARP table; an address asks for one entry (fault.NotFound).
type ARPReader interface {
	ReadARP(ctx context.Context, sw *Switch, address string) ([]*ARPEntry, error)
}

// ARPWriter makes and removes static ARP entries.
type ARPWriter interface {
	WriteARPEntry(ctx context.Context, sw *Switch, e *ARPEntry, prefixLength uint32) error
	DeleteARPEntry(ctx context.Context, sw *Switch, address string) error
}

// ACLApplier configures access lists. A profile or rule is named by id, else by
// name. Making one that is there fails with fault.Exists, removing one that is not
// with fault.NotFound; clearing an empty table succeeds.
type ACLApplier interface {
	ApplyACL(ctx context.Context, sw *Switch, action ACLAction, p *ACLProfile, r *ACLRule) error
}

// ACLReader reads the access lists: every profile with its rules. Ids are always reported;
// what the switch does not show is left empty. Masks, and what a rule matches, are reported
// all or not at all: see ACLDiffers. An empty table is no error.
type ACLReader interface {
	ReadACL(ctx context.Context, sw *Switch) ([]*ACLEntry, error)
}

// SettingsApplier applies the settings SDN needs and reports what it did, one
// line a setting.
type SettingsApplier interface {
	ApplySettings(ctx context.Context, s *Settings) (report []string, err error)
}
