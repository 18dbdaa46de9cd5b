package service

import (
	"ctl.internal/internal/switchcli/hostkeys"
	"ctl.internal/plugins/switch/discovery"
	"ctl.internal/sdk/commands"
)

// hostKeysCommand lists and forgets SSH host keys.
const hostKeysCommand = "switch:hostkeys"

// Commands describes the shell commands.
func Commands() []commands.Command {
	return (&Service{}).commandTable()
}

// commandTable returns the shell commands; those of the zero Service describe them only.
func (s *Service) commandTable() []commands.Command {
	return append(append(s.dailyCommands(), s.planCommands()...), s.cmdReadDB(), s.cmdPrintDB(), s.cmdImportDB(), s.cmdExportDB(), s.cmdEdges(), s.cmdTraps(),
		s.cmdDrivers(), s.cmdVendors(), s.cmdModels(), s.cmdACLs(), s.cmdChanges(), s.cmdUndo(), s.cmdInventory(), s.cmdSDN(),
		hostkeys.Table(hostKeysCommand, func() *hostkeys.Keys { return s.keys }),
		s.cmdTopoDiscover("switch:TopoDiscover", discovery.All, "Discover switches, ports and edges",
			"Asks all switches of the list for their ports and neighbours and shows what was found. A switch that\n"+
				"does not answer keeps what it last reported. Runs by itself when the list is loaded and periodically."),
		s.cmdTopoDiscover("switch:TopoDiscoverSwitches", discovery.Switches, "Discover switches and ports only",
			"Like switch:TopoDiscover, but the edges stay as they are."),
		s.cmdTopoDiscover("switch:TopoDiscoverEdges", discovery.Edges, "Discover edges only",
			"Like switch:TopoDiscover, but only switches that are known already are asked; none is added or removed."),
	)
}
