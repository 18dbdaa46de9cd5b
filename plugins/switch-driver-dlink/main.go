package main

import (
	_ "embed"

	"ctl.internal/plugins/switch-driver-dlink/service"
	"ctl.internal/sdk"
)

//go:embed plugin.yaml
var manifest []byte

func main() {
	sdk.Serve(sdk.Options{Manifest: manifest, New: service.New, Commands: service.Commands()})
}
