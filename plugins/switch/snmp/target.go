package snmp

import (
	"net/netip"

	"github.com/gosnmp/gosnmp"
)

// Target is how an agent is reached. It is comparable.
type Target struct {
	Addr netip.AddrPort
	// Version is "1", "2c" or "3"; empty: 2c, and 1 when that stays unanswered.
	Version      string
	Community    string
	User         string
	AuthProtocol string // "", "md5", "sha", "sha-224", "sha-256", "sha-384", "sha-512"
	AuthPassword string
	PrivProtocol string // "", "des", "aes", "aes-192", "aes-256", "aes-192-c", "aes-256-c"
	PrivPassword string
	Context      string // contextName of version 3
}

// String names the agent without secrets.
func (t Target) String() string { return t.Addr.String() }

// GoString is String: no format shows the secrets.
func (t Target) GoString() string { return t.Addr.String() }

func (t Target) auth() gosnmp.SnmpV3AuthProtocol {
	switch t.AuthProtocol {
	case "md5":
		return gosnmp.MD5
	case "sha":
		return gosnmp.SHA
	case "sha-224":
		return gosnmp.SHA224
	case "sha-256":
		return gosnmp.SHA256
	case "sha-384":
		return gosnmp.SHA384
	case "sha-512":
		return gosnmp.SHA512
	}
	return gosnmp.NoAuth
}

func (t Target) priv() gosnmp.SnmpV3PrivProtocol {
	switch t.PrivProtocol {
	case "des":
		return gosnmp.DES
	case "aes":
		return gosnmp.AES
	case "aes-192":
		return gosnmp.AES192
	case "aes-256":
		return gosnmp.AES256
	case "aes-192-c":
		return gosnmp.AES192C
	case "aes-256-c":
		return gosnmp.AES256C
	}
	return gosnmp.NoPriv
}

// Level is how much protection the user has.
func (t Target) Level() gosnmp.SnmpV3MsgFlags {
	switch {
	case t.priv() != gosnmp.NoPriv:
		return gosnmp.AuthPriv
	case t.auth() != gosnmp.NoAuth:
		return gosnmp.AuthNoPriv
	}
	return gosnmp.NoAuthNoPriv
}

// Security is the user in the form of gosnmp.
func (t Target) Security() *gosnmp.UsmSecurityParameters {
	return &gosnmp.UsmSecurityParameters{UserName: t.User,
		AuthenticationProtocol: t.auth(), AuthenticationPassphrase: t.AuthPassword,
		PrivacyProtocol: t.priv(), PrivacyPassphrase: t.PrivPassword}
}
