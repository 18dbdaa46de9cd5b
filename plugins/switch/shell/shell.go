package shell

import (
	"context"

	"ctl.internal/internal/switchcli/hostkeys"
	"ctl.internal/plugins/switch/changes"
	"ctl.internal/plugins/switch/driver"
	"ctl.internal/plugins/switch/inventory"
	"ctl.internal/plugins/switch/sdn"
	"ctl.internal/plugins/switch/survey"
	"ctl.internal/plugins/switch/traps"
	"ctl.internal/plugins/switch/writes"
	"ctl.internal/plugins/switch/xmldriver"
	"ctl.internal/sdk/commands"
)

// Shell is what the commands need. The zero Shell describes them; it cannot run one.
type Shell struct {
	Home      string // the controller's, for relative paths
	Inventory *inventory.Inventory
	Drivers   *driver.Chooser
	Survey    *survey.Surveyor
	Database  *inventory.Database
	Writes    *writes.Writer
	Vendors   *xmldriver.Source
	Keys      *hostkeys.Keys
	SDN       *sdn.Applier
	// Discover asks the switches, from the process that acts on them.
	Discover func(ctx context.Context, scope survey.Scope, progress func(done, total int)) (survey.Summary, error)
	Traps    func() (TrapState, []traps.Trap, error)
	History  func() []changes.Change // the newest first
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
