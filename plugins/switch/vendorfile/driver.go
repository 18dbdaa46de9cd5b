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
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
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

// Has reports whether an operation is described for a switch. All those of access lists
// are one operation, so a model is to describe all or none of them.
func (d *Driver) Has(sw *switchdriver.Switch, operation string) bool {
	m, all := d.source.File().Models[sw.Model], describedFunctions()
	return m != nil &&
		slices.ContainsFunc(m.Functions, func(f *Function) bool {
			return all[f.Name].operation == operation
		})
}

// Perform carries an operation out as described; what is not described the next driver does.
func (d *Driver) Perform(
	ctx context.Context,
	sw *switchdriver.Switch,
	o *writes.Operation,
) ([]string, error) {
	m := d.source.File().Models[sw.Model]
	if m == nil {
		m = &Model{}
	}
	w, vlan := o.Request.(*pluginv1.WriteVlanRequest)
	if vlan && m.Ports > 0 {
		if err := portsExist(sw, w.Vlan, m.Ports); err != nil {
			return nil, err
		}
	}
	by := func(sw *switchdriver.Switch, seq mibdriver.Sequence) error {
		_, err := d.standard.WriteVLANBy(
			ctx,
			sw,
			w.Vlan,
			w.Create,
			w.SetPorts,
			mibdriver.Way{
				Sequence:   seq,
				ListOctets: m.ListDigits / 2,
			},
		)
		return err
	}
	f := m.Function(functionOf(o))
	switch {
	case f != nil && f.Channel == SNMP:
		return nil, by(sw, f.SETs)
	case f != nil:
		return nil, d.performTyped(ctx, sw, m, f, o)
	}
	next, known, err := d.Next(ctx, sw, o.Name())
	if err != nil {
		return nil, err
	}
	if vlan && m.ListDigits > 0 && next.Name == driver.Standard {
		return nil, by(known, nil)
	}
	return next.Perform(ctx, known, o)
}

// functionOf is the function that describes an operation, and the layer it is for.
func functionOf(o *writes.Operation) (name, layer string) {
	switch r := o.Request.(type) {
	case *pluginv1.WriteVlanRequest:
		switch {
		case r.Create && r.SetPorts:
			return AddVLANAndSetPort, ""
		case r.Create:
			return AddVLAN, ""
		}
		return SetVLANPort, ""
	case *pluginv1.DeleteVlanRequest:
		return DeleteVLAN, ""
	case *pluginv1.ApplyAclRequest:
		layer = map[string]string{
			switchdriver.LayerEthernet: "mac",
			switchdriver.LayerIP:       "ip",
		}[r.GetProfile().GetLayer()]
		return map[switchdriver.ACLAction]string{
			switchdriver.ACLCreateProfile: CreateACLProfile,
			switchdriver.ACLDeleteProfile: DeleteACLProfile,
			switchdriver.ACLSetRule:       SetACLRule,
			switchdriver.ACLDeleteRule:    DeleteACLRule,
			switchdriver.ACLClear:         ClearACLProfile,
		}[r.Action], layer
	case *pluginv1.WriteStpRequest:
		name = map[bool]string{
			true:  EnableSTP,
			false: DisableSTP,
		}[r.Enable]
		if r.Port != 0 {
			name += "_port"
		}
	}
	return name, ""
}

// portsExist refuses ports beyond the number that is described.
func portsExist(sw *switchdriver.Switch, v *switchdriver.VLAN, ports int) error {
	var l fault.List
	for _, p := range v.GetEgressPorts() {
		if int(p) > ports {
			path := mibdriver.PathTagged
			if slices.Contains(v.UntaggedPorts, p) {
				path = mibdriver.PathUntagged
			}
			l = append(
				l,
				fault.At(
					fault.Invalid,
					path,
					"model %q of switch %s has %d ports, no port %d",
					sw.Model,
					switchdriver.Label(sw),
					ports,
					p,
				),
			)
		}
	}
	return l.Err()
}
