// Package vendorfile reads the vendor-specific configuration, which describes how functions are done on
// models that need their own way, and does what it describes: SETs in the described order (sent by
// package mibdriver), or lines at the switch's command line.
package vendorfile

import (
	"context"
	"maps"
	"slices"

	"ctl.internal/internal/switchcli/hostkeys"
	"ctl.internal/plugins/switch/driver"
	"ctl.internal/plugins/switch/mibdriver"
	"ctl.internal/plugins/switch/writes"
	"ctl.internal/sdk/switchdriver"
)

// Driver does what the file describes. It is safe for concurrent use; the caller ensures
// that a switch is changed by one at a time.
type Driver struct {
	source   *Source
	standard *mibdriver.Driver
	keys     *hostkeys.Keys
	// Next returns the driver that would serve an operation if nothing were described.
	Next func(ctx context.Context, sw *switchdriver.Switch, operation string) (driver.Choice, *switchdriver.Switch, error)
}

// New makes a Driver. standard sends the SETs and reads back; keys are the host keys of
// switches whose command line is reached by SSH.
func New(s *Source, standard *mibdriver.Driver, keys *hostkeys.Keys) *Driver {
	return &Driver{source: s, standard: standard, keys: keys}
}

// Match is the models that are described.
func (d *Driver) Match() switchdriver.Match {
	return switchdriver.Match{Models: slices.Sorted(maps.Keys(d.source.File().Models))}
}

// Has reports whether an operation is described for a switch.
func (d *Driver) Has(sw *switchdriver.Switch, operation string) bool {
	m := d.source.File().Models[sw.Model]
	if m == nil {
		return false
	}
	for _, f := range m.Functions {
		if slices.Contains(functionsOf(operation), f.Name) {
			return true
		}
	}
	return false
}

// functionsOf are the functions that an operation is made of. All those of access lists
// are one operation, so a model is to describe all or none of them.
func functionsOf(operation string) []string {
	switch operation {
	case "WriteVlan":
		return []string{AddVLANAndSetPort, AddVLAN, SetVLANPort}
	case "DeleteVlan":
		return []string{DeleteVLAN}
	case "ApplyAcl":
		return []string{CreateACLProfile, DeleteACLProfile, ClearACLProfile, SetACLRule, DeleteACLRule}
	case "WriteStp":
		return []string{EnableSTP, DisableSTP, EnableSTPPort, DisableSTPPort}
	}
	return nil
}

// Perform carries an operation out as described; what is not described the next driver does.
func (d *Driver) Perform(ctx context.Context, sw *switchdriver.Switch, o *writes.Operation) ([]string, error) {
	name, layer := functionOf(o)
	m := d.source.File().Models[sw.Model]
	var f *Function
	if m != nil {
		f = m.Function(name, layer)
		if o.Name == "WriteVlan" && m.Ports > 0 {
			if err := portsExist(sw, o.VLAN, m.Ports); err != nil {
				return nil, err
			}
		}
	}
	switch {
	case f == nil:
		return d.perform(ctx, sw, m, o)
	case o.Name == "WriteVlan" && f.Channel == SNMP:
		return nil, d.standard.WriteVLANBy(ctx, sw, o.VLAN, o.Create, o.SetPorts, mibdriver.Way{Sequence: sequence(f), ListOctets: m.ListDigits / 2})
	case o.Name == "WriteVlan":
		return nil, d.writeVLAN(ctx, sw, m, f, o)
	case o.Name == "DeleteVlan":
		return nil, d.deleteVLAN(ctx, sw, m, f, o.VLAN.VlanId)
	case o.Name == "ApplyAcl":
		return nil, d.applyACL(ctx, sw, m, f, o.ACL)
	}
	return nil, d.writeSTP(ctx, sw, m, f, o)
}

// perform has the next driver carry an operation out; the standard one with lists of the described length.
func (d *Driver) perform(ctx context.Context, sw *switchdriver.Switch, m *Model, o *writes.Operation) ([]string, error) {
	next, known, err := d.Next(ctx, sw, o.Name)
	if err != nil {
		return nil, err
	}
	if o.Name == "WriteVlan" && m != nil && m.ListDigits > 0 && next.Name == driver.Standard {
		return nil, d.standard.WriteVLANBy(ctx, known, o.VLAN, o.Create, o.SetPorts, mibdriver.Way{ListOctets: m.ListDigits / 2})
	}
	return next.Perform(ctx, known, o)
}

// functionOf is the function that describes an operation, and the layer it is for.
func functionOf(o *writes.Operation) (name, layer string) {
	switch o.Name {
	case "WriteVlan":
		switch {
		case o.Create && o.SetPorts:
			return AddVLANAndSetPort, ""
		case o.Create:
			return AddVLAN, ""
		}
		return SetVLANPort, ""
	case "DeleteVlan":
		return DeleteVLAN, ""
	case "ApplyAcl":
		layer = map[string]string{switchdriver.LayerEthernet: "mac", switchdriver.LayerIP: "ip"}[o.ACL.Profile.GetLayer()]
		return map[switchdriver.ACLAction]string{switchdriver.ACLCreateProfile: CreateACLProfile, switchdriver.ACLDeleteProfile: DeleteACLProfile,
			switchdriver.ACLSetRule: SetACLRule, switchdriver.ACLDeleteRule: DeleteACLRule, switchdriver.ACLClear: ClearACLProfile}[o.ACL.Action], layer
	case "WriteStp":
		name = map[bool]string{true: EnableSTP, false: DisableSTP}[o.Enable]
		if o.Port != 0 {
			name += "_port"
		}
	}
	return name, ""
}
