package snmpwire

import "crypto/hmac"

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
