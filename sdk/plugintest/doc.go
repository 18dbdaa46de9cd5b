// Package plugintest tests plugins as the host would see them, without a host.
//
// Start runs a plugin inside the test over a real gRPC connection, with a Host that
// keeps its data in memory: for the plugin's own tests. Run and Check put a built
// executable through the conformance suite: for everybody who ships one. Devices
// to test against are in package lab.
package plugintest
