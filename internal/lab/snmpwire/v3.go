package snmpwire

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/gosnmp/gosnmp"
)

// User is a user of the user-based security model with its passwords.
type User struct {
	Name     string
	Auth     gosnmp.SnmpV3AuthProtocol
	Priv     gosnmp.SnmpV3PrivProtocol
	ReadOnly bool // SET answers noAccess

	authPassword, privPassword string
}

// NewUser makes a user. Passwords are of 8 octets or more (RFC 3414 section
// 11.2) where their protocol is in use; privacy needs authentication.
func NewUser(name string, auth gosnmp.SnmpV3AuthProtocol, authPassword string,
	priv gosnmp.SnmpV3PrivProtocol, privPassword string) (*User, error) {
	u := &User{
		Name:         name,
		Auth:         auth,
		Priv:         priv,
		authPassword: authPassword,
		privPassword: privPassword,
	}
	switch level := u.Level(); {
	case name == "" || len(name) > 32:
		return nil, fmt.Errorf("user name %.40q: 1 to 32 octets are allowed", name)
	case level == gosnmp.NoAuthNoPriv && priv > gosnmp.NoPriv:
		return nil, fmt.Errorf("user %s: privacy needs an authentication protocol", name)
	case level != gosnmp.NoAuthNoPriv && len(authPassword) < 8:
		return nil, fmt.Errorf("user %s: the authentication password has fewer than 8 octets", name)
	case level == gosnmp.AuthPriv && len(privPassword) < 8:
		return nil, fmt.Errorf("user %s: the privacy password has fewer than 8 octets", name)
	}
	return u, nil
}

// Level is the security level that the user's protocols make possible.
func (u *User) Level() gosnmp.SnmpV3MsgFlags {
	switch {
	case u.Auth <= gosnmp.NoAuth:
		return gosnmp.NoAuthNoPriv
	case u.Priv <= gosnmp.NoPriv:
		return gosnmp.AuthNoPriv
	}
	return gosnmp.AuthPriv
}

// Keys are the keys of a user at one engine.
type Keys = gosnmp.UsmSecurityParameters

// Localize makes the user's keys for an engine (RFC 3414 section 2.6).
func (u *User) Localize(engineID []byte) *Keys {
	k := &Keys{
		UserName:                 u.Name,
		AuthoritativeEngineID:    string(engineID),
		AuthenticationProtocol:   u.Auth,
		AuthenticationPassphrase: u.authPassword,
		PrivacyProtocol:          u.Priv,
		PrivacyPassphrase:        u.privPassword,
	}
	_ = k.InitSecurityKeys() // fails without a password only
	return k
}

// MessageV3 is a message of version 3; MsgID, MsgFlags and the like are gosnmp's.
type MessageV3 struct {
	*gosnmp.SnmpPacket
	PDU PDU
}

// USM is the security parameters of the message.
func (m *MessageV3) USM() *Keys {
	return m.SecurityParameters.(*Keys)
}

// ErrSealed says that a message needs the keys of its user to be read. Its header is read.
var ErrSealed = errors.New("the message is authenticated: it is read with the keys of its user")

// DecodeV3 reads a message of version 3. With keys it must be authentic.
func DecodeV3(msg []byte, keys *Keys) (m *MessageV3, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the message cannot be read: %v", r)
		}
	}()
	g := &gosnmp.GoSNMP{
		Version:            gosnmp.Version3,
		SecurityModel:      gosnmp.UserSecurityModel,
		SecurityParameters: keys,
	}
	read := func(b []byte) (*gosnmp.SnmpPacket, error) { return g.UnmarshalTrap(b, true) }
	if keys == nil {
		g.SecurityParameters, read = &Keys{UserName: "unknown"}, g.SnmpDecodePacket
	}
	p, err := read(bytes.Clone(msg)) // gosnmp writes into it
	switch {
	case err != nil && keys == nil && p.MsgFlags&gosnmp.AuthNoPriv != 0:
		return &MessageV3{SnmpPacket: p}, ErrSealed
	case err != nil:
		return nil, err
	}
	plain := *p // the same PDU in a message of version 2c
	plain.Version, plain.Community = gosnmp.Version2c, ""
	b, err := plain.MarshalMsg()
	if err != nil {
		return nil, err
	}
	community, err := DecodeCommunity(b)
	if err != nil {
		return nil, err
	}
	return &MessageV3{p, community.PDU}, nil
}

// EncodeV3 writes a message of version 3 with a PDU, at a time of the engine that the keys are for. The head has
// MsgID, MsgFlags and the context.
func EncodeV3(head gosnmp.SnmpPacket, keys *Keys, boots, seconds int, pdu RawPDU) ([]byte, error) {
	sp := keys.Copy().(*Keys)
	sp.AuthoritativeEngineBoots, sp.AuthoritativeEngineTime = uint32(boots), uint32(seconds)
	sp.PrivacyParameters = make([]byte, 8) // random, so that no two messages have the same
	_, _ = rand.Read(sp.PrivacyParameters) // never fails
	p, err := packetFromPDU(pdu)
	if err != nil {
		return nil, err
	}
	head.Version, head.SecurityModel, head.SecurityParameters = gosnmp.Version3, gosnmp.UserSecurityModel, sp
	head.PDUType, head.RequestID, head.Variables = p.PDUType, p.RequestID, p.Variables
	head.Error, head.ErrorIndex = p.Error, p.ErrorIndex
	head.NonRepeaters, head.MaxRepetitions = p.NonRepeaters, p.MaxRepetitions
	return head.MarshalMsg()
}

// packetFromPDU is a PDU in the form of gosnmp.
func packetFromPDU(pdu RawPDU) (*gosnmp.SnmpPacket, error) {
	return (&gosnmp.GoSNMP{}).SnmpDecodePacket(EncodeCommunity(Version2c, "", pdu))
}

// Variables are variable bindings in the form of gosnmp.
func Variables(list []VarBind) ([]gosnmp.SnmpPDU, error) {
	p, err := packetFromPDU(PDU{
		Type:     Response,
		VarBinds: list,
	}.Raw())
	return p.Variables, err
}
