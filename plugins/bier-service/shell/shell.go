// Package shell is the shell commands of drivers and routers. RPCs
// are package operations.
package shell

import (
	"context"
	"slices"

	"ctl.internal/internal/bier/bierplugin"
	"ctl.internal/plugins/bier-service/drivers"
	"ctl.internal/plugins/bier-service/mounts"
	"ctl.internal/plugins/bier-service/operations"
	"ctl.internal/sdk/commands"
)

// Shell is what the commands need. The zero Shell describes them; it cannot run one.
type Shell struct {
	Routers   operations.Routers
	Inspector operations.Inspector
	Mounts    *mounts.Mounts
	Board     *drivers.Board
}

// Commands returns the table of commands.
func (s *Shell) Commands() []commands.Command {
	return []commands.Command{s.driverList(), s.sessionList(), s.routerAdd(), s.routerRemove(), s.routerSync(), s.alarmList(), s.alarmClear(), s.verify(), s.ping()}
}

// nodes completes ids of mounted routers.
func (s *Shell) nodes(_ context.Context, prefix string) []string {
	return bierplugin.Complete(slices.Values(s.Mounts.Nodes(s.Mounts.Store.Now())), prefix)
}
