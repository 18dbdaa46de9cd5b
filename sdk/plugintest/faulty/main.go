// Command faulty is a plugin that misbehaves on request: by the environment
// variable FAULTY before it serves, by its settings, and by its RPCs while it
// serves. The tests of the host and of plugintest drive it. It is in no catalogue.
package main

import (
	"bytes"
	"embed"
	"os"
	"strings"

	"ctl.internal/internal/wire"
	"ctl.internal/sdk"
)

//go:embed plugin.yaml
var manifest []byte

//go:embed yang/*.yang
var modules embed.FS

func main() {
	beforeServing()
	if v := os.Getenv("CONTRACT"); v != "" { // as a plugin of another release
		wire.APIVersions = strings.Fields(v)
	}
	if v := os.Getenv("READS"); v != "" { // it requests a file
		manifest = bytes.Replace(manifest, []byte("requests:\n"), []byte("requests:\n  - {read: \""+v+"\"}\n"), 1)
	}
	sdk.Serve(sdk.Options{Manifest: manifest, YANG: modules, New: newPlugin, Commands: table()})
}
