// Command ctld is the controller's daemon.
package main

import (
	"os"

	"ctl.internal/host/internal/server"
)

func main() {
	os.Exit(server.Main(os.Args[1:], os.Stdout, os.Stderr))
}
