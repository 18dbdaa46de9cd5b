package ofp13

import (
	"encoding/binary"
)

// Port numbers with a meaning (enum ofp_port_no).
const (
	PortMax        uint32 = 0xffffff00 // greatest number of a physical or logical port
	PortNormal     uint32 = 0xfffffffa
	PortController uint32 = 0xfffffffd
	PortLocal      uint32 = 0xfffffffe
	PortAny        uint32 = 0xffffffff
)

// Bits of Port.Config and Port.State.
const (
	ConfigDown uint32 = 1 << 0 // taken down by an administrator
	StateDown  uint32 = 1 << 0 // no carrier
	StateBlock uint32 = 1 << 1 // blocked, by spanning tree for instance
)

const maxNameText = 16

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
func (p Port) Up() bool {
	return p.Config&ConfigDown == 0 && p.State&StateDown == 0
}

func (p Port) appendBinary(b []byte) []byte {
	b = appendZeros(binary.BigEndian.AppendUint32(b, p.Number), 4)
	b = appendZeros(append(b, p.Address[:]...), 2)
	b = appendText(b, p.Name, maxNameText)
	for _, v := range []uint32{p.Config, p.State, p.Current, p.Advertised, p.Supported, p.Peer, p.Speed, p.MaxSpeed} {
		b = binary.BigEndian.AppendUint32(b, v)
	}
	return b
}

func decodePort(r *cursor) Port {
	p := Port{Number: r.readUint32()}
	r.skipBytes(4)
	copy(p.Address[:], r.nextBytes(6))
	r.skipBytes(2)
	p.Name = r.readText(maxNameText)
	for _, v := range []*uint32{&p.Config, &p.State, &p.Current, &p.Advertised, &p.Supported, &p.Peer, &p.Speed, &p.MaxSpeed} {
		*v = r.readUint32()
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

func (p PortStatus) appendBinary(b []byte) []byte {
	return p.Port.appendBinary(appendZeros(append(b, p.Reason), 7))
}

func decodePortStatus(r *cursor) PortStatus {
	s := PortStatus{Reason: r.readUint8()}
	r.skipBytes(7)
	s.Port = decodePort(r)
	return s
}

// Kinds of multipart messages (7.3.5) that have a form here.
const (
	KindDescription uint16 = 0
	KindPortStats   uint16 = 4
	KindPorts       uint16 = 13
)

const flagMore = 1

// MultipartRequest asks for what Kind says, of all ports.
type MultipartRequest struct{ Kind uint16 }

// MultipartReply is one part of the answer. Which field is filled depends on Kind.
type MultipartReply struct {
	Kind        uint16
	More        bool // another part follows
	Description Description
	Ports       []Port
	Stats       []PortStats
	Body        []byte // of a kind without a form here
}

func (m MultipartRequest) appendBinary(b []byte) []byte {
	b = appendZeros(binary.BigEndian.AppendUint16(b, m.Kind), 6)
	if m.Kind == KindPortStats {
		b = appendZeros(binary.BigEndian.AppendUint32(b, PortAny), 4)
	}
	return b
}

func decodeMultipartRequest(r *cursor) MultipartRequest {
	m := MultipartRequest{Kind: r.readUint16()}
	r.skipBytes(6)
	r.restBytes()
	return m
}

func (m MultipartReply) appendBinary(b []byte) []byte {
	b = binary.BigEndian.AppendUint16(b, m.Kind)
	var flags uint16
	if m.More {
		flags = flagMore
	}
	b = appendZeros(binary.BigEndian.AppendUint16(b, flags), 4)
	switch m.Kind {
	case KindDescription:
		return m.Description.appendBinary(b)
	case KindPorts:
		for _, p := range m.Ports {
			b = p.appendBinary(b)
		}
		return b
	case KindPortStats:
		for _, s := range m.Stats {
			b = s.appendBinary(b)
		}
		return b
	}
	return append(b, m.Body...)
}

func decodeMultipartReply(r *cursor) MultipartReply {
	m := MultipartReply{
		Kind: r.readUint16(),
		More: r.readUint16()&flagMore != 0,
	}
	r.skipBytes(4)
	switch m.Kind {
	case KindDescription:
		m.Description = decodeDescription(r)
	case KindPorts:
		for len(r.b) > 0 {
			m.Ports = append(m.Ports, decodePort(r))
		}
	case KindPortStats:
		for len(r.b) > 0 {
			m.Stats = append(m.Stats, decodePortStats(r))
		}
	default:
		m.Body = r.restBytes()
	}
	return m
}

// Description is what a switch says of itself (7.3.5.1).
type Description struct{ Manufacturer, Hardware, Software, Serial, Datapath string }

func (d Description) appendBinary(b []byte) []byte {
	b = appendText(b, d.Manufacturer, 256)
	b = appendText(b, d.Hardware, 256)
	b = appendText(b, d.Software, 256)
	b = appendText(b, d.Serial, 32)
	return appendText(b, d.Datapath, 256)
}

func decodeDescription(r *cursor) Description {
	return Description{
		Manufacturer: r.readText(256),
		Hardware:     r.readText(256),
		Software:     r.readText(256),
		Serial:       r.readText(32),
		Datapath:     r.readText(256),
	}
}

// PortStats is the counters of one port (7.3.5.6). A counter that the switch does
// not keep has all bits set.
type PortStats struct {
	Number                               uint32
	RxPackets, TxPackets                 uint64
	RxBytes, TxBytes                     uint64
	RxDropped, TxDropped                 uint64
	RxErrors, TxErrors                   uint64
	RxFrameErrors, RxOverruns, RxBadCRCs uint64
	Collisions                           uint64
	Seconds, Nanoseconds                 uint32 // for which the port has been there
}

// NotKept is the value of a counter that the switch does not keep.
const NotKept = ^uint64(0)

func (s *PortStats) counters() []*uint64 {
	return []*uint64{&s.RxPackets, &s.TxPackets, &s.RxBytes, &s.TxBytes, &s.RxDropped, &s.TxDropped, &s.RxErrors, &s.TxErrors,
		&s.RxFrameErrors, &s.RxOverruns, &s.RxBadCRCs, &s.Collisions}
}

func (s PortStats) appendBinary(b []byte) []byte {
	b = appendZeros(binary.BigEndian.AppendUint32(b, s.Number), 4)
	for _, v := range s.counters() {
		b = binary.BigEndian.AppendUint64(b, *v)
	}
	b = binary.BigEndian.AppendUint32(b, s.Seconds)
	return binary.BigEndian.AppendUint32(b, s.Nanoseconds)
}

func decodePortStats(r *cursor) PortStats {
	s := PortStats{Number: r.readUint32()}
	r.skipBytes(4)
	for _, v := range s.counters() {
		*v = r.readUint64()
	}
	s.Seconds, s.Nanoseconds = r.readUint32(), r.readUint32()
	return s
}
