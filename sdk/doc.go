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
