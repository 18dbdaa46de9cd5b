package discovery

import "strconv"

// PortID names a port of any switch.
type PortID struct {
	Datapath uint64
	Number   uint32
}

// NodeID is the name of a switch in the topology: "openflow:1", the datapath id in
// decimal digits.
func NodeID(datapath uint64) string { return "openflow:" + strconv.FormatUint(datapath, 10) }

// String is the name of a port in the topology, "openflow:1:2". It is also the name
// of the link that begins there.
func (p PortID) String() string { return NodeID(p.Datapath) + ":" + portName(p.Number) }

func portName(n uint32) string {
	if n == localPort {
		return "LOCAL"
	}
	return strconv.FormatUint(uint64(n), 10)
}
