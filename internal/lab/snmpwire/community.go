package snmpwire

import (
	"fmt"
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
	Community []byte
	PDU       PDU
}

// Version reads the version field of a message of any kind.
func Version(msg []byte) (int, error) {
	r := reader{b: msg}
	body, err := r.want(Sequence)
	if err != nil {
		return 0, err
	}
	return body.int32(0, 3)
}

// DecodeCommunity reads a message of version 1 or 2c. Octets of the result
// are those of msg, not copies.
func DecodeCommunity(msg []byte) (*Message, error) {
	r := reader{b: msg}
	body, err := r.want(Sequence)
	if err != nil {
		return nil, err
	}
	if err := r.end(); err != nil {
		return nil, err
	}
	version, err := body.int32(Version1, Version2c)
	if err != nil {
		return nil, fmt.Errorf("version: %w", err)
	}
	community, err := body.want(OctetString)
	if err != nil {
		return nil, err
	}
	tag, inner, err := body.next()
	if err != nil {
		return nil, err
	}
	pdu, err := decodePDU(tag, inner)
	if err != nil {
		return nil, err
	}
	return &Message{version, community.b, pdu}, body.end()
}

// EncodeCommunity writes a message of version 1 or 2c.
func EncodeCommunity(version int, community []byte, pdu RawPDU) []byte {
	return envelope(version, community, pdu.encode())
}

func envelope(version int, community, pdu []byte) []byte {
	b := make([]byte, 0, len(pdu)+len(community)+16)
	b = appendInt(b, Integer, int64(version))
	b = appendOctets(b, community)
	return wrap(Sequence, append(b, pdu...))
}

// Trap is the PDU of a version 1 trap (RFC 1157 section 4.1.6).
type Trap struct {
	Enterprise OID
	Agent      [4]byte
	Generic    int // 0 coldStart … 5 egpNeighborLoss, 6 enterpriseSpecific
	Specific   int
	Time       uint32 // sysUpTime, hundredths of a second
	VarBinds   []VarBind
}

// EncodeTrapV1 writes a version 1 trap message.
func EncodeTrapV1(community []byte, t Trap) []byte {
	b := appendOID(nil, t.Enterprise)
	b = append(appendHead(b, IPAddress, 4), t.Agent[:]...)
	b = appendInt(b, Integer, int64(t.Generic))
	b = appendInt(b, Integer, int64(t.Specific))
	b = appendInt(b, TimeTicks, int64(t.Time))
	b = append(b, wrap(Sequence, AppendVarBinds(nil, t.VarBinds))...)
	return envelope(Version1, community, wrap(TrapV1, b))
}
