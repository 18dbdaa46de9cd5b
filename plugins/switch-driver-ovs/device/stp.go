package device

import (
	"context"
	"fmt"

	"ctl.internal/plugins/switch-driver-ovs/ovsdb"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

// ReadSTP implements switchdriver.STPReader. Without a spanning tree a port that is up
// forwards, and there is no root.
func (d *Driver) ReadSTP(ctx context.Context, sw *switchdriver.Switch, port uint32) (out []*switchdriver.STPPort, enabled bool, err error) {
	err = d.run(ctx, sw, false, func(c *call) error {
		b, err := c.bridge()
		if err != nil {
			return err
		}
		enabled = b.STP
		for _, p := range b.Ports {
			if p.Number != 0 && (port == 0 || p.Number == port) {
				out = append(out, &switchdriver.STPPort{Port: p.Number, State: p.State(), Enabled: p.STP, DesignatedRoot: b.Root()})
			}
		}
		if port != 0 && len(out) == 0 {
			return noPort(sw, port)
		}
		return nil
	})
	return out, enabled, err
}

func noPort(sw *switchdriver.Switch, port uint32) error {
	return fault.At(fault.NotFound, "port", "switch %s has no port %d", switchdriver.Label(sw), port)
}

// WriteSTP implements switchdriver.STPWriter.
func (d *Driver) WriteSTP(ctx context.Context, sw *switchdriver.Switch, port uint32, on bool) error {
	return d.run(ctx, sw, true, func(c *call) error { return c.writeSTP(port, on) })
}

func (c *call) writeSTP(port uint32, on bool) error {
	b, err := c.bridge()
	if err != nil {
		return err
	}
	if port == 0 {
		if b.STP != on {
			err = c.SetSTP(b, on)
		}
	} else {
		var p *ovsdb.Port
		if p = b.Port(port); p == nil {
			return noPort(c.sw, port)
		}
		if p.STP != on {
			err = c.SetPortSTP(p, on)
		}
	}
	if err != nil {
		return err
	}
	after, err := c.bridge()
	if err != nil {
		return err
	}
	is := after.STP
	if port != 0 {
		p := after.Port(port)
		is = p != nil && p.STP
	}
	if is != on {
		return fmt.Errorf("it accepted the change but shows spanning tree as %v", is)
	}
	return nil
}

// ApplySettings implements switchdriver.SettingsApplier. Of what SDN needs, OVSDB has
// the spanning tree; flooding and learning are matters of OpenFlow.
func (d *Driver) ApplySettings(ctx context.Context, s *switchdriver.Settings) (report []string, err error) {
	sw := s.GetSwitch()
	err = d.run(ctx, sw, true, func(c *call) error {
		if s.DisableStp {
			line, err := c.stpOff(s.DryRun)
			if err != nil {
				return err
			}
			report = append(report, line)
		}
		for _, x := range []struct {
			asked bool
			what  string
		}{{s.DisableBpduFlooding, "BPDU flooding"}, {s.DisableBroadcastFlooding, "broadcast flooding"}, {s.DisableMulticastFlooding, "multicast flooding"},
			{s.DisableUnknownFlooding, "flooding of unknown addresses"}, {s.DisableLearning, "learning"}} {
			if x.asked {
				report = append(report, x.what+": left as it is; on Open vSwitch the flow table decides that, through an OpenFlow controller")
			}
		}
		return nil
	})
	return report, err
}

func (c *call) stpOff(dry bool) (string, error) {
	b, err := c.bridge()
	switch {
	case err != nil:
		return "", err
	case !b.STP:
		return "spanning tree: off already", nil
	case dry:
		return fmt.Sprintf("spanning tree: would be switched off (bridge %s: stp_enable=false rstp_enable=false)", b.Name), nil
	}
	return "spanning tree: switched off", c.writeSTP(0, false)
}
