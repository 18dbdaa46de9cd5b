// Package snmpwire turns SNMP messages of versions 1, 2c and 3 into bytes and
// back: BER, PDUs, the user-based security model. It holds no state and does no I/O.
//
// It exists because a client library does not serve the authoritative engine's side
// (the discovery, reports, time), and because simulated switches must be able to send
// what is wrong on purpose. The product speaks SNMP by gosnmp.
package snmpwire

import (
	"fmt"
	"math"
)

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

// MaxVarBinds bounds the variable bindings taken from one message.
const MaxVarBinds = 4096

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

func (p RawPDU) encode() []byte {
	b := make([]byte, 0, len(p.VarBinds)+24)
	b = appendInt(b, Integer, int64(p.RequestID))
	b = appendInt(b, Integer, int64(p.Status))
	b = appendInt(b, Integer, int64(p.Index))
	b = appendHead(b, Sequence, len(p.VarBinds))
	return wrap(p.Type, append(b, p.VarBinds...))
}

func decodePDU(tag Tag, r reader) (PDU, error) {
	p := PDU{Type: tag}
	if tag < GetRequest || tag > Report || tag == TrapV1 {
		return p, fmt.Errorf("BER: %#x is not the tag of a PDU that is answered", byte(tag))
	}
	id, err := r.int32(math.MinInt32, math.MaxInt32)
	if err != nil {
		return p, err
	}
	status, err := r.int32(math.MinInt32, math.MaxInt32)
	if err != nil {
		return p, err
	}
	index, err := r.int32(math.MinInt32, math.MaxInt32)
	if err != nil {
		return p, err
	}
	p.RequestID, p.Status, p.Index = int32(id), Status(status), index
	list, err := r.want(Sequence)
	if err != nil {
		return p, err
	}
	if err := r.end(); err != nil {
		return p, err
	}
	p.VarBinds, err = decodeVarBinds(list)
	return p, err
}

func decodeVarBinds(list reader) ([]VarBind, error) {
	var out []VarBind
	for len(list.b) > 0 {
		if len(out) == MaxVarBinds {
			return nil, fmt.Errorf("more than %d variable bindings", MaxVarBinds)
		}
		vb, err := decodeVarBind(&list)
		if err != nil {
			return nil, err
		}
		out = append(out, vb)
	}
	return out, nil
}

func decodeVarBind(list *reader) (VarBind, error) {
	one, err := list.want(Sequence)
	if err != nil {
		return VarBind{}, err
	}
	name, err := one.want(ObjectID)
	if err != nil {
		return VarBind{}, err
	}
	oid, err := decodeOID(name.b)
	if err != nil {
		return VarBind{}, err
	}
	tag, body, err := one.next()
	if err != nil {
		return VarBind{}, err
	}
	v, err := decodeValue(tag, body.b)
	if err != nil {
		return VarBind{}, err
	}
	return VarBind{oid, v}, one.end()
}
