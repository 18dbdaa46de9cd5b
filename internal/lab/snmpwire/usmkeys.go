package snmpwire

import (
	"crypto/hmac"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"fmt"
	"hash"
)

// Auth is an authentication protocol of the user-based security model.
type Auth int

// The authentication protocols (RFC 3414, RFC 7860).
const (
	NoAuth Auth = iota
	MD5
	SHA
	SHA224
	SHA256
	SHA384
	SHA512
)

// Priv is a privacy protocol of the user-based security model.
type Priv int

// The privacy protocols: RFC 3414, RFC 3826, and the two ways in use to
// stretch keys for AES-192/256 (the C ones are Reeder's, as Cisco does).
const (
	NoPriv Priv = iota
	DES
	AES
	AES192
	AES256
	AES192C
	AES256C
)

type authInfo struct {
	name   string
	new    func() hash.Hash
	digest int // octets of the truncated digest
}

func (a Auth) info() authInfo {
	switch a {
	case MD5:
		return authInfo{"MD5", md5.New, 12}
	case SHA:
		return authInfo{"SHA", sha1.New, 12}
	case SHA224:
		return authInfo{"SHA-224", sha256.New224, 16}
	case SHA256:
		return authInfo{"SHA-256", sha256.New, 24}
	case SHA384:
		return authInfo{"SHA-384", sha512.New384, 32}
	case SHA512:
		return authInfo{"SHA-512", sha512.New, 48}
	}
	return authInfo{name: "none"}
}

// String returns the name net-snmp uses, as SHA-256; none for NoAuth.
func (a Auth) String() string { return a.info().name }

// String returns the name net-snmp uses, as AES-256; none for NoPriv.
func (p Priv) String() string {
	return [...]string{"none", "DES", "AES", "AES-192", "AES-256", "AES-192-C", "AES-256-C"}[p]
}

// keySize is the number of key octets a cipher needs (DES: key and pre-IV).
func (p Priv) keySize() int { return [...]int{0, 16, 16, 24, 32, 24, 32}[p] }

// passwordKey is RFC 3414 appendix A.2: the digest of the password repeated to
// one megabyte. An empty password has no key.
func passwordKey(a Auth, password []byte) []byte {
	h := a.info().new()
	chunk := make([]byte, 0, 1024+len(password))
	for len(chunk) < 1024 {
		chunk = append(chunk, password...)
	}
	chunk = chunk[:len(chunk)-len(chunk)%len(password)]
	for left := 1 << 20; left > 0; left -= len(chunk) {
		h.Write(chunk[:min(left, len(chunk))])
	}
	return h.Sum(nil)
}

func localize(a Auth, key, engineID []byte) []byte {
	h := a.info().new()
	h.Write(key)
	h.Write(engineID)
	h.Write(key)
	return h.Sum(nil)
}

// stretch makes a localized key long enough for the cipher.
func stretch(a Auth, p Priv, key, engineID []byte) []byte {
	for len(key) < p.keySize() {
		if p == AES192C || p == AES256C {
			last := key[len(key)-a.info().new().Size():]
			key = append(key[:len(key):len(key)], localize(a, passwordKey(a, last), engineID)...)
			continue
		}
		h := a.info().new()
		h.Write(key)
		key = h.Sum(key[:len(key):len(key)])
	}
	return key[:p.keySize()]
}

func digest(a Auth, key, msg []byte) []byte {
	mac := hmac.New(a.info().new, key)
	mac.Write(msg)
	return mac.Sum(nil)[:a.info().digest]
}

// User is a user of the security model with the keys of its passwords. Making
// one costs some milliseconds (RFC 3414 wants it so); share it among agents.
type User struct {
	Name     string
	Auth     Auth
	Priv     Priv
	ReadOnly bool // SET answers noAccess

	authKey, privKey []byte
}

// NewUser makes a user. Passwords are of 8 octets or more (RFC 3414 section
// 11.2) where their protocol is in use; privacy needs authentication.
func NewUser(name string, auth Auth, authPassword string, priv Priv, privPassword string) (*User, error) {
	if name == "" || len(name) > 32 {
		return nil, fmt.Errorf("user name %.40q: 1 to 32 octets are allowed", name)
	}
	u := &User{Name: name, Auth: auth, Priv: priv}
	if auth == NoAuth {
		if priv != NoPriv {
			return nil, fmt.Errorf("user %s: privacy needs an authentication protocol", name)
		}
		return u, nil
	}
	if len(authPassword) < 8 {
		return nil, fmt.Errorf("user %s: the authentication password has fewer than 8 octets", name)
	}
	u.authKey = passwordKey(auth, []byte(authPassword))
	if priv != NoPriv {
		if len(privPassword) < 8 {
			return nil, fmt.Errorf("user %s: the privacy password has fewer than 8 octets", name)
		}
		u.privKey = passwordKey(auth, []byte(privPassword))
	}
	return u, nil
}

// Keys are the keys of a user at one engine.
type Keys struct {
	User *User
	auth []byte
	priv []byte
}

// Localize makes the user's keys for an engine (RFC 3414 section 2.6).
func (u *User) Localize(engineID []byte) *Keys {
	k := &Keys{User: u}
	if u.Auth != NoAuth {
		k.auth = localize(u.Auth, u.authKey, engineID)
	}
	if u.Priv != NoPriv {
		k.priv = stretch(u.Auth, u.Priv, localize(u.Auth, u.privKey, engineID), engineID)
	}
	return k
}
