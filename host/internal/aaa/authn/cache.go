package authn

import (
	"crypto/rand"
	"crypto/sha256"
	"sync/atomic"
	"time"

	"ctl.internal/host/internal/aaa/identity"
)

// digest identifies credentials without holding them: SHA-256 over a key that dies
// with the process, and the credentials. It is never sent to a client, so that the second
// pass of an HMAC, made against those who lengthen what they have seen, would protect
// nothing.
type digest [sha256.Size]byte

// maxVerified bounds the verified logins that are held.
const maxVerified = 10_000

// verified is what was found out about credentials.
type verified struct {
	login *Login
	// id and epoch bind a local login to the state it was verified in.
	id, epoch string
	// generation binds an outside login to the state of the identities, and realm and
	// realmEpoch to that of the realm that verified it.
	generation uint64
	realm      Realm
	realmEpoch uint64
	until      time.Time
	// local is the login of a principal as it was last seen.
	local atomic.Pointer[localOf]
}

type localOf struct {
	p *identity.Principal
	l *Login
}

// loginOf returns the login of the principal that a local login is bound to. Both are
// never changed, so the same principal has the same login.
func (v *verified) loginOf(p *identity.Principal) *Login {
	if made := v.local.Load(); made != nil && made.p == p {
		return made.l
	}
	l := localLogin(p, v.login.Realm)
	v.local.Store(&localOf{p, l})
	return l
}

// digests makes digests.
type digests [sha256.Size]byte

func newDigests() (key digests) {
	_, _ = rand.Read(key[:]) // never fails since Go 1.24
	return key
}

func (key *digests) digestOf(kind byte, text string) digest {
	var buf [512]byte // on the stack for all but absurd lengths
	b := append(append(buf[:0], key[:]...), kind)
	return sha256.Sum256(append(b, text...))
}
