// Command ctl is the console client of the controller, and the operator's tool for
// its files.
package main

import (
	"os"

	"ctl.internal/host/internal/ctlclient"
)

func main() {
	os.Exit(ctlclient.Main(os.Args[1:], ctlclient.Std()))
}
