package discovery

// Counters count since the plugin started.
type Counters struct {
	Connections    uint64 // accepted
	Refused        uint64 // ended before the switch was ready
	Dead           uint64 // switches that stopped answering
	Errors         uint64 // ERROR messages received
	PortStatus     uint64 // PORT_STATUS messages received
	PacketIns      uint64 // PACKET_IN messages received
	FramesSent     uint64 // LLDP frames
	FramesReceived uint64 // LLDP frames that proved a link
	Forged         uint64 // LLDP frames whose key was wrong
	Foreign        uint64 // LLDP frames of other systems
	Malformed      uint64 // LLDP frames that do not parse
	Stale          uint64 // own LLDP frames that came too late, or back to their port
	Ambiguous      uint64 // LLDP frames that arrived at a second port
	LinksFound     uint64
	LinksLost      uint64
}

// Counters returns the present values.
func (c *Core) Counters() Counters { return c.count }
