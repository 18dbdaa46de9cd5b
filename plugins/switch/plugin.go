// Package switchplugin is the plugin that controls Ethernet switches: the RPCs of the modules
// topology, fdb, vlan, acl, misc-config and switch-db, and the shell commands of scope
// switch.
//
// The way of a change: operations → writes (the record; whoever holds the role carries it
// out) → driver (which one?) → mibdriver → snmp, or xmldriver (what vendorxml describes),
// or a vendor's driver plugin. The way of a discovery: inventory (csvlist) → survey →
// mibdriver.Observe → discovery → service, which publishes it and writes it for the other
// nodes. ring keeps the last changes and traps, sdn applies what SDN needs. mib is what
// all of them know of MIB objects.
package switchplugin

import (
	"embed"

	"ctl.internal/plugins/switch/service"
	"ctl.internal/sdk"
)

//go:embed plugin.yaml
var manifest []byte

//go:embed yang
var modules embed.FS

// Options describe the plugin.
func Options() sdk.Options {
	return sdk.Options{Manifest: manifest, YANG: modules, New: service.New, Commands: service.Commands()}
}
