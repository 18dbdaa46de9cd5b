// Package service puts the rooms of the OpenFlow plugin together and joins them to
// the host: settings in, topology, events and commands out. Its loop is the one
// goroutine that package discovery is used in.
package service
