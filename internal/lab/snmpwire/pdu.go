// Package snmpwire turns SNMP messages of versions 1, 2c and 3 into bytes and
// back. It holds no state and does no I/O.
//
// Version 3 is gosnmp's work. Versions 1 and 2c are read and written here: an agent compares OIDs as numbers
// and counts octets while it fills an answer, and a codec of its own keeps the tests honest.
package snmpwire

// The tags of PDUs (RFC 3416 section 3; TrapV1 is RFC 1157's).
const (
	GetRequest     Tag = 0xa0
	GetNextRequest Tag = 0xa1
	Response       Tag = 0xa2
	SetRequest     Tag = 0xa3
	TrapV1         Tag = 0xa4
	GetBulkRequest Tag = 0xa5
	InformRequest  Tag = 0xa6
	TrapV2         Tag = 0xa7
	Report         Tag = 0xa8
)

// PDU is a protocol data unit, all kinds but TrapV1.
type PDU struct {
	Type      Tag
	RequestID int32
	Status    Status // non-repeaters in a GetBulkRequest
	Index     int    // max-repetitions in a GetBulkRequest; else 1-based, 0 = none
	VarBinds  []VarBind
}

// Raw returns the PDU with its variable bindings encoded.
func (p PDU) Raw() RawPDU {
	return RawPDU{p.Type, p.RequestID, p.Status, p.Index, AppendVarBinds(nil, p.VarBinds)}
}

// RawPDU is a PDU whose variable bindings are encoded already, one after
// another, so that an agent can count octets while it fills an answer.
type RawPDU struct {
	Type      Tag
	RequestID int32
	Status    Status
	Index     int
	VarBinds  []byte
}

func (p RawPDU) appendTo(dst []byte) []byte {
	from := len(dst)
	dst = appendInt(dst, Integer, int64(p.RequestID))
	dst = appendInt(dst, Integer, int64(p.Status))
	dst = appendInt(dst, Integer, int64(p.Index))
	dst = append(appendHead(dst, Sequence, len(p.VarBinds)), p.VarBinds...)
	return encloseAppended(dst, from, p.Type)
}
