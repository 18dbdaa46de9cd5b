// Package biertopomanager is the plugin of BIER topologies: what sources of the
// capability topology discover, and the domains, sub-domains and node parameters
// that users configure on it.
//
// Package model decides, store keeps, operations and shell serve, service ties
// them together. Channels are the plugin bier-channel, routers bier-service.
package biertopomanager

import (
	"embed"

	"ctl.internal/internal/bier/bierplugin"
	"ctl.internal/plugins/bier-topomanager/service"
	"ctl.internal/plugins/bier-topomanager/shell"
	"ctl.internal/sdk"
)

//go:embed plugin.yaml yang
var files embed.FS

// Options describe the plugin.
func Options() sdk.Options {
	return bierplugin.Options(files, service.Start, (&shell.Shell{}).Commands(), "network-topology")
}
