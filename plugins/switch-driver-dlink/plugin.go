// Package switchdriverdlink does at the command line of D-Link switches of the xStack series
// what the standard MIBs have nothing for: access lists, spanning tree, and the
// settings that SDN needs. See docs/switch-driver.md.
//
// Package device types the commands, by telnet or SSH.
package switchdriverdlink

import (
	_ "embed"

	"ctl.internal/plugins/switch-driver-dlink/device"
	"ctl.internal/sdk"
)

//go:embed plugin.yaml
var manifest []byte

// Options describe the plugin.
func Options() sdk.Options {
	return sdk.Options{
		Manifest: manifest,
		New:      device.New,
		Commands: device.Commands(),
	}
}
