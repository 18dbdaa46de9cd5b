package shell

import (
	"context"

	"ctl.internal/plugins/switch/inventory"
	"ctl.internal/sdk/commands"
)

// drivers shows which drivers there are, or with a switch the order they are asked in.
func (s *Shell) drivers() commands.Command {
	return commands.Command{
		Name: "switch:drivers", Summary: "Show the switch drivers and what each is for", Safe: true,
		Help: "A driver is chosen for a switch by the Driver column of the switch list, else by its model, else by the\n" +
			"longest prefix of its sysObjectID, else by its sysDescr. What it cannot do the standard-MIB driver does.\n" +
			"Drivers are plugins: install the feature of one, and the switches it is for are its own at once.",
		Run: func(_ context.Context, in *commands.Invocation) error {
			t := commands.Table{Columns: []commands.Column{{Title: "Driver", Key: "driver"}, {Title: "Version", Key: "version"},
				{Title: "State", Key: "state", Max: 60}, {Title: "Switches", Key: "switches", Right: true},
				{Title: "For", Key: "for", Max: 60}, {Title: "Operations", Key: "operations", Max: 120}}}
			count := map[string]int{}
			for _, e := range s.Inventory.Entries() {
				count[s.Drivers.Choices(inventory.Switch(e))[0].Name]++
			}
			for _, d := range s.Drivers.Drivers() {
				t.Add(d.Name, d.Version, d.State, count[d.Name], commands.List(", ", d.For), commands.List(" ", d.Operations))
			}
			return in.Emit(t, nil)
		},
	}
}
