// Package sdk is what the author of a plugin imports. A plugin is an executable
// whose main calls Serve with what it can do:
//
//	func main() {
//		sdk.Serve(sdk.Options{Manifest: manifest, YANG: modules, New: plugin.New})
//	}
//
// Each capability has a package of its own: operations, routes, commands, realm,
// switchdriver, bierdriver, topology. Errors that mean something to the caller are made with
// package fault; what the host offers is in package host; package plugintest tests
// a plugin as the host would see it.
//
// Run a plugin by hand with `describe` to see its manifest as JSON, or with
// `--debug` to have the host attach to a process under a debugger.
package sdk

import (
	"context"
	"io/fs"

	"github.com/prometheus/client_golang/prometheus"

	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/host"
)

// Options are what a plugin hands to Serve.
type Options struct {
	// Manifest is the text of plugin.yaml, embedded.
	Manifest []byte
	// YANG holds the plugin's modules (*.yang), embedded; nil = none. Modules
	// that `yang.implements` of the manifest does not name are only imported by others.
	YANG fs.FS
	// New makes the plugin once the host has configured it. The context ends when
	// the plugin must stop; goroutines started here must end with it.
	New func(ctx context.Context, env *Env) (*Plugin, error)
	// Commands describes the shell commands for `describe` and for the host before
	// New was called; their Run functions come from Plugin.Commands. Nil = none.
	Commands []commands.Command
}

// Env is what a plugin gets to work with.
type Env struct {
	// Config is the plugin's settings as JSON, checked against the manifest's schema,
	// defaults filled in. Decode it with DecodeConfig.
	Config []byte
	// DataDir is a directory of the plugin's own that survives restarts.
	DataDir string
	// Host is the host's services.
	Host *host.Client
	// Health reports a change of state; the zero state at start is Healthy.
	Health func(Health)
	// Metrics takes collectors of the plugin's own; the host shows them in /metrics
	// with the label "plugin".
	Metrics prometheus.Registerer
	// Facets that are on: "rest", "cli", "ui".
	Facets []string

	warnings []string
}

// State is the health of a plugin.
type State int

// The states. A Degraded plugin serves, but not all it should.
const (
	Healthy State = iota
	Degraded
	Failed
)

// Health is a state with its reason.
type Health struct {
	State   State
	Reason  string            // one sentence; empty when healthy
	Details map[string]string // shown by plugin:info
}
