// Package repoinfo is the plugin that answers questions about source-code repositories,
// from a folder of git clones and from a code-review server. It only reads.
package repoinfo

import (
	_ "embed"

	"ctl.internal/plugins/repoinfo/service"
	"ctl.internal/sdk"
)

//go:embed plugin.yaml
var manifest []byte

// Options describe the plugin.
func Options() sdk.Options {
	return sdk.Options{
		Manifest: manifest,
		New:      service.New,
		Commands: service.Commands(),
	}
}
