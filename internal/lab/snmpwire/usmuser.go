package snmpwire

import "fmt"

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
