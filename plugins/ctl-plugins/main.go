// Command ctl-plugins is all plugins of the controller in one file. Started under the name
// of a plugin it is that plugin: each has a hard link of its own, and each process is one
// plugin. One file because the thirteen share nearly all of their code.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"ctl.internal/sdk"
)

func main() {
	if options, ok := plugins[filepath.Base(os.Args[0])]; ok {
		sdk.Serve(options())
	}
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "ctl-plugins:", err)
		os.Exit(2)
	}
}
