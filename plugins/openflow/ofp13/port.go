package ofp13

import "encoding/binary"

// Port numbers with a meaning (enum ofp_port_no).
const (
	PortMax        uint32 = 0xffffff00 // greatest number of a physical or logical port
	PortTable      uint32 = 0xfffffff9 // packet-out: through the flow tables
	PortNormal     uint32 = 0xfffffffa
	PortController uint32 = 0xfffffffd
	PortLocal      uint32 = 0xfffffffe
	PortAny        uint32 = 0xffffffff
)

// Bits of Port.Config and Port.State.
const (
	ConfigDown  uint32 = 1 << 0 // taken down by an administrator
	StateDown   uint32 = 1 << 0 // no carrier
	StateBlock  uint32 = 1 << 1 // blocked, by spanning tree for instance
	portLength         = 64
	maxNameText        = 16
)

// Port is struct ofp_port (7.2.1).
type Port struct {
	Number                               uint32
	Address                              [6]byte
	Name                                 string
	Config, State                        uint32
	Current, Advertised, Supported, Peer uint32
	Speed, MaxSpeed                      uint32 // kbit/s, 0 when not known
}

// Up reports whether packets pass.
func (p Port) Up() bool { return p.Config&ConfigDown == 0 && p.State&StateDown == 0 }

func (p Port) append(b []byte) []byte {
	b = pad(binary.BigEndian.AppendUint32(b, p.Number), 4)
	b = pad(append(b, p.Address[:]...), 2)
	b = appendText(b, p.Name, maxNameText)
	for _, v := range []uint32{p.Config, p.State, p.Current, p.Advertised, p.Supported, p.Peer, p.Speed, p.MaxSpeed} {
		b = binary.BigEndian.AppendUint32(b, v)
	}
	return b
}

func decodePort(r *cursor) Port {
	p := Port{Number: r.u32()}
	r.skip(4)
	copy(p.Address[:], r.next(6))
	r.skip(2)
	p.Name = r.text(maxNameText)
	for _, v := range []*uint32{&p.Config, &p.State, &p.Current, &p.Advertised, &p.Supported, &p.Peer, &p.Speed, &p.MaxSpeed} {
		*v = r.u32()
	}
	return p
}

// Reasons of a PortStatus.
const (
	PortAdded    = 0
	PortDeleted  = 1
	PortModified = 2
)

// PortStatus is a change of one port (7.4.3).
type PortStatus struct {
	Reason uint8
	Port   Port
}

// Type implements Message.
func (PortStatus) Type() Type { return TypePortStatus }

func (p PortStatus) append(b []byte) []byte { return p.Port.append(pad(append(b, p.Reason), 7)) }

func decodePortStatus(r *cursor) PortStatus {
	s := PortStatus{Reason: r.u8()}
	r.skip(7)
	s.Port = decodePort(r)
	return s
}
