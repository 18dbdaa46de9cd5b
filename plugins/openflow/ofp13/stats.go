package ofp13

import "encoding/binary"

// Description is what a switch says of itself (7.3.5.1).
type Description struct{ Manufacturer, Hardware, Software, Serial, Datapath string }

func (d Description) append(b []byte) []byte {
	b = appendText(b, d.Manufacturer, 256)
	b = appendText(b, d.Hardware, 256)
	b = appendText(b, d.Software, 256)
	b = appendText(b, d.Serial, 32)
	return appendText(b, d.Datapath, 256)
}

func decodeDescription(r *cursor) Description {
	return Description{Manufacturer: r.text(256), Hardware: r.text(256), Software: r.text(256), Serial: r.text(32), Datapath: r.text(256)}
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

func (s PortStats) append(b []byte) []byte {
	b = pad(binary.BigEndian.AppendUint32(b, s.Number), 4)
	for _, v := range s.counters() {
		b = binary.BigEndian.AppendUint64(b, *v)
	}
	b = binary.BigEndian.AppendUint32(b, s.Seconds)
	return binary.BigEndian.AppendUint32(b, s.Nanoseconds)
}

func decodePortStats(r *cursor) PortStats {
	s := PortStats{Number: r.u32()}
	r.skip(4)
	for _, v := range s.counters() {
		*v = r.u64()
	}
	s.Seconds, s.Nanoseconds = r.u32(), r.u32()
	return s
}
