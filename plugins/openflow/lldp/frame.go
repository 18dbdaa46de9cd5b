// Package lldp makes and reads the frames by which links are found: LLDP (IEEE
// 802.1AB, clauses 8 and 9) with an organizationally specific TLV that tells, under
// a key, which port of which switch the frame left by. Only what the key confirms
// is believed. The decision what a frame means is in package discovery.
package lldp

import (
	"bytes"
	"encoding/binary"
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
	b = appendTLV(b, typePortID, append([]byte{subtypeLocal}, strconv.FormatUint(uint64(o.Port), 10)...))
	b = appendTLV(b, typeTTL, binary.BigEndian.AppendUint16(nil, uint16(min(h.TTL/time.Second, 65535))))
	b = appendTLV(b, typeSystemName, []byte(h.System[:min(len(h.System), 255)]))
	b = appendTLV(b, typeOrganized, k.seal(o))
	b = appendTLV(b, typeEnd, nil)
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
	tlvs, err := parse(frame[etherHeader:])
	if err != nil {
		return Origin{}, err
	}
	for _, t := range tlvs {
		if t.kind == typeOrganized && bytes.HasPrefix(t.value, organization) {
			return k.open(t.value)
		}
	}
	return Origin{}, ErrForeign
}
