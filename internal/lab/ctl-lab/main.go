// Command ctl-lab runs simulated switches and BIER routers for tests, demonstrations and `make run`.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"ctl.internal/internal/lab/labctl"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := labctl.Command().ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "ctl-lab:", err)
		os.Exit(1)
	}
}
