package plugin

import (
	"ctl.internal/sdk/commands"
)

// Commands returns the shell commands of all plugins, ready to run, by the newest
// manifests. accept chooses the plugins whose commands are shown; nil = all.
func (m *Manager) Commands(accept func(plugin string) bool) []commands.Command {
	var out []commands.Command
	for _, s := range m.index.Load().plugins {
		if accept == nil || accept(s.name) {
			out = append(out, commands.FromProto(s.manifest.Load().GetCommands(), commands.NewClient(conn{s}))...)
		}
	}
	return out
}
