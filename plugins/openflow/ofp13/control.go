package ofp13

import "encoding/binary"

// Hello opens a connection (7.5.1). Versions has bit N set when the sender speaks
// version N, and is zero when it sent only its highest, in the header.
type Hello struct{ Versions uint32 }

const elementVersions = 1

func (h Hello) appendBinary(b []byte) []byte {
	if h.Versions == 0 {
		return b
	}
	b = binary.BigEndian.AppendUint16(b, elementVersions)
	b = binary.BigEndian.AppendUint16(b, 8)
	return binary.BigEndian.AppendUint32(b, h.Versions)
}

// decodeHello takes the first bitmap of the first element of that type; elements
// that are not known are passed over, as 7.5.1 demands.
func decodeHello(r *cursor) Hello {
	for len(r.b) >= 4 {
		kind, length := r.readUint16(), int(r.readUint16())
		if length < 4 {
			r.bad = "an element of a HELLO is shorter than its header"
			return Hello{}
		}
		body := cursor{b: r.nextBytes(length - 4)}
		if r.short {
			return Hello{}
		}
		if kind == elementVersions && length >= 8 {
			return Hello{Versions: body.readUint32()}
		}
		r.skipBytes(min(paddingLength(length), len(r.b)))
	}
	return Hello{}
}

// paddingLength is what follows n bytes up to a multiple of eight.
func paddingLength(n int) int { return (8 - n%8) % 8 }

// Speaks reports whether a peer with this HELLO, whose header has version,
// speaks OpenFlow 1.3.
func (h Hello) Speaks(version uint8) bool {
	if h.Versions != 0 {
		return h.Versions&(1<<Version) != 0
	}
	return version >= Version
}

// Error types and codes (7.4.4) that discovery sends or understands.
const (
	ErrorHelloFailed       = 0
	ErrorBadRequest        = 1
	ErrorRoleRequestFailed = 11

	CodeIncompatible = 0  // of ErrorHelloFailed
	CodeIsSlave      = 10 // of ErrorBadRequest
	CodeStale        = 0  // of ErrorRoleRequestFailed
)

// Error says what was wrong with the message of the same transaction. Data is the
// beginning of that message, or text for ErrorHelloFailed.
type Error struct {
	Kind, Code uint16
	Data       []byte
}

func (e Error) appendBinary(b []byte) []byte {
	b = binary.BigEndian.AppendUint16(b, e.Kind)
	b = binary.BigEndian.AppendUint16(b, e.Code)
	return append(b, e.Data...)
}

func decodeError(r *cursor) Error {
	return Error{
		Kind: r.readUint16(),
		Code: r.readUint16(),
		Data: r.restBytes(),
	}
}

// EchoRequest asks whether the peer is alive; EchoReply answers with its data.
type (
	EchoRequest struct{ Data []byte }
	EchoReply   struct{ Data []byte }
)

// Messages without a body.
type (
	FeaturesRequest struct{}
	BarrierRequest  struct{} // answered when all before it was done
	BarrierReply    struct{}
)

func (e EchoRequest) appendBinary(b []byte) []byte {
	return append(b, e.Data...)
}
func (e EchoReply) appendBinary(b []byte) []byte {
	return append(b, e.Data...)
}
func (FeaturesRequest) appendBinary(b []byte) []byte {
	return b
}
func (BarrierRequest) appendBinary(b []byte) []byte {
	return b
}
func (BarrierReply) appendBinary(b []byte) []byte {
	return b
}

// FeaturesReply says who the switch is (7.3.1).
type FeaturesReply struct {
	DatapathID   uint64
	Buffers      uint32
	Tables       uint8
	Auxiliary    uint8 // 0 = the main connection
	Capabilities uint32
}

func (f FeaturesReply) appendBinary(b []byte) []byte {
	b = binary.BigEndian.AppendUint64(b, f.DatapathID)
	b = binary.BigEndian.AppendUint32(b, f.Buffers)
	b = append(b, f.Tables, f.Auxiliary, 0, 0)
	b = binary.BigEndian.AppendUint32(b, f.Capabilities)
	return appendZeros(b, 4)
}

func decodeFeatures(r *cursor) FeaturesReply {
	f := FeaturesReply{
		DatapathID: r.readUint64(),
		Buffers:    r.readUint32(),
		Tables:     r.readUint8(),
		Auxiliary:  r.readUint8(),
	}
	r.skipBytes(2)
	f.Capabilities = r.readUint32()
	r.skipBytes(4)
	return f
}

// The roles (7.3.9). RoleNoChange asks for the present one.
const (
	RoleNoChange uint32 = iota
	RoleEqual
	RoleMaster
	RoleSlave
)

// Role is the body of both messages.
type Role struct {
	Role       uint32
	Generation uint64 // of the newest election of a master
}

// RoleRequest asks for a role; RoleReply has it.
type (
	RoleRequest Role
	RoleReply   Role
)

func (r RoleRequest) appendBinary(b []byte) []byte {
	return Role(r).appendBinary(b)
}
func (r RoleReply) appendBinary(b []byte) []byte {
	return Role(r).appendBinary(b)
}

func (r Role) appendBinary(b []byte) []byte {
	b = appendZeros(binary.BigEndian.AppendUint32(b, r.Role), 4)
	return binary.BigEndian.AppendUint64(b, r.Generation)
}

func decodeRole(r *cursor) Role {
	v := Role{Role: r.readUint32()}
	r.skipBytes(4)
	v.Generation = r.readUint64()
	return v
}
