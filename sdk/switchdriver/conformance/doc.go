// Package conformance is what every driver of switches must pass. A driver's tests
// call Run with the plugin and a switch of its kind, simulated or real; a plugin in
// another language is started with plugintest.StartBinary.
//
// It asks only for the operations that the driver announces, and that it refuses
// the others. See docs/switch-driver.md.
package conformance
