package main

import (
	"embed"

	"ctl.internal/plugins/bier-channel/service"
	"ctl.internal/sdk"
)

//go:embed plugin.yaml yang
var files embed.FS

func main() { sdk.Serve(service.Options(files)) }
