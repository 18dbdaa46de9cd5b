// Package bierdriverietf configures BIER routers over NETCONF with the IETF's modules.
//
// Package dialect decides, without I/O, what to send; package device keeps the
// sessions and sends it. For routers with a command line see bier-driver-cli.
package bierdriverietf

import (
	_ "embed"

	"ctl.internal/plugins/bier-driver-ietf/device"
	"ctl.internal/sdk"
)

//go:embed plugin.yaml
var manifest []byte

// Options describe the plugin.
func Options() sdk.Options {
	return sdk.Options{Manifest: manifest, New: device.Start}
}
