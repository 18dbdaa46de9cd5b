// Package device is the driver: the operations of sdk/switchdriver on one Open vSwitch host after the other.
package device

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"ctl.internal/plugins/switch-driver-ovs/bridge"
	"ctl.internal/plugins/switch-driver-ovs/ovsdb"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

// Driver implements the operations. It is safe for concurrent use; changes of one
// switch are made one after the other.
type Driver struct {
	set   settings
	hosts map[string]place // by address
	// tls gives what ssl: endpoints need, when it is needed, for a host of that name.
	tls   func(ctx context.Context, name string) (*tls.Config, error)
	turns switchdriver.Turns
}

var (
	_ switchdriver.VLANReader      = (*Driver)(nil)
	_ switchdriver.VLANWriter      = (*Driver)(nil)
	_ switchdriver.FDBReader       = (*Driver)(nil)
	_ switchdriver.FDBWriter       = (*Driver)(nil)
	_ switchdriver.PortReader      = (*Driver)(nil)
	_ switchdriver.STPReader       = (*Driver)(nil)
	_ switchdriver.STPWriter       = (*Driver)(nil)
	_ switchdriver.SettingsApplier = (*Driver)(nil)
)

// Match implements switchdriver.Driver.
func (d *Driver) Match() switchdriver.Match {
	return switchdriver.Match{Models: d.set.Models}
}

// placeOf is where the host of a switch is.
func (d *Driver) placeOf(sw *switchdriver.Switch) place {
	all, own := d.set.place, d.hosts[sw.Address]
	p := place{cmp.Or(own.OVSDB, all.OVSDB), cmp.Or(own.TLSName, all.TLSName), cmp.Or(own.Unixctl, all.Unixctl), cmp.Or(own.Bridge, all.Bridge)}
	port := cmp.Or(sw.GetCli().GetPort(), d.set.Port)
	address := sw.Address
	if strings.Contains(address, ":") {
		address = "[" + address + "]"
	}
	fill := strings.NewReplacer("{address}", address, "{port}", strconv.Itoa(int(port)))
	p.OVSDB, p.Unixctl = fill.Replace(p.OVSDB), fill.Replace(p.Unixctl)
	p.TLSName = strings.ReplaceAll(p.TLSName, "{address}", sw.Address)
	return p
}

// call is one operation at a host.
type call struct {
	*ovsdb.Session
	ctx context.Context
	d   *Driver
	sw  *switchdriver.Switch
	at  place
	b   *ovsdb.Bridge // as it was at the beginning
}

// runCall opens a session for an operation and reads the bridge, within the timeout. A change
// waits for its turn at the switch.
func (d *Driver) runCall(
	ctx context.Context,
	sw *switchdriver.Switch,
	change bool,
	f func(*call) error,
) error {
	if err := switchdriver.CheckSwitch(sw); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, d.set.Timeout.Duration)
	defer cancel()
	if change {
		done, err := d.turns.Take(ctx, sw)
		if err != nil {
			return err
		}
		defer done()
	}
	c := &call{ctx: ctx, d: d, sw: sw, at: d.placeOf(sw)}
	if err := c.openSession(ctx); err != nil {
		return c.deviceFault(err)
	}
	defer c.Close()
	b, err := c.readBridge()
	if err == nil {
		c.b = b
		err = f(c)
	}
	return c.deviceFault(err)
}

func (c *call) openSession(ctx context.Context) error {
	var conf *tls.Config
	if strings.HasPrefix(c.at.OVSDB, "ssl:") {
		var err error
		if conf, err = c.d.tls(ctx, c.at.TLSName); err != nil {
			return fault.Wrap(
				fault.KindOf(err),
				err,
				"no TLS to switch %s: %v",
				switchdriver.Label(c.sw),
				err,
			)
		}
	}
	var err error
	c.Session, err = ovsdb.Open(ctx, c.at.OVSDB, conf)
	return err
}

// deviceFault makes what went wrong at the host a fault of the device.
func (c *call) deviceFault(err error) error {
	var f *fault.Error
	var l fault.List
	if err == nil || errors.As(err, &f) || errors.As(err, &l) {
		return err
	}
	kind := fault.Downstream
	switch {
	case errors.Is(c.ctx.Err(), context.DeadlineExceeded):
		kind = fault.Timeout
	case errors.Is(err, ovsdb.ErrTrust):
		kind = fault.Denied
	case c.Session == nil:
		kind = fault.Unavailable
	}
	f = fault.Device(kind, "switch %s, %s: %v", switchdriver.Label(c.sw), c.at.OVSDB, err)
	f.Cause = err
	return f
}

func (c *call) readBridge() (*ovsdb.Bridge, error) {
	return c.ReadBridge(c.at.Bridge, c.sw.NodeId)
}

// ReadPorts implements switchdriver.PortReader. A port's number is its OpenFlow port
// number, which Open vSwitch keeps as long as the port is there.
func (d *Driver) ReadPorts(
	ctx context.Context,
	sw *switchdriver.Switch,
) (out []*switchdriver.Port, err error) {
	err = d.runCall(ctx, sw, false, func(c *call) error {
		for _, p := range c.b.Ports {
			if p.Number != 0 {
				out = append(out, &p.Port)
			}
		}
		return nil
	})
	return out, err
}

// ReadVLANs implements switchdriver.VLANReader.
func (d *Driver) ReadVLANs(
	ctx context.Context,
	sw *switchdriver.Switch,
) (out []*switchdriver.VLAN, err error) {
	err = d.runCall(ctx, sw, false, func(c *call) error {
		out = c.b.VLANs()
		return nil
	})
	return out, err
}

// WriteVLAN implements switchdriver.VLANWriter.
func (d *Driver) WriteVLAN(
	ctx context.Context,
	sw *switchdriver.Switch,
	v *switchdriver.VLAN,
	create, setPorts bool,
) (out *switchdriver.VLAN, err error) {
	if err := switchdriver.CheckVLAN(v, nil); err != nil {
		return nil, err
	}
	err = d.runCall(ctx, sw, true, func(c *call) error {
		after, err := c.changeBridge(func(b *ovsdb.Bridge) (*bridge.State, error) {
			if err := switchdriver.CheckVLAN(v, b.Has); err != nil {
				return nil, err
			}
			switch there := b.VLAN(v.VlanId) != nil; {
			case there && create:
				return nil, fault.At(
					fault.Exists,
					"vlan-id",
					"VLAN %d exists on switch %s",
					v.VlanId,
					switchdriver.Label(sw),
				)
			case !there && !create:
				return nil, missingVLAN(sw, v.VlanId)
			}
			return b.Write(v, setPorts)
		})
		if err == nil {
			out = after.VLAN(v.VlanId)
		}
		return err
	})
	return out, err
}

// DeleteVLAN implements switchdriver.VLANWriter.
func (d *Driver) DeleteVLAN(ctx context.Context, sw *switchdriver.Switch, id uint32) error {
	if err := switchdriver.CheckVLANID(id); err != nil {
		return err
	}
	if id == 1 {
		return fault.At(
			fault.Invalid,
			"vlan-id",
			"VLAN 1 is the default VLAN and cannot be removed",
		)
	}
	return d.runCall(ctx, sw, true, func(c *call) error {
		_, err := c.changeBridge(func(b *ovsdb.Bridge) (*bridge.State, error) {
			if b.VLAN(id) == nil {
				return nil, missingVLAN(sw, id)
			}
			return b.Remove(int(id))
		})
		return err
	})
}

func missingVLAN(sw *switchdriver.Switch, id uint32) error {
	return fault.At(
		fault.NotFound,
		"vlan-id",
		"switch %s has no VLAN %d",
		switchdriver.Label(sw),
		id,
	)
}

// changeBridge reads, plans, writes and returns what it reads back; a change that somebody else came in
// between of is planned again.
func (c *call) changeBridge(plan func(*ovsdb.Bridge) (*bridge.State, error)) (*bridge.State, error) {
	for try := 0; ; try++ {
		want, err := plan(c.b)
		if err != nil {
			return nil, err
		}
		err = c.Write(c.b, want)
		if errors.Is(err, ovsdb.ErrConflict) && try < 5 {
			if c.b, err = c.readBridge(); err != nil {
				return nil, err
			}
			continue
		}
		var late *ovsdb.NotAppliedError
		if errors.As(err, &late) {
			return nil, c.takeBack(c.b, want, err)
		}
		if err != nil {
			return nil, err
		}
		after, err := c.readBridge()
		if err != nil {
			return nil, err
		}
		if !sameState(&after.State, want) {
			return nil, fmt.Errorf("it accepted the change but shows %v", after.VLANs())
		}
		return &after.State, nil
	}
}

func sameState(a, b *bridge.State) bool {
	return len(a.Ports) == len(b.Ports) && slices.EqualFunc(a.VLANs(), b.VLANs(), func(v, w *switchdriver.VLAN) bool {
		return v.VlanId == w.VlanId &&
			v.Name == w.Name &&
			slices.Equal(v.EgressPorts, w.EgressPorts) &&
			slices.Equal(v.UntaggedPorts, w.UntaggedPorts)
	})
}

// takeBack undoes a change in the database that ovs-vswitchd did not make, in time of
// its own.
func (c *call) takeBack(before *ovsdb.Bridge, want *bridge.State, cause error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.ctx), 5*time.Second)
	defer cancel()
	undo := &call{ctx: ctx, d: c.d, sw: c.sw, at: c.at}
	err := undo.openSession(ctx)
	if err == nil {
		defer undo.Close()
		var now *ovsdb.Bridge
		if now, err = undo.readBridge(); err == nil && !sameState(&now.State, want) {
			return fmt.Errorf(
				"%w; another client has changed it since, so it was not undone",
				cause,
			)
		}
		if err == nil {
			var late *ovsdb.NotAppliedError
			if err = undo.Write(now, &before.State); errors.As(err, &late) {
				err = nil // the database is as it was, which is what it will apply
			}
		}
	}
	if err != nil {
		return fmt.Errorf("%w; and it could not be undone: %w", cause, err)
	}
	return fmt.Errorf("%w; the change was undone", cause)
}
