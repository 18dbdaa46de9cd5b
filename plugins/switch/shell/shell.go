package shell

import (
	"context"

	"ctl.internal/plugins/switch/changes"
	"ctl.internal/plugins/switch/driver"
	"ctl.internal/plugins/switch/inventory"
	"ctl.internal/plugins/switch/journal"
	"ctl.internal/plugins/switch/sdn"
	"ctl.internal/plugins/switch/survey"
	"ctl.internal/plugins/switch/traps"
	"ctl.internal/plugins/switch/xmldriver"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/switchcli/hostkeys"
)

// Shell is what the commands need. The zero Shell describes them; it cannot run one.
type Shell struct {
	Home      string // the controller's, for relative paths
	Inventory *inventory.Inventory
	Drivers   *driver.Chooser
	Survey    *survey.Surveyor
	Database  *inventory.Database
	Journal   *journal.Journal
	Vendors   *xmldriver.Source
	Keys      *hostkeys.Keys
	SDN       *sdn.Applier
	// Remember keeps the path of the list for the next start; nil = it is forgotten.
	Remember func(ctx context.Context, path string) error
	Traps    *traps.Receiver // nil = off
	History  *changes.Log
}

// HostKeys is the command that lists and forgets SSH host keys.
const HostKeys = "switch:hostkeys"

// Commands returns the table of commands.
func (s *Shell) Commands() []commands.Command {
	return []commands.Command{s.readDB(), s.printDB(), s.importDB(), s.exportDB(), s.edges(), s.traps(), s.history(), s.drivers(), s.vendors(), s.acls(), s.changes(), s.sdnSettings(),
		hostkeys.Table(HostKeys, func() *hostkeys.Keys { return s.Keys }),
		s.topoDiscover("switch:TopoDiscover", survey.All, "Discover switches, ports and edges",
			"Asks all switches of the list for their ports and neighbours and shows what was found. A switch that\n"+
				"does not answer keeps what it last told. Runs by itself when the list is loaded and periodically."),
		s.topoDiscover("switch:TopoDiscoverSwitches", survey.Switches, "Discover switches and ports only",
			"Like switch:TopoDiscover, but the edges stay as they are."),
		s.topoDiscover("switch:TopoDiscoverEdges", survey.Edges, "Discover edges only",
			"Like switch:TopoDiscover, but only switches that are known already are asked; none is added or removed."),
	}
}
