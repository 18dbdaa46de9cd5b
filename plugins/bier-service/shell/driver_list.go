package shell

import (
	"context"

	"ctl.internal/sdk/commands"
)

func (s *Shell) driverList() commands.Command {
	return commands.Command{Name: "bier:driver-list", Summary: "List the drivers of BIER routers", Safe: true,
		Help: "Shows each driver with what it is for. A router gets the driver that its mount names, else the one that fits\nbest what it announces.",
		Run:  s.runDriverList}
}

func (s *Shell) runDriverList(ctx context.Context, in *commands.Invocation) error {
	t := &commands.Table{Empty: "No driver is installed; feature:install ctl-bier-driver brings one.", Columns: []commands.Column{
		{Title: "Driver", Key: "name"}, {Title: "Version", Key: "version"}, {Title: "Ready", Key: "ready"}, {Title: "Priority", Key: "priority", Right: true},
		{Title: "By itself", Key: "probes"}, {Title: "Dialects", Key: "dialects"}, {Title: "Capabilities", Key: "capabilities", Max: 60}, {Title: "Trouble", Key: "trouble"}}}
	for _, d := range s.Board.List(ctx) {
		trouble := ""
		if d.Err != nil {
			trouble = d.Err.Error()
		}
		t.Add(d.Name, d.Version, d.Ready, d.About.Priority, d.About.Probes, commands.List(", ", d.About.Dialects), commands.List(", ", d.About.Capabilities), trouble)
	}
	return in.Emit(t, nil)
}
