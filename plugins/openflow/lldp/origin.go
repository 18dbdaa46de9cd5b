package lldp

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
)

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

// value is that of the TLV, with room for the code at its end.
func (o Origin) value() []byte {
	b := append(make([]byte, 0, len(organization)+originLength+macLength), organization...)
	b = binary.BigEndian.AppendUint64(b, o.Datapath)
	b = binary.BigEndian.AppendUint32(b, o.Port)
	b = binary.BigEndian.AppendUint64(b, o.Epoch)
	b = binary.BigEndian.AppendUint32(b, o.Sequence)
	return append(b, make([]byte, macLength)...)
}

// mac is the code over all TLVs of a frame, from the chassis ID to the end TLV, but for
// itself, which ends at an offset. The padding after the end TLV is not part of it:
// switches cut it off and add it.
func (k Key) mac(unit []byte, end int) []byte {
	h := hmac.New(sha256.New, k)
	h.Write(unit[:end-macLength])
	h.Write(unit[end:])
	return h.Sum(nil)
}

func (k Key) open(unit []byte, end int, value []byte) (Origin, error) {
	if len(value) != len(organization)+originLength+macLength || !hmac.Equal(value[len(value)-macLength:], k.mac(unit, end)) {
		return Origin{}, ErrForged
	}
	b := value[len(organization):]
	return Origin{Datapath: binary.BigEndian.Uint64(b), Port: binary.BigEndian.Uint32(b[8:]),
		Epoch: binary.BigEndian.Uint64(b[12:]), Sequence: binary.BigEndian.Uint32(b[20:])}, nil
}
