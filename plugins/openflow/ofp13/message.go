// Package ofp13 is the wire form of the OpenFlow 1.3 messages (OpenFlow Switch
// Specification 1.3.5, section 7) that discovery needs, in both directions, and of
// no others. A Reader takes messages from a stream within limits; Decode and Append
// are the codec. What switches are sent is decided in package discovery.
package ofp13

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"strings"
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
	appendBinary(b []byte) []byte
}

// Type implements Message.
func (Hello) Type() Type       { return TypeHello }
func (Error) Type() Type       { return TypeError }
func (EchoRequest) Type() Type { return TypeEchoRequest }
func (EchoReply) Type() Type   { return TypeEchoReply }
func (FeaturesRequest) Type() Type {
	return TypeFeaturesRequest
}
func (BarrierRequest) Type() Type {
	return TypeBarrierRequest
}
func (BarrierReply) Type() Type  { return TypeBarrierReply }
func (FeaturesReply) Type() Type { return TypeFeaturesReply }
func (RoleRequest) Type() Type   { return TypeRoleRequest }
func (RoleReply) Type() Type     { return TypeRoleReply }
func (FlowMod) Type() Type       { return TypeFlowMod }
func (PacketIn) Type() Type      { return TypePacketIn }
func (PacketOut) Type() Type     { return TypePacketOut }
func (PortStatus) Type() Type    { return TypePortStatus }
func (MultipartRequest) Type() Type {
	return TypeMultipartRequest
}
func (MultipartReply) Type() Type {
	return TypeMultipartReply
}
func (o Other) Type() Type { return o.T }

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

// Append writes a message with its header. It panics when the message is longer than a header can hold:
// none of those that are sent can be.
func Append(b []byte, xid uint32, m Message) []byte {
	start := len(b)
	b = append(b, Version, uint8(m.Type()), 0, 0)
	b = binary.BigEndian.AppendUint32(b, xid)
	b = m.appendBinary(b)
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
	m := decodeMessage(t, r)
	if r.short {
		return nil, fmt.Errorf(
			"a message of type %d is cut short: its body has %d bytes",
			t,
			len(body),
		)
	}
	if r.bad != "" {
		return nil, fmt.Errorf("a message of type %d is wrong: %s", t, r.bad)
	}
	return m, nil
}

func decodeMessage(t Type, r *cursor) Message {
	switch t {
	case TypeHello:
		return decodeHello(r)
	case TypeError:
		return decodeError(r)
	case TypeEchoRequest:
		return EchoRequest{Data: r.restBytes()}
	case TypeEchoReply:
		return EchoReply{Data: r.restBytes()}
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
	return Other{T: t, Body: r.restBytes()}
}

// Other is a message of a type that is not decoded here.
type Other struct {
	T    Type
	Body []byte
}

func (o Other) appendBinary(b []byte) []byte {
	return append(b, o.Body...)
}

// Reader takes messages from a stream.
type Reader struct{ r *bufio.Reader }

// NewReader returns a Reader with a small buffer: there may be thousands.
func NewReader(r io.Reader) *Reader {
	return &Reader{bufio.NewReaderSize(r, 4096)}
}

// Next returns the next message's header and body. The body is the caller's. A
// message is at most 65,535 bytes long, because its header has 16 bits for it.
func (r *Reader) Next() (Header, []byte, error) {
	var raw [headerLength]byte
	if _, err := io.ReadFull(r.r, raw[:]); err != nil {
		return Header{}, nil, err
	}
	h := Header{
		Version: raw[0],
		Type:    Type(raw[1]),
		Length:  binary.BigEndian.Uint16(raw[2:]),
		XID:     binary.BigEndian.Uint32(raw[4:]),
	}
	if h.Length < headerLength {
		return h, nil, fmt.Errorf(
			"a message says that it is %d bytes long; its header alone has %d",
			h.Length,
			headerLength,
		)
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

// cursor reads fields one after the other and remembers that they ran out, so that
// decoders need no check between two fields.
type cursor struct {
	b     []byte
	short bool
	bad   string // why the content is wrong
}

func (c *cursor) nextBytes(n int) []byte {
	if n < 0 || len(c.b) < n {
		c.short, c.b = true, nil
		return nil
	}
	out := c.b[:n:n]
	c.b = c.b[n:]
	return out
}

func (c *cursor) skipBytes(n int) { c.nextBytes(n) }

func (c *cursor) restBytes() []byte {
	return c.nextBytes(len(c.b))
}

func (c *cursor) readUint8() uint8 {
	if b := c.nextBytes(1); b != nil {
		return b[0]
	}
	return 0
}

func (c *cursor) readUint16() uint16 {
	if b := c.nextBytes(2); b != nil {
		return binary.BigEndian.Uint16(b)
	}
	return 0
}

func (c *cursor) readUint32() uint32 {
	if b := c.nextBytes(4); b != nil {
		return binary.BigEndian.Uint32(b)
	}
	return 0
}

func (c *cursor) readUint64() uint64 {
	if b := c.nextBytes(8); b != nil {
		return binary.BigEndian.Uint64(b)
	}
	return 0
}

// readText reads a field of n bytes that ends with the first zero byte, the last at the
// latest. What is not UTF-8 is replaced: the text goes into documents and onto screens.
func (c *cursor) readText(n int) string {
	b := c.nextBytes(n)
	b = b[:max(len(b)-1, 0)]
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	return strings.ToValidUTF8(string(b), "?")
}

// appendText writes a field of n bytes that ends with a zero byte.
func appendText(b []byte, s string, n int) []byte {
	field := make([]byte, n)
	copy(field[:n-1], s)
	return append(b, field...)
}

var zeros [8]byte

func appendZeros(b []byte, n int) []byte {
	return append(b, zeros[:n]...)
}
