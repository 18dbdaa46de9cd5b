package snmpwire

import "fmt"

// Tag is the BER tag of a value or PDU.
type Tag byte

// The tags of values (RFC 2578 section 7.1, RFC 3416 section 3).
const (
	Integer        Tag = 0x02
	OctetString    Tag = 0x04
	Null           Tag = 0x05
	ObjectID       Tag = 0x06
	Sequence       Tag = 0x30
	IPAddress      Tag = 0x40
	Counter32      Tag = 0x41
	Gauge32        Tag = 0x42
	TimeTicks      Tag = 0x43
	Opaque         Tag = 0x44
	Counter64      Tag = 0x46
	NoSuchObject   Tag = 0x80
	NoSuchInstance Tag = 0x81
	EndOfMibView   Tag = 0x82
)

// Value is one SNMP value. Int carries the numbers (Counter64 as its 64 bits),
// Bytes the OctetString, IPAddress and Opaque, OID the ObjectID.
type Value struct {
	Tag   Tag
	Int   int64
	Bytes []byte
	OID   OID
}

// Int32 makes an INTEGER.
func Int32(n int) Value {
	return Value{Tag: Integer, Int: int64(n)}
}

// Octets makes an OCTET STRING; b is not copied.
func Octets(b []byte) Value {
	return Value{Tag: OctetString, Bytes: b}
}

// Text makes an OCTET STRING of a text.
func Text(s string) Value {
	return Value{Tag: OctetString, Bytes: []byte(s)}
}

// Object makes an OBJECT IDENTIFIER.
func Object(o OID) Value { return Value{Tag: ObjectID, OID: o} }

// Unsigned makes a Counter32, Gauge32, TimeTicks or Counter64. The 32-bit
// kinds keep the low 32 bits, as counters do when they wrap.
func Unsigned(t Tag, n uint64) Value {
	if t != Counter64 {
		n &= 0xffffffff
	}
	return Value{Tag: t, Int: int64(n)}
}

// Exception reports whether the value is noSuchObject, noSuchInstance or endOfMibView.
func (v Value) Exception() bool {
	return v.Tag >= NoSuchObject && v.Tag <= EndOfMibView
}

// String shows the value for a log or a test's failure.
func (v Value) String() string {
	switch v.Tag {
	case OctetString, IPAddress, Opaque:
		return fmt.Sprintf("%#x:%x", byte(v.Tag), v.Bytes)
	case ObjectID:
		return "oid:" + v.OID.String()
	case NoSuchObject:
		return "noSuchObject"
	case NoSuchInstance:
		return "noSuchInstance"
	case EndOfMibView:
		return "endOfMibView"
	case Null:
		return "null"
	}
	return fmt.Sprintf("%#x:%d", byte(v.Tag), v.Int)
}

// VarBind is a name with its value.
type VarBind struct {
	Name  OID
	Value Value
}
