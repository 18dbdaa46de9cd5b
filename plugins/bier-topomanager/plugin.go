// Package biertopomanager is the plugin of BIER topologies: what sources of the
// capability topology discover, and the domains, sub-domains and node parameters
// that users configure on it.
//
// Package model decides, sources follows the plugins that discover, importer reads files, service keeps all that
// (data.go) and has the RPCs (rpc.go, query.go) and the console's commands (commands.go). Channels are the plugin bier-channel, routers bier-service.
package biertopomanager

import (
	"embed"

	"ctl.internal/internal/bier/bierplugin"
	"ctl.internal/plugins/bier-topomanager/service"
	"ctl.internal/sdk"
)

//go:embed plugin.yaml yang
var files embed.FS

// Options describe the plugin.
func Options() sdk.Options {
	return bierplugin.Options(files, service.Start, service.Commands(), "network-topology")
}
