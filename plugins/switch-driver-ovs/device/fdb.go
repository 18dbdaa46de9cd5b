package device

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

// runUnixctl has ovs-vswitchd carry out a command.
func (c *call) runUnixctl(method string, params ...string) (string, error) {
	if c.at.Unixctl == "" {
		return "", fault.New(
			fault.Unsupported,
			"the forwarding table of switch %s is only available through the control socket of its ovs-vswitchd; set it as unixctl in etc/switch-driver-ovs.yaml",
			switchdriver.Label(c.sw),
		)
	}
	out, err := runAppctl(c.ctx, c.at.Unixctl, method, params...)
	if err != nil {
		return "", fmt.Errorf("%s, %s: %w", c.at.Unixctl, method, err)
	}
	return out, nil
}

// readFDB reads the forwarding table.
func (c *call) readFDB() ([]*switchdriver.FDBEntry, error) {
	text, err := c.runUnixctl("fdb/show", c.b.Name)
	if err != nil {
		return nil, err
	}
	var out []*switchdriver.FDBEntry
	for _, e := range parseFDB(text) {
		p := c.b.Port(e.Port)
		if p == nil {
			continue // gone since, or the bridge's own
		}
		kind := switchdriver.FDBLearned
		if e.Static {
			kind = switchdriver.FDBMgmt
		}
		out = append(
			out,
			&switchdriver.FDBEntry{
				VlanId: e.VLAN,
				Mac:    e.MAC,
				Port:   p.Number,
				Type:   kind,
			},
		)
	}
	return out, nil
}

// ReadFDB implements switchdriver.FDBReader.
func (d *Driver) ReadFDB(
	ctx context.Context,
	sw *switchdriver.Switch,
	vlan uint32,
	mac uint64,
) (out []*switchdriver.FDBEntry, err error) {
	err = d.runCall(ctx, sw, false, func(c *call) error {
		all, err := c.readFDB()
		if err != nil || (vlan == 0 && mac == 0) {
			out = all
			return err
		}
		out = slices.DeleteFunc(all, func(e *switchdriver.FDBEntry) bool {
			return e.VlanId != vlan || e.Mac != mac
		})
		if len(out) == 0 {
			return noEntry(sw, vlan, mac)
		}
		return nil
	})
	return out, err
}

func noEntry(sw *switchdriver.Switch, vlan uint32, mac uint64) error {
	return fault.New(
		fault.NotFound,
		"switch %s has no entry for %s in VLAN %d",
		switchdriver.Label(sw),
		formatMAC(mac),
		vlan,
	)
}

// WriteFDBEntry implements switchdriver.FDBWriter. The entry lives as long as
// ovs-vswitchd runs: it keeps them in memory only.
func (d *Driver) WriteFDBEntry(
	ctx context.Context,
	sw *switchdriver.Switch,
	e *switchdriver.FDBEntry,
) error {
	if err := switchdriver.CheckFDBEntry(e); err != nil {
		return err
	}
	if e.Type != 0 && e.Type != switchdriver.FDBMgmt {
		return fault.At(fault.Invalid, "type", "only static entries (MGMT) can be made")
	}
	return d.runCall(ctx, sw, true, func(c *call) error {
		v := c.b.VLAN(e.VlanId)
		if v == nil {
			return missingVLAN(sw, e.VlanId)
		}
		if !slices.Contains(v.EgressPorts, e.Port) {
			return fault.At(
				fault.Invalid,
				"port",
				"port %d is not in VLAN %d of switch %s; its ports are %v",
				e.Port,
				e.VlanId,
				switchdriver.Label(sw),
				v.EgressPorts,
			)
		}
		_, err := c.runUnixctl(
			"fdb/add",
			c.b.Name,
			c.b.Port(e.Port).Name,
			fmt.Sprint(e.VlanId),
			formatMAC(e.Mac),
		)
		if err != nil {
			return err
		}
		return c.readBack(e.VlanId, e.Mac, e.Port)
	})
}

// DeleteFDBEntry implements switchdriver.FDBWriter. Learned entries age out.
func (d *Driver) DeleteFDBEntry(
	ctx context.Context,
	sw *switchdriver.Switch,
	vlan uint32,
	mac uint64,
) error {
	err := errors.Join(switchdriver.CheckVLANID(vlan), switchdriver.CheckUnicast(mac))
	if err != nil {
		return err
	}
	return d.runCall(ctx, sw, true, func(c *call) error {
		all, err := c.readFDB()
		if err != nil {
			return err
		}
		i := slices.IndexFunc(all, func(e *switchdriver.FDBEntry) bool {
			return e.VlanId == vlan && e.Mac == mac
		})
		switch {
		case i < 0:
			return noEntry(sw, vlan, mac)
		case all[i].Type != switchdriver.FDBMgmt:
			return fault.Device(
				fault.Unsupported,
				"the entry for %s in VLAN %d of switch %s was learned; only static entries can be removed, it ages out by itself",
				formatMAC(mac),
				vlan,
				switchdriver.Label(sw),
			)
		}
		if _, err := c.runUnixctl(
			"fdb/del",
			c.b.Name,
			fmt.Sprint(vlan),
			formatMAC(mac),
		); err != nil {
			return err
		}
		return c.readBack(vlan, mac, 0)
	})
}

// readBack checks that an entry is at a port; 0: that it is not static any more.
func (c *call) readBack(vlan uint32, mac uint64, port uint32) error {
	all, err := c.readFDB()
	if err != nil {
		return err
	}
	var at uint32
	for _, e := range all {
		if e.VlanId == vlan && e.Mac == mac && e.Type == switchdriver.FDBMgmt {
			at = e.Port
		}
	}
	if at != port {
		return fmt.Errorf("it accepted the change but shows the entry at port %d", at)
	}
	return nil
}

func formatMAC(mac uint64) string {
	return fmt.Sprintf(
		"%02x:%02x:%02x:%02x:%02x:%02x",
		byte(mac>>40),
		byte(mac>>32),
		byte(mac>>24),
		byte(mac>>16),
		byte(mac>>8),
		byte(mac),
	)
}
