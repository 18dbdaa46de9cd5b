// Package lldp makes and reads the frames by which links are found: LLDP (IEEE
// 802.1AB, clauses 8 and 9) with an organizationally specific TLV that says which port
// of which switch the frame left by, and whose code confirms, under a key, every TLV of
// the frame. Only what the key confirms is believed. The decision what a frame means is in package discovery.
package lldp

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"time"
)

// EtherType is that of LLDP.
const EtherType uint16 = 0x88cc

// destination is the address that no bridge forwards (7.1, nearest bridge), so that
// a frame goes over one link and no further.
var destination = [6]byte{0x01, 0x80, 0xc2, 0x00, 0x00, 0x0e}

const (
	subtypeMAC   = 4 // of a chassis ID
	subtypeLocal = 7 // of a port ID
	etherHeader  = 14
	headLength   = 2  // of a TLV
	minFrame     = 60 // without the check sequence
)

// Header is what a frame says to everybody.
type Header struct {
	Source [6]byte // address of the port
	System string  // name of the switch
	TTL    time.Duration
}

// Frame returns the Ethernet frame that is sent out of the origin's port.
func (k Key) Frame(o Origin, h Header) []byte {
	b := make([]byte, 0, 160)
	b = append(b, destination[:]...)
	b = append(b, h.Source[:]...)
	b = binary.BigEndian.AppendUint16(b, EtherType)
	chassis := binary.BigEndian.AppendUint64(nil, o.Datapath)
	b = appendTLV(b, typeChassisID, append([]byte{subtypeMAC}, chassis[2:]...))
	b = appendTLV(
		b,
		typePortID,
		append([]byte{subtypeLocal}, strconv.FormatUint(uint64(o.Port), 10)...),
	)
	b = appendTLV(
		b,
		typeTTL,
		binary.BigEndian.AppendUint16(nil, uint16(min(h.TTL/time.Second, 65535))),
	)
	b = appendTLV(b, typeSystemName, []byte(h.System[:min(len(h.System), 255)]))
	b = appendTLV(b, typeOrganized, o.encodeValue())
	end := len(b)
	b = appendTLV(b, typeEnd, nil)
	copy(b[end-macLength:end], k.frameMAC(b[etherHeader:], end-etherHeader))
	if len(b) < minFrame {
		b = append(b, make([]byte, minFrame-len(b))...)
	}
	return b
}

// Open returns where a frame came from. The error is ErrNotLLDP, ErrForeign,
// ErrForged, or says what is wrong with the frame.
func (k Key) Open(frame []byte) (Origin, error) {
	if len(frame) < etherHeader || binary.BigEndian.Uint16(frame[12:]) != EtherType {
		return Origin{}, ErrNotLLDP
	}
	unit := frame[etherHeader:]
	tlvs, err := parseTLVs(unit)
	if err != nil {
		return Origin{}, err
	}
	length, ours := headLength, 0 // the end TLV is the last; ours ends at ours
	var value []byte
	for _, t := range tlvs {
		length += headLength + len(t.value)
		if ours == 0 && t.kind == typeOrganized && bytes.HasPrefix(t.value, organization) {
			ours, value = length-headLength, t.value
		}
	}
	if ours == 0 {
		return Origin{}, ErrForeign
	}
	return k.verifyOrigin(unit[:length], ours, value)
}

// Types of TLVs (table 8-1).
const (
	typeEnd        = 0
	typeChassisID  = 1
	typePortID     = 2
	typeTTL        = 3
	typeSystemName = 5
	typeOrganized  = 127
)

// maxValue is the length of nine bits.
const maxValue = 511

// tlv is one TLV of a frame.
type tlv struct {
	kind  uint8
	value []byte
}

func appendTLV(b []byte, kind uint8, value []byte) []byte {
	b = binary.BigEndian.AppendUint16(b, uint16(kind)<<9|uint16(len(value)))
	return append(b, value...)
}

var errShort = errors.New("a TLV is cut short")

// parseTLVs reads the TLVs up to the end TLV. The three mandatory ones come first, in
// their order (8.2).
func parseTLVs(b []byte) ([]tlv, error) {
	var out []tlv
	for {
		if len(b) < 2 {
			return nil, errShort
		}
		head := binary.BigEndian.Uint16(b)
		kind, n := uint8(head>>9), int(head&maxValue)
		if kind == typeEnd {
			break
		}
		if len(b) < 2+n {
			return nil, errShort
		}
		want := uint8(len(out) + 1)
		if want <= typeTTL && kind != want {
			return nil, fmt.Errorf("TLV %d is of type %d, must be %d", want, kind, want)
		}
		out = append(out, tlv{kind, b[2 : 2+n]})
		b = b[2+n:]
	}
	if len(out) < typeTTL {
		return nil, errors.New("a mandatory TLV is missing")
	}
	return out, nil
}

// Key confirms that a frame was made by this controller, in this run of it.
type Key []byte

// Origin is what the authenticated TLV says.
type Origin struct {
	Datapath uint64
	Port     uint32
	// Epoch is the time in which the port has been up without a break, counted by the
	// controller. A frame of an earlier one is no sign of a link any more.
	Epoch uint64
	// Sequence counts the frames of an epoch, so that old ones cannot be sent again.
	Sequence uint32
}

// Why a frame proves no link.
var (
	ErrNotLLDP = errors.New("not an LLDP frame")
	ErrForeign = errors.New("the LLDP frame is from another system")
	ErrForged  = errors.New("the LLDP frame was not sent by this controller, or it was changed")
)

// organization is the beginning of the TLV's value: an identifier out of the
// locally administered space (IEEE 802, clause 8) and a subtype with a version.
var organization = []byte{0x0a, 0x43, 0x54, 0x02}

const (
	originLength = 8 + 4 + 8 + 4
	macLength    = sha256.Size
)

// encodeValue is that of the TLV, with room for the code at its end.
func (o Origin) encodeValue() []byte {
	b := append(make([]byte, 0, len(organization)+originLength+macLength), organization...)
	b = binary.BigEndian.AppendUint64(b, o.Datapath)
	b = binary.BigEndian.AppendUint32(b, o.Port)
	b = binary.BigEndian.AppendUint64(b, o.Epoch)
	b = binary.BigEndian.AppendUint32(b, o.Sequence)
	return append(b, make([]byte, macLength)...)
}

// frameMAC is the code over all TLVs of a frame, from the chassis ID to the end TLV, but for
// itself, which ends at an offset. The padding after the end TLV is not part of it:
// switches cut it off and add it.
func (k Key) frameMAC(unit []byte, end int) []byte {
	h := hmac.New(sha256.New, k)
	h.Write(unit[:end-macLength])
	h.Write(unit[end:])
	return h.Sum(nil)
}

func (k Key) verifyOrigin(unit []byte, end int, value []byte) (Origin, error) {
	if len(value) != len(organization)+originLength+macLength ||
		!hmac.Equal(value[len(value)-macLength:], k.frameMAC(unit, end)) {
		return Origin{}, ErrForged
	}
	b := value[len(organization):]
	return Origin{
		Datapath: binary.BigEndian.Uint64(b),
		Port:     binary.BigEndian.Uint32(b[8:]),
		Epoch:    binary.BigEndian.Uint64(b[12:]),
		Sequence: binary.BigEndian.Uint32(b[20:]),
	}, nil
}
