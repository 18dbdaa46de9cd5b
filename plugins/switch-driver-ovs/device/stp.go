package device

import (
	"context"
	"fmt"

	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

// ReadSTP implements switchdriver.STPReader. Without a spanning tree a port that is up
// forwards, and there is no root.
func (d *Driver) ReadSTP(
	ctx context.Context,
	sw *switchdriver.Switch,
	port uint32,
) (out []*switchdriver.STPPort, enabled bool, err error) {
	err = d.runCall(ctx, sw, false, func(c *call) error {
		enabled = c.b.STP
		for _, p := range c.b.Ports {
			if p.Number != 0 && (port == 0 || p.Number == port) {
				out = append(
					out,
					&switchdriver.STPPort{
						Port:           p.Number,
						State:          p.State(),
						Enabled:        p.STP,
						DesignatedRoot: c.b.Root(),
					},
				)
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
	return fault.At(
		fault.NotFound,
		"port",
		"switch %s has no port %d",
		switchdriver.Label(sw),
		port,
	)
}

// WriteSTP implements switchdriver.STPWriter.
func (d *Driver) WriteSTP(
	ctx context.Context,
	sw *switchdriver.Switch,
	port uint32,
	on bool,
) error {
	return d.runCall(ctx, sw, true, func(c *call) error { return c.writeSTP(port, on) })
}

func (c *call) writeSTP(port uint32, on bool) (err error) {
	p := c.b.Port(port)
	switch {
	case port != 0 && p == nil:
		return noPort(c.sw, port)
	case port != 0 && p.STP != on:
		err = c.SetPortSTP(p, on)
	case port == 0 && c.b.STP != on:
		err = c.SetSTP(c.b, on)
	}
	if err != nil {
		return err
	}
	after, err := c.readBridge()
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
func (d *Driver) ApplySettings(
	ctx context.Context,
	s *switchdriver.Settings,
) (report []string, err error) {
	sw := s.GetSwitch()
	err = d.runCall(ctx, sw, true, func(c *call) error {
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
				report = append(
					report,
					x.what+": left as it is; on Open vSwitch the flow table decides that, through an OpenFlow controller",
				)
			}
		}
		return nil
	})
	return report, err
}

func (c *call) stpOff(dry bool) (string, error) {
	switch {
	case !c.b.STP:
		return "spanning tree: off already", nil
	case dry:
		return fmt.Sprintf(
			"spanning tree: would be switched off (bridge %s: stp_enable=false rstp_enable=false)",
			c.b.Name,
		), nil
	}
	return "spanning tree: switched off", c.writeSTP(0, false)
}
