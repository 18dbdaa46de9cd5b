package snmpwire

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
