package bier

import (
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// Mounts of routers are nodes of this topology of network-topology.
const MountTopology = "topology-netconf"

// Place is where a router is reached, in one form for all ways of writing it: two mounts of one place are
// one router. Port 0 is that of the driver's protocol.
func Place(host string, port uint16, driver string) string {
	if port == 0 {
		port = 830 // RFC 6242
		if driver == "bier-driver-cli" {
			port = 22
		}
	}
	name := strings.TrimSuffix(strings.ToLower(host), ".")
	if a, err := netip.ParseAddr(strings.Trim(name, "[]")); err == nil {
		name = a.Unmap().String()
	}
	return net.JoinHostPort(name, strconv.Itoa(int(port)))
}

// OnePlace says that two nodes of a topology are mounted at one place.
func OnePlace(topology, node, other, place string) error {
	return fmt.Errorf(
		"node %s is mounted at %s, and so is node %s of topology %s: one router cannot be two nodes; mount one of them where it is (bier:router-add)",
		node,
		place,
		other,
		topology,
	)
}
