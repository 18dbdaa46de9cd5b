// Package driver chooses what controls a switch: what the vendor-specific file
// describes for its model, the vendor's driver (a plugin, reached through the
// switchboard), and the standard-MIB driver for the rest. It serialises the changes of
// a switch, and settles those the journal says were not finished.
//
// registry.go knows the plugins, guard.go distrusts them, chooser.go chooses.
package driver
