// Package ofp13 is the wire form of the OpenFlow 1.3 messages (OpenFlow Switch
// Specification 1.3.5, section 7) that discovery needs, in both directions, and of
// no others. A Reader takes messages from a stream within limits; Decode and Append
// are the codec. What switches are sent is decided in package discovery.
package ofp13

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
)

// Version is the only protocol version that is spoken.
const Version = 4

// Type is the type of a message (enum ofp_type).
type Type uint8

// The types that are decoded here. Other types decode to Other.
const (
	TypeHello            Type = 0
	TypeError            Type = 1
	TypeEchoRequest      Type = 2
	TypeEchoReply        Type = 3
	TypeFeaturesRequest  Type = 5
	TypeFeaturesReply    Type = 6
	TypePacketIn         Type = 10
	TypePortStatus       Type = 12
	TypePacketOut        Type = 13
	TypeFlowMod          Type = 14
	TypeMultipartRequest Type = 18
	TypeMultipartReply   Type = 19
	TypeBarrierRequest   Type = 20
	TypeBarrierReply     Type = 21
	TypeRoleRequest      Type = 24
	TypeRoleReply        Type = 25
)

// Message is a message without its header.
type Message interface {
	Type() Type
	// append writes the body.
	append(b []byte) []byte
}

// headerLength is that of struct ofp_header.
const headerLength = 8

// maxLength is the greatest length a header can hold.
const maxLength = 1<<16 - 1

// Header is struct ofp_header.
type Header struct {
	Version uint8
	Type    Type
	Length  uint16 // header included
	XID     uint32
}

// Append writes a message with its header.
func Append(b []byte, xid uint32, m Message) []byte { return AppendVersion(b, Version, xid, m) }

// AppendVersion is Append with another version in the header, for the one message
// that is the same in all of them: an ERROR that refuses a HELLO. It panics when
// the message is longer than a header can hold: none of those that are sent can be.
func AppendVersion(b []byte, version uint8, xid uint32, m Message) []byte {
	start := len(b)
	b = append(b, version, uint8(m.Type()), 0, 0)
	b = binary.BigEndian.AppendUint32(b, xid)
	b = m.append(b)
	n := len(b) - start
	if n > maxLength {
		panic(fmt.Sprintf("ofp13: a message of type %d with %d bytes", m.Type(), n))
	}
	binary.BigEndian.PutUint16(b[start+2:], uint16(n))
	return b
}

// Decode reads the body of a message. Slices of the result lie in body.
func Decode(t Type, body []byte) (Message, error) {
	r := &cursor{b: body}
	m := decode(t, r)
	if r.short {
		return nil, fmt.Errorf("a message of type %d is cut short: its body has %d bytes", t, len(body))
	}
	if r.bad != "" {
		return nil, fmt.Errorf("a message of type %d is wrong: %s", t, r.bad)
	}
	return m, nil
}

func decode(t Type, r *cursor) Message {
	switch t {
	case TypeHello:
		return decodeHello(r)
	case TypeError:
		return decodeError(r)
	case TypeEchoRequest:
		return EchoRequest{Data: r.rest()}
	case TypeEchoReply:
		return EchoReply{Data: r.rest()}
	case TypeFeaturesRequest:
		return FeaturesRequest{}
	case TypeFeaturesReply:
		return decodeFeatures(r)
	case TypePacketIn:
		return decodePacketIn(r)
	case TypePortStatus:
		return decodePortStatus(r)
	case TypePacketOut:
		return decodePacketOut(r)
	case TypeFlowMod:
		return decodeFlowMod(r)
	case TypeMultipartRequest:
		return decodeMultipartRequest(r)
	case TypeMultipartReply:
		return decodeMultipartReply(r)
	case TypeBarrierRequest:
		return BarrierRequest{}
	case TypeBarrierReply:
		return BarrierReply{}
	case TypeRoleRequest:
		return RoleRequest(decodeRole(r))
	case TypeRoleReply:
		return RoleReply(decodeRole(r))
	}
	return Other{T: t, Body: r.rest()}
}

// Other is a message of a type that is not decoded here.
type Other struct {
	T    Type
	Body []byte
}

// Type implements Message.
func (o Other) Type() Type { return o.T }

func (o Other) append(b []byte) []byte { return append(b, o.Body...) }

// Reader takes messages from a stream.
type Reader struct{ r *bufio.Reader }

// NewReader returns a Reader with a small buffer: there may be thousands.
func NewReader(r io.Reader) *Reader { return &Reader{bufio.NewReaderSize(r, 4096)} }

// Next returns the next message's header and body. The body is the caller's. A
// message is at most 65,535 bytes long, because its header has 16 bits for it.
func (r *Reader) Next() (Header, []byte, error) {
	var raw [headerLength]byte
	if _, err := io.ReadFull(r.r, raw[:]); err != nil {
		return Header{}, nil, err
	}
	h := Header{Version: raw[0], Type: Type(raw[1]), Length: binary.BigEndian.Uint16(raw[2:]), XID: binary.BigEndian.Uint32(raw[4:])}
	if h.Length < headerLength {
		return h, nil, fmt.Errorf("a message says that it is %d bytes long; its header alone has %d", h.Length, headerLength)
	}
	if h.Length == headerLength {
		return h, nil, nil
	}
	body := make([]byte, h.Length-headerLength)
	if _, err := io.ReadFull(r.r, body); err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return h, nil, err
	}
	return h, body, nil
}
