package snmpwire

import (
	"crypto/hmac"
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

// EncodeV3 writes a version 3 message of the fields of m with a PDU. Flags say
// whether it is authenticated and encrypted; k may be nil when they say
// neither. saltN must differ for every message encrypted with the same keys.
func EncodeV3(m V3, k *Keys, saltN uint64, pdu RawPDU) ([]byte, error) {
	scoped := appendOctets(nil, m.ContextID)
	scoped = appendOctets(scoped, m.Context)
	scoped = wrap(Sequence, append(scoped, pdu.encode()...))
	var sum, privacy []byte
	if m.Flags&FlagAuth != 0 {
		sum = make([]byte, k.User.Auth.info().digest)
	}
	if m.Flags&FlagPriv != 0 {
		privacy = salt(k.User.Priv, m.Boots, saltN)
		sealed, err := k.encrypt(m.Boots, m.Time, privacy, scoped)
		if err != nil {
			return nil, err
		}
		scoped = appendOctets(nil, sealed)
	}
	head := appendInt(nil, Integer, int64(m.MsgID))
	head = appendInt(head, Integer, int64(m.MaxSize))
	head = appendOctets(head, []byte{m.Flags})
	head = appendInt(head, Integer, 3)

	params := appendOctets(nil, m.EngineID)
	params = appendInt(params, Integer, int64(m.Boots))
	params = appendInt(params, Integer, int64(m.Time))
	params = appendOctets(params, []byte(m.User))
	params = appendOctets(params, sum)
	tail := 0 // octets that follow the digest
	params = appendOctets(params, privacy)
	tail += headSize(len(privacy)) + len(privacy)

	msg := appendInt(nil, Integer, Version3)
	msg = append(msg, wrap(Sequence, head)...)
	msg = append(msg, wrap(OctetString, wrap(Sequence, params))...)
	tail += len(scoped)
	msg = wrap(Sequence, append(msg, scoped...))
	if sum != nil {
		at := len(msg) - tail - len(sum)
		copy(msg[at:], digest(k.User.Auth, k.auth, msg))
	}
	return msg, nil
}

// Verify checks the digest with the user's keys; it returns ErrDigest.
func (m *V3) Verify(k *Keys) error {
	if len(m.digest) != k.User.Auth.info().digest {
		return ErrDigest
	}
	blank := append([]byte(nil), m.raw...)
	clear(blank[m.digestN : m.digestN+len(m.digest)])
	if !hmac.Equal(digest(k.User.Auth, k.auth, blank), m.digest) {
		return ErrDigest
	}
	return nil
}

// Open reads the scoped PDU; k may be nil when the message is not encrypted.
func (m *V3) Open(k *Keys) error {
	plain := m.scoped
	if m.sealed {
		var err error
		if k == nil || k.User.Priv == NoPriv {
			return errCipher
		}
		if plain, err = k.decrypt(m.Boots, m.Time, m.salt, m.scoped); err != nil {
			return err
		}
	}
	outer := reader{b: plain} // what follows is DES padding
	r, err := outer.want(Sequence)
	if err != nil {
		return err
	}
	id, err := r.want(OctetString)
	if err != nil {
		return err
	}
	name, err := r.want(OctetString)
	if err != nil {
		return err
	}
	tag, inner, err := r.next()
	if err != nil {
		return err
	}
	m.ContextID, m.Context = id.b, name.b
	if m.PDU, err = decodePDU(tag, inner); err != nil {
		return err
	}
	return r.end()
}

// Clone copies the message, so that it outlives the octets it was read from.
// What Open read is not kept.
func (m *V3) Clone() *V3 {
	c, err := DecodeV3(append([]byte(nil), m.raw...))
	if err != nil { // it was read before
		panic(err)
	}
	return c
}
