package snmpwire

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// appendHead writes a tag and a minimal length.
func appendHead(dst []byte, tag Tag, n int) []byte {
	dst = append(dst, byte(tag))
	switch {
	case n < 0x80:
		return append(dst, byte(n))
	case n < 0x100:
		return append(dst, 0x81, byte(n))
	case n < 0x10000:
		return append(dst, 0x82, byte(n>>8), byte(n))
	}
	return append(dst, 0x83, byte(n>>16), byte(n>>8), byte(n))
}

// encloseAppended puts a header before what was appended from an octet on.
func encloseAppended(dst []byte, from int, tag Tag) []byte {
	var head [5]byte
	return slices.Insert(dst, from, appendHead(head[:0], tag, len(dst)-from)...)
}

func appendArc(dst []byte, a uint64) []byte {
	for shift := (bits.Len64(a|1) - 1) / 7 * 7; shift > 0; shift -= 7 {
		dst = append(dst, byte(a>>shift)|0x80)
	}
	return append(dst, byte(a&0x7f))
}

// appendOID writes an OID. One with fewer than two arcs cannot be written and becomes 0.0.
func appendOID(dst []byte, o OID) []byte {
	if len(o) < 2 {
		o = OID{0, 0}
	}
	from := len(dst)
	dst = appendArc(dst, uint64(o[0])*40+uint64(o[1]))
	for _, a := range o[2:] {
		dst = appendArc(dst, uint64(a))
	}
	return encloseAppended(dst, from, ObjectID)
}

// appendInt writes a two's complement number in as few octets as it needs.
func appendInt(dst []byte, tag Tag, n int64) []byte {
	octets := bits.Len64(uint64(n^n>>63))/8 + 1
	dst = append(dst, byte(tag), byte(octets))
	for k := octets - 1; k >= 0; k-- {
		dst = append(dst, byte(n>>(8*k)))
	}
	return dst
}

func appendValue(dst []byte, v Value) []byte {
	switch v.Tag {
	case Integer, Counter32, Gauge32, TimeTicks, Counter64:
		if v.Tag == Counter64 && v.Int < 0 { // its top bit is set: it needs a ninth octet
			return binary.BigEndian.AppendUint64(append(dst, byte(Counter64), 9, 0), uint64(v.Int))
		}
		return appendInt(dst, v.Tag, v.Int)
	case ObjectID:
		return appendOID(dst, v.OID)
	}
	return append(appendHead(dst, v.Tag, len(v.Bytes)), v.Bytes...)
}

// AppendVarBind writes one variable binding.
func AppendVarBind(dst []byte, name OID, v Value) []byte {
	from := len(dst)
	return encloseAppended(appendValue(appendOID(dst, name), v), from, Sequence)
}

// AppendVarBinds writes a list of variable bindings, without the SEQUENCE around it.
func AppendVarBinds(dst []byte, list []VarBind) []byte {
	for _, vb := range list {
		dst = AppendVarBind(dst, vb.Name, vb.Value)
	}
	return dst
}
