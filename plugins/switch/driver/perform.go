package driver

import (
	"context"

	"ctl.internal/plugins/switch/writes"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

// Perform has the driver of a switch that has an operation carry it out.
func (c *Chooser) Perform(ctx context.Context, sw *switchdriver.Switch, o *writes.Operation) (lines []string, err error) {
	switch o.Name {
	case "WriteVlan":
		return by(ctx, c, sw, o, func(d switchdriver.VLANWriter, sw *switchdriver.Switch) error {
			_, err := d.WriteVLAN(ctx, sw, o.VLAN, o.Create, o.SetPorts)
			return err
		})
	case "DeleteVlan":
		return by(ctx, c, sw, o, func(d switchdriver.VLANWriter, sw *switchdriver.Switch) error {
			return d.DeleteVLAN(ctx, sw, o.VLAN.VlanId)
		})
	case "WriteFdbEntry":
		return by(ctx, c, sw, o, func(d switchdriver.FDBWriter, sw *switchdriver.Switch) error { return d.WriteFDBEntry(ctx, sw, o.FDB) })
	case "DeleteFdbEntry":
		return by(ctx, c, sw, o, func(d switchdriver.FDBWriter, sw *switchdriver.Switch) error {
			return d.DeleteFDBEntry(ctx, sw, o.FDB.VlanId, o.FDB.Mac)
		})
	case "WriteStp":
		return by(ctx, c, sw, o, func(d switchdriver.STPWriter, sw *switchdriver.Switch) error {
			return d.WriteSTP(ctx, sw, o.Port, o.Enable)
		})
	case "WriteArpEntry":
		return by(ctx, c, sw, o, func(d switchdriver.ARPWriter, sw *switchdriver.Switch) error {
			return d.WriteARPEntry(ctx, sw, o.ARP, o.Prefix)
		})
	case "DeleteArpEntry":
		return by(ctx, c, sw, o, func(d switchdriver.ARPWriter, sw *switchdriver.Switch) error {
			return d.DeleteARPEntry(ctx, sw, o.ARP.IpAddress)
		})
	case "ApplyAcl":
		return by(ctx, c, sw, o, func(d switchdriver.ACLApplier, sw *switchdriver.Switch) error {
			return d.ApplyACL(ctx, sw, o.ACL.Action, o.ACL.Profile, o.ACL.Rule)
		})
	case "ApplySettings":
		_, err := by(ctx, c, sw, o, func(d switchdriver.SettingsApplier, sw *switchdriver.Switch) error {
			s := o.Settings
			lines, err = d.ApplySettings(ctx, &switchdriver.Settings{Switch: sw, DisableStp: s.DisableStp, DisableBpduFlooding: s.DisableBpduFlooding,
				DisableBroadcastFlooding: s.DisableBroadcastFlooding, DisableMulticastFlooding: s.DisableMulticastFlooding,
				DisableUnknownFlooding: s.DisableUnknownFlooding, DisableLearning: s.DisableLearning})
			return err
		})
		return lines, err
	}
	return nil, fault.New(fault.Internal, "the operation %s is not known", o.Name)
}

// by has the first driver of a switch that has an operation do it.
func by[T any](ctx context.Context, c *Chooser, sw *switchdriver.Switch, o *writes.Operation, do func(T, *switchdriver.Switch) error) ([]string, error) {
	d, known, err := For[T](ctx, c, sw, o.Name)
	if err != nil {
		return nil, err
	}
	return nil, do(d, known)
}
