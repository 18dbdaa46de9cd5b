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
