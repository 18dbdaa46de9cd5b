// Package service asks the sources of topologies what they see, and has the RPCs and commands of labs.
package service

import (
	"context"

	"ctl.internal/sdk"
	"ctl.internal/sdk/host"
	"ctl.internal/sdk/operations"
)

// Service is the running plugin.
type Service struct {
	host *host.Client
	home string // the controller's, for relative paths
}

// Start makes the plugin for the host.
func Start(_ context.Context, env *sdk.Env) (*sdk.Plugin, error) {
	s := &Service{
		host: env.Host,
		home: env.Home(),
	}
	return &sdk.Plugin{
		Operations: operations.Mux{
			"lab:check":  operations.Func(s.check),
			"lab:export": operations.Func(s.export),
		},
		Commands: s.commandTable(),
	}, nil
}
