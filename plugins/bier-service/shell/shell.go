// Package shell is the shell commands of drivers and routers, one file each. RPCs
// are package operations.
package shell

import (
	"context"
	"strings"

	"ctl.internal/plugins/bier-service/drivers"
	"ctl.internal/plugins/bier-service/mounts"
	"ctl.internal/plugins/bier-service/operations"
	"ctl.internal/sdk/commands"
)

// Shell is what the commands need. The zero Shell describes them; it cannot run one.
type Shell struct {
	Routers operations.Routers
	Mounts  *mounts.Mounts
	Board   *drivers.Board
}

// Commands returns the table of commands.
func (s *Shell) Commands() []commands.Command {
	return []commands.Command{s.driverList(), s.sessionList(), s.routerAdd(), s.routerRemove(), s.routerSync()}
}

// nodes completes ids of mounted routers.
func (s *Shell) nodes(_ context.Context, prefix string) (out []string) {
	for _, id := range s.Mounts.Nodes(s.Mounts.Store.Now()) {
		if strings.HasPrefix(id, prefix) && len(out) < 200 {
			out = append(out, id)
		}
	}
	return out
}
