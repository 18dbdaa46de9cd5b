package mibdriver

import (
	"context"
	"net/netip"

	"ctl.internal/plugins/switch/mib"
	"ctl.internal/plugins/switch/snmp"
	"ctl.internal/sdk/switchdriver"
)

// Gateway reads the default gateway of a switch; the zero address: it does not report one.
func (d *Driver) Gateway(ctx context.Context, sw *switchdriver.Switch) (netip.Addr, error) {
	t, err := readTarget(sw)
	if err != nil {
		return netip.Addr{}, err
	}
	v, err := d.snmp.Get(ctx, t, mib.Sub(mib.IPRouteNextHop, 0, 0, 0, 0))
	if err != nil {
		return netip.Addr{}, deviceFault(sw, err)
	}
	if a, err := netip.ParseAddr(v[0].Address()); err == nil && !a.IsUnspecified() {
		return a, nil
	}
	var found netip.Addr
	anywhere := mib.Sub(mib.IPCidrRouteNextHop, 0, 0, 0, 0, 0, 0, 0, 0)
	err = d.snmp.WalkFrom(ctx, t, 1, []string{anywhere}, func(_ int, _ []uint32, v snmp.Value) error {
		a, err := netip.ParseAddr(v.Address())
		if err == nil && !a.IsUnspecified() && !found.IsValid() {
			found = a
		}
		return nil
	})
	return found, deviceFault(sw, err)
}
