// Command ctl-plugins is all plugins in one file, since they share most of their code. Started
// by the hard link with a plugin's name it is that plugin, in a process of its own.
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
		fmt.Fprintf(os.Stderr, usage, pluginNames())
		os.Exit(2)
	}
	if err := linkAll(os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "ctl-plugins:", err)
		os.Exit(1)
	}
}
