// Command repoinfo is the plugin that answers questions about source-code repositories,
// from a folder of git clones and from a code-review server. It only reads.
package main

import (
	_ "embed"

	"ctl.internal/plugins/repoinfo/service"
	"ctl.internal/sdk"
)

//go:embed plugin.yaml
var manifest []byte

func main() {
	sdk.Serve(sdk.Options{Manifest: manifest, New: service.New, Commands: service.Commands(nil)})
}
