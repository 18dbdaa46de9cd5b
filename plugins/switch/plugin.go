// Package switchplugin is the plugin that controls Ethernet switches: the RPCs of the modules
// topology, fdb, vlan, acl, misc-config and switch-db, and the shell commands of scope
// switch.
//
// A change goes from service (the RPC) to writes (its record; whoever holds the role carries it out), driver
// (which one?) and mibdriver, vendorfile or a vendor's driver plugin. A discovery goes from switchlist to
// discovery, mibdriver.Observe and service, which publishes it and writes it for the other nodes. snmp and
// traps speak SNMP by gosnmp; mib is what all of them know of MIB objects.
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
	return sdk.Options{
		Manifest: manifest,
		YANG:     modules,
		New:      service.New,
		Commands: service.Commands(),
	}
}
