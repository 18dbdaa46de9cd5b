package mibdriver

import (
	"context"
	"net/netip"
	"strings"

	"ctl.internal/plugins/switch/discovery"
	"ctl.internal/plugins/switch/mib"
	"ctl.internal/plugins/switch/snmp"
)

// The values of CiscoNetworkProtocol that are addresses, and the subtype of a port
// id that is an interface's name.
const (
	cdpIPv4       = 1
	cdpIPv6       = 20
	interfaceName = 5
)

// cdpRemotes reads cdpCacheTable. A device's id is a name or a serial number of
// whatever form: an identifier without a subtype.
func (d *Driver) cdpRemotes(ctx context.Context, t snmp.Target) (map[mib.RemoteIndex]*discovery.Neighbor, error) {
	columns := []string{mib.CDPAddressType, mib.CDPAddress, mib.CDPDeviceID, mib.CDPDevicePort, mib.CDPSysName}
	out := map[mib.RemoteIndex]*discovery.Neighbor{}
	kinds, addresses := map[mib.RemoteIndex]int64{}, map[mib.RemoteIndex][]byte{}
	err := d.snmp.WalkFrom(ctx, t, firstRows, columns, func(c int, ix []uint32, v snmp.Value) error {
		_, row, ok := mib.CDPRemote(ix)
		if !ok {
			return nil
		}
		n := neighborAt(out, row, discovery.CDP)
		if n == nil {
			return nil
		}
		switch c {
		case 0:
			kinds[row] = v.Int()
		case 1:
			addresses[row] = v.Bytes()
		case 2:
			n.Chassis.ID = []byte(mib.Text(v.Peek()))
		case 3:
			n.Port = discovery.Identifier{Subtype: interfaceName, ID: v.Bytes()}
		case 4:
			n.SysName = mib.Text(v.Peek())
		}
		return nil
	})
	for row, n := range out {
		if n.SysName == "" {
			n.SysName = cdpName(string(n.Chassis.ID))
		}
		if a, ok := netip.AddrFromSlice(addresses[row]); ok && (kinds[row] == cdpIPv4 && a.Is4() || kinds[row] == cdpIPv6 && a.Is6()) {
			n.Addresses = []netip.Addr{a}
		}
	}
	return out, err
}

// cdpName is the name in a device id: some devices add their serial number in
// parentheses.
func cdpName(id string) string {
	name, _, _ := strings.Cut(id, "(")
	return strings.TrimSpace(name)
}
