package snmpwire

import (
	"fmt"
	"math"
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

// DecodeTrapV1 reads a version 1 trap message: its community and its PDU. Octets
// of the result are those of msg, not copies.
func DecodeTrapV1(msg []byte) (community []byte, t *Trap, err error) {
	r := reader{b: msg}
	body, err := r.want(Sequence)
	if err != nil {
		return nil, nil, err
	}
	if err := r.end(); err != nil {
		return nil, nil, err
	}
	if _, err := body.int32(Version1, Version1); err != nil {
		return nil, nil, fmt.Errorf("version: %w", err)
	}
	name, err := body.want(OctetString)
	if err != nil {
		return nil, nil, err
	}
	pdu, err := body.want(TrapV1)
	if err != nil {
		return nil, nil, err
	}
	if t, err = decodeTrap(pdu); err != nil {
		return nil, nil, err
	}
	return name.b, t, body.end()
}

func decodeTrap(r reader) (*Trap, error) {
	t := &Trap{}
	enterprise, err := r.want(ObjectID)
	if err != nil {
		return nil, err
	}
	if t.Enterprise, err = decodeOID(enterprise.b); err != nil {
		return nil, err
	}
	agent, err := r.want(IPAddress)
	if err != nil {
		return nil, err
	}
	if copy(t.Agent[:], agent.b) != 4 || len(agent.b) != 4 {
		return nil, fmt.Errorf("BER: IpAddress of %d octets", len(agent.b))
	}
	if t.Generic, err = r.int32(0, enterpriseSpecific); err != nil {
		return nil, fmt.Errorf("generic-trap: %w", err)
	}
	if t.Specific, err = r.int32(math.MinInt32, math.MaxInt32); err != nil {
		return nil, err
	}
	stamp, err := r.want(TimeTicks)
	if err != nil {
		return nil, err
	}
	n, err := unsigned(stamp.b, 4)
	if err != nil {
		return nil, err
	}
	t.Time = uint32(n)
	list, err := r.want(Sequence)
	if err != nil {
		return nil, err
	}
	if err := r.end(); err != nil {
		return nil, err
	}
	t.VarBinds, err = decodeVarBinds(list)
	return t, err
}

// enterpriseSpecific is the generic-trap of traps that are not standard.
const enterpriseSpecific = 6

// snmpTraps is the parent of the standard notifications (RFC 3418).
var snmpTraps = OID{1, 3, 6, 1, 6, 3, 1, 1, 5}

// OID is the value that snmpTrapOID.0 has for this trap (RFC 3584 section 3.1).
func (t *Trap) OID() OID {
	if t.Generic != enterpriseSpecific {
		return snmpTraps.Append(uint32(t.Generic) + 1)
	}
	return t.Enterprise.Append(0, uint32(t.Specific))
}
