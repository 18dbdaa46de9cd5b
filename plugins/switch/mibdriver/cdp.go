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
	r := remotes{discovery.CDP, mib.CDPRemote, map[mib.RemoteIndex]*discovery.Neighbor{}}
	kinds, addresses := map[*discovery.Neighbor]int64{}, map[*discovery.Neighbor][]byte{}
	err := d.walk(ctx, t, firstRows, r.of(mib.CDPAddressType, func(n *discovery.Neighbor, v snmp.Value) { kinds[n] = v.Int() }),
		r.of(mib.CDPAddress, func(n *discovery.Neighbor, v snmp.Value) { addresses[n] = v.Bytes() }),
		r.of(mib.CDPDeviceID, func(n *discovery.Neighbor, v snmp.Value) { n.Chassis.ID = []byte(mib.Text(v.Peek())) }),
		r.of(mib.CDPDevicePort, func(n *discovery.Neighbor, v snmp.Value) {
			n.Port = discovery.Identifier{Subtype: interfaceName, ID: v.Bytes()}
		}),
		r.of(mib.CDPSysName, func(n *discovery.Neighbor, v snmp.Value) { n.SysName = mib.Text(v.Peek()) }))
	for _, n := range r.all {
		if n.SysName == "" {
			n.SysName = cdpName(string(n.Chassis.ID))
		}
		if a, ok := netip.AddrFromSlice(addresses[n]); ok && (kinds[n] == cdpIPv4 && a.Is4() || kinds[n] == cdpIPv6 && a.Is6()) {
			n.Addresses = []netip.Addr{a}
		}
	}
	return r.all, err
}

// cdpName is the name in a device id: some devices add their serial number in
// parentheses.
func cdpName(id string) string {
	name, _, _ := strings.Cut(id, "(")
	return strings.TrimSpace(name)
}
