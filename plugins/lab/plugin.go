// Package lab is the plugin that compares a lab, as a file says it, with the network, as sources of topologies see it.
//
// Package intent reads and writes the files, compare decides, service asks the sources and has the RPCs and commands.
package lab

import (
	"embed"

	"ctl.internal/plugins/lab/service"
	"ctl.internal/sdk"
)

//go:embed plugin.yaml
var manifest []byte

//go:embed yang/*.yang
var modules embed.FS

// Options describe the plugin.
func Options() sdk.Options {
	return sdk.Options{
		Manifest: manifest,
		YANG:     modules,
		New:      service.Start,
		Commands: service.Commands(),
	}
}
