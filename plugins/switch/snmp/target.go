package snmp

import (
	"cmp"
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
	// BridgeContext is the contextName of BRIDGE-MIB and Q-BRIDGE-MIB; empty: Context.
	BridgeContext string
	// From is where answers come from: empty: Addr; FromAny: any address; else this IP address or Addr.
	From string
}

// String names the agent without secrets.
func (t Target) String() string { return t.Addr.String() }

// GoString is String: no format shows the secrets.
func (t Target) GoString() string { return t.Addr.String() }

// The protocols by their names in a Target; other names are invalid.
var (
	authProtocols = map[string]gosnmp.SnmpV3AuthProtocol{
		"md5":     gosnmp.MD5,
		"sha":     gosnmp.SHA,
		"sha-224": gosnmp.SHA224,
		"sha-256": gosnmp.SHA256,
		"sha-384": gosnmp.SHA384,
		"sha-512": gosnmp.SHA512,
	}
	privProtocols = map[string]gosnmp.SnmpV3PrivProtocol{
		"des":       gosnmp.DES,
		"aes":       gosnmp.AES,
		"aes-192":   gosnmp.AES192,
		"aes-256":   gosnmp.AES256,
		"aes-192-c": gosnmp.AES192C,
		"aes-256-c": gosnmp.AES256C,
	}
)

func (t Target) auth() gosnmp.SnmpV3AuthProtocol {
	return cmp.Or(authProtocols[t.AuthProtocol], gosnmp.NoAuth)
}

func (t Target) priv() gosnmp.SnmpV3PrivProtocol {
	return cmp.Or(privProtocols[t.PrivProtocol], gosnmp.NoPriv)
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
	return &gosnmp.UsmSecurityParameters{
		UserName:                 t.User,
		AuthenticationProtocol:   t.auth(),
		AuthenticationPassphrase: t.AuthPassword,
		PrivacyProtocol:          t.priv(),
		PrivacyPassphrase:        t.PrivPassword,
	}
}
