// Command idmtool manages users, roles and grants of a running controller over
// its HTTP interface.
package main

import (
	"context"
	"os"
	"os/signal"

	"ctl.internal/host/internal/idmtool"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(idmtool.Run(ctx, os.Args[1:], idmtool.Std()))
}
