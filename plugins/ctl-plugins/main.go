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
	if len(os.Args) != 3 || os.Args[1] != "link" {
		fmt.Fprintf(os.Stderr, usage, names())
		os.Exit(2)
	}
	if err := linkAll(os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "ctl-plugins:", err)
		os.Exit(1)
	}
}
