// Package openflow is the plugin that OpenFlow 1.3 switches connect to. It finds out
// which switches there are and how they are linked, and publishes that as a topology.
// It programs nothing but the rules it needs for that.
//
// The way of a message: channel reads it (ofp13 is the codec) → service, the one
// goroutine that decides → discovery, the decisions (lldp proves links) → channel
// writes the answers, and service publishes the topology and writes it for the other
// nodes, and has the commands. Only the process with the role openflow-discovery acts.
package openflow

import (
	"embed"

	"ctl.internal/plugins/openflow/service"
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
