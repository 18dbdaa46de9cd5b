// Command openflow is the plugin that OpenFlow 1.3 switches connect to. It finds switches
// and the links between them, and publishes both as a topology. The only rules it installs
// are those it needs for that.
//
// Package channel reads and writes messages, ofp13 is their codec, discovery decides, lldp
// proves links, service connects all of it with the host, shell shows it.
package main

import (
	"embed"

	"ctl.internal/plugins/openflow/service"
	"ctl.internal/sdk"
)

//go:embed plugin.yaml
var manifest []byte

//go:embed yang
var modules embed.FS

func main() {
	sdk.Serve(sdk.Options{Manifest: manifest, YANG: modules, New: service.New, Commands: service.Commands()})
}
