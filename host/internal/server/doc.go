// Package server wires the rooms of the host into a running controller: it opens
// the home, starts the plugins of the installed features, opens the listeners and
// ends everything in order. What a request means is decided below, in restconf,
// aaa and the plugins; nothing here knows a device.
package server
