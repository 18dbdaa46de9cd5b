// Package switchdriverovs drives the bridges of Open vSwitch hosts: VLANs, ports and
// spanning tree through OVSDB (RFC 7047), the forwarding table through the control
// socket of ovs-vswitchd. See docs/switch-driver.md.
//
// Package bridge decides, without I/O, what a change of VLANs is; ovsdb speaks to a host's
// database; device joins them to the operations of the contract.
package switchdriverovs

import (
	_ "embed"

	"ctl.internal/plugins/switch-driver-ovs/device"
	"ctl.internal/sdk"
)

//go:embed plugin.yaml
var manifest []byte

// Options describe the plugin.
func Options() sdk.Options {
	return sdk.Options{Manifest: manifest, New: device.New}
}
