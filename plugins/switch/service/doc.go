// Package service puts the rooms of the switch plugin together and joins them to
// the host: settings in, RPCs, commands, topology and events out.
package service
