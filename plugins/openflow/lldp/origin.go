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
	ErrForeign = errors.New("the LLDP frame is of another system")
	ErrForged  = errors.New("the LLDP frame was not made by this controller, or changed on its way")
)

// organization is the beginning of the TLV's value: an identifier out of the
// locally administered space (IEEE 802, clause 8) and a subtype with a version.
var organization = []byte{0x0a, 0x43, 0x54, 0x01}

const (
	originLength = 8 + 4 + 8 + 4
	macLength    = sha256.Size
)

func (k Key) seal(o Origin) []byte {
	b := append(make([]byte, 0, len(organization)+originLength+macLength), organization...)
	b = binary.BigEndian.AppendUint64(b, o.Datapath)
	b = binary.BigEndian.AppendUint32(b, o.Port)
	b = binary.BigEndian.AppendUint64(b, o.Epoch)
	b = binary.BigEndian.AppendUint32(b, o.Sequence)
	return append(b, k.mac(b)...)
}

func (k Key) mac(b []byte) []byte {
	h := hmac.New(sha256.New, k)
	h.Write(b)
	return h.Sum(nil)
}

func (k Key) open(value []byte) (Origin, error) {
	if len(value) != len(organization)+originLength+macLength {
		return Origin{}, ErrForged
	}
	signed, mac := value[:len(value)-macLength], value[len(value)-macLength:]
	if !hmac.Equal(mac, k.mac(signed)) {
		return Origin{}, ErrForged
	}
	b := signed[len(organization):]
	return Origin{Datapath: binary.BigEndian.Uint64(b), Port: binary.BigEndian.Uint32(b[8:]),
		Epoch: binary.BigEndian.Uint64(b[12:]), Sequence: binary.BigEndian.Uint32(b[20:])}, nil
}
