package snmpwire

import (
	"errors"
	"fmt"
	"math"
)

// The bits of msgFlags (RFC 3412 section 6.4).
const (
	FlagAuth       byte = 1
	FlagPriv       byte = 2
	FlagReportable byte = 4
)

// ErrDigest says that a message does not carry the digest of its user's key.
var ErrDigest = errors.New("wrong digest")

// V3 is a version 3 message whose security model is USM (RFC 3412, RFC 3414).
type V3 struct {
	MsgID     int32
	MaxSize   int // of the sender, octets
	Flags     byte
	EngineID  []byte
	Boots     int
	Time      int // seconds
	User      string
	ContextID []byte
	Context   []byte
	PDU       PDU // set by Open

	digest  []byte
	digestN int // where the digest starts in the message
	salt    []byte
	scoped  []byte
	sealed  bool
	raw     []byte
}

// DecodeV3 reads all but the scoped PDU, which Open reads once the user's keys
// are known. Octets of the result are those of msg.
func DecodeV3(msg []byte) (*V3, error) {
	r := reader{b: msg}
	body, err := r.want(Sequence)
	if err != nil {
		return nil, err
	}
	if err := r.end(); err != nil {
		return nil, err
	}
	if _, err := body.int32(Version3, Version3); err != nil {
		return nil, fmt.Errorf("version: %w", err)
	}
	m := &V3{raw: msg}
	head, err := body.want(Sequence)
	if err != nil {
		return nil, err
	}
	if err := m.decodeHead(head); err != nil {
		return nil, err
	}
	params, err := body.want(OctetString)
	if err != nil {
		return nil, err
	}
	if err := m.decodeParams(params); err != nil {
		return nil, err
	}
	start := body
	tag, inner, err := body.next()
	switch {
	case err != nil:
		return nil, err
	case tag == OctetString:
		m.scoped, m.sealed = inner.b, true
	case tag == Sequence:
		m.scoped = start.b[:len(start.b)-len(body.b)]
	default:
		return nil, fmt.Errorf("BER: tag %#x where a scoped PDU belongs", byte(tag))
	}
	if m.sealed != (m.Flags&FlagPriv != 0) || m.Flags&(FlagAuth|FlagPriv) == FlagPriv {
		return nil, errors.New("msgFlags contradict the message")
	}
	return m, body.end()
}

func (m *V3) decodeHead(r reader) error {
	id, err := r.int32(0, math.MaxInt32)
	if err != nil {
		return err
	}
	if m.MaxSize, err = r.int32(484, math.MaxInt32); err != nil {
		return err
	}
	flags, err := r.want(OctetString)
	if err != nil {
		return err
	}
	if len(flags.b) != 1 {
		return fmt.Errorf("msgFlags of %d octets", len(flags.b))
	}
	m.MsgID, m.Flags = int32(id), flags.b[0]
	if _, err := r.int32(3, 3); err != nil {
		return fmt.Errorf("security model: %w", err)
	}
	return r.end()
}

func (m *V3) decodeParams(outer reader) error {
	r, err := outer.want(Sequence)
	if err != nil {
		return err
	}
	if err := outer.end(); err != nil {
		return err
	}
	id, err := r.want(OctetString)
	if err != nil {
		return err
	}
	if m.Boots, err = r.int32(0, math.MaxInt32); err != nil {
		return err
	}
	if m.Time, err = r.int32(0, math.MaxInt32); err != nil {
		return err
	}
	user, err := r.want(OctetString)
	if err != nil {
		return err
	}
	sum, err := r.want(OctetString)
	if err != nil {
		return err
	}
	privacy, err := r.want(OctetString)
	if err != nil {
		return err
	}
	if len(id.b) > 32 || len(user.b) > 32 {
		return errors.New("engine id or user name above 32 octets")
	}
	m.EngineID, m.User, m.digest, m.digestN, m.salt = id.b, string(user.b), sum.b, sum.pos, privacy.b
	return r.end()
}
