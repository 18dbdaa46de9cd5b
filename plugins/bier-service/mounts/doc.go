// Package mounts knows how routers are reached: the nodes of topology-netconf in the
// configuration tree network-topology, and the host keys they showed first. The controller
// keeps documents with passwords and keys sealed.
package mounts
