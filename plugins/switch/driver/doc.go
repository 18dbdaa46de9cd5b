// Package driver chooses what controls a switch. It is the only place that knows
// which drivers there are: today the standard-MIB driver of package mibdriver for
// every switch; drivers of vendors, reached through the Switchboard, join here.
package driver
