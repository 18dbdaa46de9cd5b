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
type Driver interface {
	Match() Match
}

// VLANReader reads the VLANs of a switch (dot1qVlanStaticTable, dot1qVlanCurrentTable).
type VLANReader interface {
	ReadVLANs(ctx context.Context, sw *Switch) ([]*VLAN, error)
}

// VLANWriter makes, changes and removes VLANs. WriteVLAN answers the VLAN as read
// back. With create it fails with fault.Exists if the VLAN is there, without it
// with fault.NotFound if it is not.
type VLANWriter interface {
	WriteVLAN(ctx context.Context, sw *Switch, v *VLAN, create, setPorts bool) (*VLAN, error)
	DeleteVLAN(ctx context.Context, sw *Switch, vlanID uint32) error
}

// FDBReader reads the forwarding table; vlanID and mac non-zero ask for one entry.
type FDBReader interface {
	ReadFDB(ctx context.Context, sw *Switch, vlanID uint32, mac uint64) ([]*FDBEntry, error)
}

// FDBWriter makes and removes static entries (dot1qStaticUnicastTable).
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

// STPWriter switches spanning tree on or off; port 0 is the whole switch.
type STPWriter interface {
	WriteSTP(ctx context.Context, sw *Switch, port uint32, enable bool) error
}

// ARPReader reads the ARP table; an address asks for one entry.
type ARPReader interface {
	ReadARP(ctx context.Context, sw *Switch, address string) ([]*ARPEntry, error)
}

// ARPWriter makes and removes static ARP entries.
type ARPWriter interface {
	WriteARPEntry(ctx context.Context, sw *Switch, e *ARPEntry, prefixLength uint32) error
	DeleteARPEntry(ctx context.Context, sw *Switch, address string) error
}

// ACLApplier configures access lists.
type ACLApplier interface {
	ApplyACL(ctx context.Context, sw *Switch, action ACLAction, p *ACLProfile, r *ACLRule) error
}

// SettingsApplier applies the settings SDN needs and reports what it did, one
// line a setting.
type SettingsApplier interface {
	ApplySettings(ctx context.Context, s *Settings) (report []string, err error)
}
