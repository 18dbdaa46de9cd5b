// Package driver chooses what controls a switch: what the vendor-specific file
// describes for its model, the vendor's driver (a plugin, reached through the
// switchboard), and the standard-MIB driver for the rest. It carries out operations
// on switches, reads the results back, and repairs operations that were interrupted.
//
// registry.go follows the plugins, checked.go and reads.go check what they answer, chooser.go
// chooses, perform.go carries out, sdn.go applies the settings for SDN.
package driver
