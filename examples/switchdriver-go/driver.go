package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

// driver offers the operations whose methods it has; the interfaces of package switchdriver list them. The
// standard-MIB driver does the others. This one
// reads ports, and reads and writes their settings and VLANs, of a switch with a few text commands:
// session.go sends them, vlans.go computes them, ports.go has the settings. Replace all three for your switches.
type driver struct {
	port    uint32
	timeout time.Duration
	turns   switchdriver.Turns
}

var (
	_ switchdriver.PortReader = (*driver)(nil)
	_ switchdriver.VLANReader = (*driver)(nil)
	_ switchdriver.VLANWriter = (*driver)(nil)

	_ switchdriver.PortSettingsReader = (*driver)(nil)
	_ switchdriver.PortSettingsWriter = (*driver)(nil)
)

// Match implements switchdriver.Driver: the values of the column Model in the switch list that select this driver.
// SysObjectIDs and SysDescr match the switch's data.
func (d *driver) Match() switchdriver.Match {
	return switchdriver.Match{Models: []string{"switchdriver-go"}}
}

// ReadPorts implements switchdriver.PortReader.
func (d *driver) ReadPorts(ctx context.Context, sw *switchdriver.Switch) (out []*switchdriver.Port, err error) {
	err = d.session(ctx, sw, func(s *session) error {
		out, err = s.ports()
		return err
	})
	return out, err
}

// ReadVLANs implements switchdriver.VLANReader.
func (d *driver) ReadVLANs(ctx context.Context, sw *switchdriver.Switch) (out []*switchdriver.VLAN, err error) {
	err = d.session(ctx, sw, func(s *session) error {
		out, err = s.vlans()
		return err
	})
	return out, err
}

// WriteVLAN implements switchdriver.VLANWriter.
func (d *driver) WriteVLAN(ctx context.Context, sw *switchdriver.Switch, v *switchdriver.VLAN, create, setPorts bool) (out *switchdriver.VLAN, err error) {
	if err := switchdriver.CheckVLAN(v, nil); err != nil {
		return nil, err // before anything is sent
	}
	err = d.session(ctx, sw, func(s *session) error {
		ports, err := s.ports()
		if err != nil {
			return err
		}
		has := func(n uint32) bool {
			return slices.ContainsFunc(ports, func(p *switchdriver.Port) bool { return p.GetNumber() == n })
		}
		if err := switchdriver.CheckVLAN(v, has); err != nil {
			return err
		}
		before, err := s.vlans()
		if err != nil {
			return err
		}
		switch there := find(before, v.GetVlanId()) != nil; {
		case there && create:
			return fault.At(fault.Exists, "vlan-id", "VLAN %d exists on switch %s", v.GetVlanId(), switchdriver.Label(sw))
		case !there && !create:
			return fault.At(fault.NotFound, "vlan-id", "switch %s has no VLAN %d", switchdriver.Label(sw), v.GetVlanId())
		}
		after, err := s.change(before, write(before, v, setPorts))
		out = find(after, v.GetVlanId())
		return err
	})
	return out, err
}

// DeleteVLAN implements switchdriver.VLANWriter.
func (d *driver) DeleteVLAN(ctx context.Context, sw *switchdriver.Switch, id uint32) error {
	if err := switchdriver.CheckVLANID(id); err != nil {
		return err
	}
	if id == defaultVLAN {
		return fault.At(fault.Invalid, "vlan-id", "VLAN %d is the default VLAN and cannot be removed", id)
	}
	return d.session(ctx, sw, func(s *session) error {
		before, err := s.vlans()
		if err != nil {
			return err
		}
		if find(before, id) == nil {
			return fault.At(fault.NotFound, "vlan-id", "switch %s has no VLAN %d", switchdriver.Label(sw), id)
		}
		_, err = s.change(before, remove(before, id))
		return err
	})
}

// session runs f with a session on the switch, one at a time, within the timeout. An error of the switch is a
// fault.Device, so it does not count as an error of the driver; its text names the switch and never a login.
func (d *driver) session(ctx context.Context, sw *switchdriver.Switch, f func(*session) error) error {
	if err := switchdriver.CheckSwitch(sw); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	done, err := d.turns.Take(ctx, sw)
	if err != nil {
		return err
	}
	defer done()
	port := d.port
	if p := sw.GetCli().GetPort(); p != 0 {
		port = p
	}
	s, err := dial(ctx, sw.GetAddress(), port, sw.GetCli())
	if err != nil {
		return atSwitch(ctx, sw, err)
	}
	defer s.close()
	return atSwitch(ctx, sw, f(s))
}

// atSwitch turns an error of the switch into a fault; faults are returned unchanged.
func atSwitch(ctx context.Context, sw *switchdriver.Switch, err error) error {
	if f := (*fault.Error)(nil); err == nil || errors.As(err, &f) {
		return err
	}
	kind := fault.Downstream
	if ctx.Err() != nil {
		kind, err = fault.Timeout, fmt.Errorf("no answer in time (%w)", err)
	}
	return fault.Device(kind, "switch %s: %v", switchdriver.Label(sw), err)
}
