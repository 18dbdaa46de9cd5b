// Package bierservice is the plugin that brings BIER routers to what topologies
// and channels say. It is the adapter too: it chooses a driver for each router.
//
// Package reconcile keeps desired and observed state together, drivers chooses and
// watches drivers, mounts knows how routers are reached, service ties them
// together and serves the RPCs (rpc.go) and commands (commands.go).
package bierservice

import (
	"embed"

	"ctl.internal/internal/bier/bierplugin"
	"ctl.internal/plugins/bier-service/service"
	"ctl.internal/sdk"
)

//go:embed plugin.yaml yang
var files embed.FS

// Options describe the plugin.
func Options() sdk.Options {
	return bierplugin.Options(files, service.Start, service.Commands(), "network-topology")
}
