package snmp

import (
	"bytes"
	"strings"

	"github.com/gosnmp/gosnmp"
)

// Value is the value of an instance as an agent sent it.
type Value struct {
	kind gosnmp.Asn1BER
	v    any
}

// Exists is false for noSuchObject, noSuchInstance and endOfMibView.
func (v Value) Exists() bool {
	switch v.kind {
	case gosnmp.NoSuchObject, gosnmp.NoSuchInstance, gosnmp.EndOfMibView, gosnmp.Null, gosnmp.UnknownType:
		return false
	}
	return true
}

// Bytes returns a copy of an octet string; nil for another type.
func (v Value) Bytes() []byte { return bytes.Clone(v.Peek()) }

// Peek returns an octet string without copying: good until the callback returns.
func (v Value) Peek() []byte {
	b, _ := v.v.([]byte)
	return b
}

// Int returns a number of any type; 0 for anything else.
func (v Value) Int() int64 {
	switch n := v.v.(type) {
	case int:
		return int64(n)
	case uint:
		return int64(n)
	case int32:
		return int64(n)
	case uint32:
		return int64(n)
	case int64:
		return n
	case uint64:
		return int64(n)
	}
	return 0
}

// Number returns a number that is not negative, and whether the agent sent one.
func (v Value) Number() (n uint64, ok bool) {
	switch v.v.(type) {
	case uint, uint32, uint64:
		return uint64(v.Int()), v.Exists()
	case int, int32, int64:
		return uint64(v.Int()), v.Exists() && v.Int() >= 0
	}
	return 0, false
}

// Uint32 returns a number from 0 to 2³²-1; 0 for anything else.
func (v Value) Uint32() uint32 {
	if n := v.Int(); n > 0 && n <= 0xffffffff {
		return uint32(n)
	}
	return 0
}

// ObjectID returns an object identifier without the leading dot; empty for another type.
func (v Value) ObjectID() string {
	s, ok := v.v.(string)
	if !ok || v.kind != gosnmp.ObjectIdentifier {
		return ""
	}
	return strings.TrimPrefix(s, ".")
}

// Address returns an IpAddress in text, "192.0.2.1"; empty for another type.
func (v Value) Address() string {
	s, ok := v.v.(string)
	if !ok || v.kind != gosnmp.IPAddress {
		return ""
	}
	return s
}

// Integer makes the variable binding of an INTEGER.
func Integer(oid string, n int) gosnmp.SnmpPDU {
	return gosnmp.SnmpPDU{
		Name:  oid,
		Type:  gosnmp.Integer,
		Value: n,
	}
}

// Gauge makes the variable binding of an Unsigned32 or Gauge32.
func Gauge(oid string, n uint32) gosnmp.SnmpPDU {
	return gosnmp.SnmpPDU{
		Name:  oid,
		Type:  gosnmp.Gauge32,
		Value: n,
	}
}

// Octets makes the variable binding of an OCTET STRING.
func Octets(oid string, b []byte) gosnmp.SnmpPDU {
	return gosnmp.SnmpPDU{
		Name:  oid,
		Type:  gosnmp.OctetString,
		Value: b,
	}
}
