// Package bierdrivercli configures BIER routers at their command line over SSH, with
// templates from its settings. It is also the example of a driver by a third party:
// it uses nothing of the controller but package bierdriver. See docs/bier-driver.md.
//
// Package template decides, without I/O, what to type; package device types it.
package bierdrivercli

import (
	_ "embed"

	"ctl.internal/plugins/bier-driver-cli/device"
	"ctl.internal/sdk"
)

//go:embed plugin.yaml
var manifest []byte

// Options describe the plugin.
func Options() sdk.Options {
	return sdk.Options{Manifest: manifest, New: device.Start}
}
