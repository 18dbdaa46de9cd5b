package snmpwire

import (
	"errors"
	"fmt"

	"golang.org/x/crypto/cryptobyte"
	"golang.org/x/crypto/cryptobyte/asn1"
)

// The version fields of messages.
const (
	Version1  = 0
	Version2c = 1
	Version3  = 3
)

// Message is a message of version 1 or 2c.
type Message struct {
	Version   int
	Community string
	PDU       PDU
}

var errBER = errors.New("BER: an element has the wrong tag, a wrong length or wrong content")

// Version reads the version field of a message of any kind.
func Version(msg []byte) (version int, err error) {
	var body cryptobyte.String
	s := cryptobyte.String(msg)
	if !s.ReadASN1(&body, asn1.SEQUENCE) || !body.ReadASN1Integer(&version) {
		return 0, errBER
	}
	return version, nil
}

// DecodeCommunity reads a message of version 1 or 2c. Octets of the result
// are those of msg, not copies.
func DecodeCommunity(msg []byte) (*Message, error) {
	var body, community, pdu, list cryptobyte.String
	var tag asn1.Tag
	var m Message
	var id, status, index int64
	s := cryptobyte.String(msg)
	switch {
	case !s.ReadASN1(&body, asn1.SEQUENCE) || !s.Empty() || !body.ReadASN1Integer(&m.Version):
		return nil, errBER
	case m.Version != Version1 && m.Version != Version2c:
		return nil, fmt.Errorf("version %d is not of this kind of message", m.Version)
	case !body.ReadASN1(&community, asn1.OCTET_STRING) || !body.ReadAnyASN1(&pdu, &tag) || !body.Empty():
		return nil, errBER
	case Tag(tag) < GetRequest || Tag(tag) > Report || Tag(tag) == TrapV1:
		return nil, fmt.Errorf("BER: %#x is not the tag of a PDU that is answered", byte(tag))
	case !pdu.ReadASN1Integer(&id) || !pdu.ReadASN1Integer(&status) || !pdu.ReadASN1Integer(&index),
		!pdu.ReadASN1(&list, asn1.SEQUENCE) || !pdu.Empty():
		return nil, errBER
	}
	m.Community, m.PDU = string(community), PDU{Tag(tag), int32(id), Status(status), int(index), nil}
	for !list.Empty() {
		var one, name, content cryptobyte.String
		if !list.ReadASN1(&one, asn1.SEQUENCE) || !one.ReadASN1(&name, asn1.OBJECT_IDENTIFIER) ||
			!one.ReadAnyASN1(&content, &tag) || !one.Empty() {
			return nil, errBER
		}
		oid, err := decodeOID(name)
		if err != nil {
			return nil, err
		}
		v, err := decodeValue(Tag(tag), content)
		if err != nil {
			return nil, err
		}
		m.PDU.VarBinds = append(m.PDU.VarBinds, VarBind{oid, v})
	}
	return &m, nil
}

func decodeOID(b []byte) (OID, error) {
	o := make(OID, 0, len(b)+1)
	var arc uint64
	for i, c := range b {
		arc = arc<<7 | uint64(c&0x7f)
		switch last := c < 0x80; {
		case arc > 0xffffffff+80, !last && i == len(b)-1:
			return nil, errors.New("BER: an arc of an OBJECT IDENTIFIER is cut or above 32 bits")
		case !last:
			continue
		case len(o) == 0:
			first := min(arc/40, 2)
			o = append(o, uint32(first))
			arc -= first * 40
		}
		o, arc = append(o, uint32(arc)), 0
	}
	if len(o) < 2 || len(o) > MaxArcs {
		return nil, fmt.Errorf("BER: an OBJECT IDENTIFIER of %d octets", len(b))
	}
	return o, nil
}

// decodeValue does not copy octets: they belong to the message.
func decodeValue(tag Tag, b []byte) (Value, error) {
	v := Value{Tag: tag}
	most := 0 // octets of a number
	switch tag {
	case Integer:
		most = 4
	case Counter32, Gauge32, TimeTicks:
		most = 5
	case Counter64:
		most = 9
	}
	switch {
	case most > 0:
		if len(b) == 0 || len(b) > most {
			return v, fmt.Errorf("BER: a number of %d octets", len(b))
		}
		if tag == Integer && b[0] >= 0x80 {
			v.Int = -1
		}
		for _, c := range b {
			v.Int = v.Int<<8 | int64(c)
		}
	case tag == OctetString || tag == Opaque || tag == IPAddress && len(b) == 4:
		v.Bytes = b
	case tag == ObjectID:
		oid, err := decodeOID(b)
		v.OID = oid
		return v, err
	case tag != Null && !v.Exception() || len(b) > 0:
		return v, fmt.Errorf("BER: a value of tag %#x with %d octets", byte(tag), len(b))
	}
	return v, nil
}

// EncodeCommunity writes a message of version 1 or 2c.
func EncodeCommunity(version int, community string, pdu RawPDU) []byte {
	b := appendInt(make([]byte, 0, len(pdu.VarBinds)+len(community)+64), Integer, int64(version))
	b = append(appendHead(b, OctetString, len(community)), community...)
	return encloseAppended(pdu.appendTo(b), 0, Sequence)
}
