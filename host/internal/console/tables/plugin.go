package tables

import (
	"context"

	"ctl.internal/host/internal/grant"
	"ctl.internal/host/internal/plugin"
	"ctl.internal/sdk/commands"
)

// Plugins is the supervisor: package plugin's Manager, and a Check that knows the
// settings too.
type Plugins interface {
	List() []plugin.Info
	Info(name string) (plugin.Info, error)
	Start(ctx context.Context, name string) error
	Stop(ctx context.Context, name string) error
	Restart(ctx context.Context, name string) error
	Reload(ctx context.Context, name string) error
	// Kill ends the process at once, as a crash does.
	Kill(ctx context.Context, name string) error
	// Check asks the plugin now and compares its file and settings with what runs.
	// It returns what is not as it should be.
	Check(ctx context.Context, name string) ([]string, error)
	// Decide grants or refuses what a plugin requests.
	Decide(ctx context.Context, name, by string, granted bool, grants []grant.Grant) error
}

// PluginCommands are plugin:*.
func PluginCommands(p Plugins) []commands.Command {
	t := plugins{p}
	return []commands.Command{
		{
			Name:    "plugin:list",
			Summary: "list the plugins and how they are",
			Safe:    true,
			Run:     t.listPlugins,
		},
		{
			Name:      "plugin:info",
			Summary:   "show everything about a plugin",
			Safe:      true,
			Run:       t.showInfo,
			Arguments: []commands.Argument{t.nameArgument(false)},
		},
		{
			Name:      "plugin:check",
			Summary:   "see that plugins answer and that file and settings are those that run",
			Safe:      true,
			Run:       t.checkPlugins,
			Help:      "The exit code is 1 when something was found.",
			Arguments: []commands.Argument{t.nameArgument(true)},
		},
		t.decisionCommand("grant", "grant a plugin what it requests", true,
			"plugin:grant rogue \"rpc vlan:get-vlans\"\nplugin:info shows what a plugin requests. RPCs, data and services are granted at once, files and network\n"+
				"at the next start of its process (plugin:reload). A plugin that waits for the decision is started."),
		t.decisionCommand("revoke", "take back what a plugin was granted", false,
			"plugin:revoke rogue \"rpc vlan:get-vlans\"\nThe plugin keeps running without it. What it has open on that grant ends at once; files and network are closed\n"+
				"at the next start of its process (plugin:reload)."),
		t.pluginsCommand("start", "start plugins that are stopped or failed", "", p.Start),
		t.pluginsCommand(
			"stop",
			"stop plugins",
			"Their calls answer that the plugin is not available, until plugin:start.",
			p.Stop,
		),
		t.pluginsCommand(
			"restart",
			"stop plugins and start them again",
			"Calls in flight fail; plugin:reload loses none. A failed plugin gets a new chance.",
			p.Restart,
		),
		t.pluginsCommand(
			"reload",
			"replace the process of plugins by a new one without losing a call",
			"The new process is started, configured and checked before it takes over; when it fails, the old one stays.",
			p.Reload,
		),
		t.pluginsCommand(
			"kill",
			"end the process of plugins as a crash does, and see them come back",
			"Calls that change nothing wait for the next process; others answer 503. A plugin without a process is an error.",
			p.Kill,
		),
	}
}

type plugins struct{ Plugins }

func (t plugins) nameArgument(repeated bool) commands.Argument {
	return commands.Argument{
		Name:     "name",
		Help:     "name of the plugin",
		Required: true,
		Repeated: repeated,
		Complete: eachName(t.List, func(p plugin.Info) (string, bool) {
			return p.Name, true
		}),
	}
}

func (t plugins) listPlugins(_ context.Context, in *commands.Invocation) error {
	out := &commands.Table{
		Empty: "No plugins",
		Columns: []commands.Column{
			{
				Title: "Name",
				Key:   "name",
			}, {
				Title: "Version",
				Key:   "version",
			}, {
				Title: "State",
				Key:   "state",
			}, {Title: "Health", Key: "health"},
			{
				Title: "PID",
				Key:   "pid",
				Right: true,
			}, {
				Title: "Restarts",
				Key:   "restarts",
				Right: true,
			}, {
				Title: "Since",
				Key:   "since",
			}, {Title: "Reason", Key: "reason"},
		},
	}
	for _, p := range t.List() {
		var pid any
		switch {
		case p.PID != 0:
			pid = p.PID
		case in.Format != "json":
			pid = ""
		}
		out.Add(
			p.Name,
			p.Version,
			p.State.String(),
			healthText(p),
			pid,
			p.Restarts,
			timeCell(in, p.Since),
			p.Reason,
		)
	}
	return in.Emit(out, nil)
}

// healthText is what a plugin says of itself while it runs.
func healthText(p plugin.Info) string {
	switch p.State {
	case plugin.Ready:
		return "healthy"
	case plugin.Degraded:
		return "degraded"
	}
	return "-"
}

func (t plugins) checkPlugins(ctx context.Context, in *commands.Invocation) error {
	out := &commands.Table{
		Empty: "in order",
		Columns: []commands.Column{{
			Title: "Plugin",
			Key:   "plugin",
		}, {Title: "Finding", Key: "finding"}},
	}
	for _, name := range in.Args["name"] {
		found, err := t.Check(ctx, name)
		if err != nil {
			return err
		}
		for _, f := range found {
			out.Add(name, f)
		}
	}
	return emitFindings(in, out)
}

// pluginsCommand does something to plugins one after the other, until one fails.
func (t plugins) pluginsCommand(
	verb, summary, help string,
	do func(context.Context, string) error,
) commands.Command {
	return commands.Command{
		Name: "plugin:" + verb, Summary: summary, Help: help,
		Arguments: []commands.Argument{t.nameArgument(true)},
		Run: func(ctx context.Context, in *commands.Invocation) error {
			defer in.Progress(commands.Progress{})
			for i, name := range in.Args["name"] {
				in.Progress(commands.Progress{
					Text:  verb + " " + name,
					Done:  int64(i),
					Total: int64(len(in.Args["name"])),
				})
				if err := do(ctx, name); err != nil {
					return err
				}
			}
			return nil
		},
	}
}
