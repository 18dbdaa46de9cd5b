// Package tables holds the controller's own command tables, one scope a file:
// feature, plugin, log, config, system. Each states the small interface it needs.
// The shell's own commands (help, history …) are in package engine.
package tables

import (
	"context"

	"google.golang.org/grpc"

	"ctl.internal/host/internal/console/engine"
	"ctl.internal/host/internal/feature"
	"ctl.internal/host/internal/plugin"
	"ctl.internal/sdk/commands"
)

// CLI reports whether an installed feature switches a command on; the command is
// a plugin's, or the controller's own; the CLI method of a feature.Target.
type CLI func(plugin, command string) bool

// Permits is the error of a plugin's command that the caller may not carry out.
type Permits func(ctx context.Context, plugin string, in *commands.Invocation) error

// FromPlugins is the commands of plugins whose feature brings them; m is package
// plugin's Manager.
func FromPlugins(m interface {
	List() []plugin.Info
	Fresh(name string) (grpc.ClientConnInterface, error)
	OnNode(name string, err error) (grpc.ClientConnInterface, bool)
}, on CLI, permits Permits) engine.Source {
	return func() []commands.Command {
		var out []commands.Command
		for _, p := range m.List() {
			if len(p.Manifest.GetCommands()) == 0 {
				continue
			}
			conn, err := m.Fresh(p.Name)
			if err != nil { // removed since List
				continue
			}
			for _, c := range commands.FromProto(
				p.Manifest.GetCommands(),
				commands.NewClient(conn),
			) {
				if !on(p.Name, c.Name) {
					continue
				}
				run := c.Run
				c.Run = func(ctx context.Context, in *commands.Invocation) error {
					if err := permits(ctx, p.Name, in); err != nil {
						return err
					}
					err := run(ctx, in)
					other, ok := m.OnNode(p.Name, err)
					if ok && err != nil {
						return commands.NewClient(other).Execute(ctx, in)
					}
					return err
				}
				out = append(out, withRepeatableRun(c))
			}
		}
		return out
	}
}

// withRepeatableRun lets a command that changes nothing survive a crash of its plugin.
func withRepeatableRun(c commands.Command) commands.Command {
	if run := c.Run; c.Safe {
		c.Run = func(ctx context.Context, in *commands.Invocation) error {
			return run(plugin.Safe(ctx), in)
		}
	}
	return c
}

// FromHost is a table of the controller's own that a feature brings: the whole table by its name, or single
// commands, such as aaa:*.
func FromHost(name string, table func() []commands.Command, on CLI) engine.Source {
	return func() []commands.Command {
		var out []commands.Command
		for _, c := range table() {
			if on(feature.HostPlugin, name) || on(feature.HostPlugin, c.Name) {
				out = append(out, c)
			}
		}
		return out
	}
}
