// Package bierchannel is the plugin of multicast flows through BIER domains.
//
// Package channels decides and keeps, service has the RPCs (rpc.go) and the console's commands
// (commands.go). What routers must hold for it is package bier's, that they get it the plugin
// bier-service's.
package bierchannel

import (
	"embed"

	"ctl.internal/internal/bier/bierplugin"
	"ctl.internal/plugins/bier-channel/service"
	"ctl.internal/sdk"
)

//go:embed plugin.yaml yang
var files embed.FS

// Options describe the plugin.
func Options() sdk.Options {
	return bierplugin.Options(files, service.Start, service.Commands())
}
