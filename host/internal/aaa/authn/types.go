package authn

import (
	"cmp"
	"errors"
	"net/netip"
	"strings"
	"time"

	"ctl.internal/host/internal/aaa/identity"
	"ctl.internal/host/internal/aaa/token"
	"ctl.internal/sdk/realm"
)

// Login is somebody whose credentials were verified.
type Login struct {
	User, Domain string
	Roles        []string
	Realm        string // name of the instance in sec.ini
	Local        bool   // a user of the identity database

	epoch string // of a local user; see identity.Principal
	token string // that the login was made with, if it was
	// session says that the token is that of a browser session.
	session bool

	// bearer says that a token of an outside realm was sent, and ends when that is believed no longer.
	bearer bool
	ends   time.Time
	// grounds are why it has its roles, for the log.
	grounds string

	// Principal is a local user as it was when the login was made or remembered; nil for others.
	Principal *identity.Principal

	// Outside is how the realm of an outside user finds the user again; nil for a local one. User and Domain are its Names.
	Outside *token.Outside
}

// Credentials are what a user logs in with.
type Credentials struct {
	User     string // name or name@domain
	Password string
	Address  netip.AddrPort
}

// Realm is one realm of sec.ini, in the order they are tried.
type Realm struct {
	Name    string
	Kind    string      // last segment of its class name
	Outside realm.Realm // nil for the identity database
	// Directory says that all spellings of a name, with a domain or without, are one account of the realm.
	Directory bool
	// OneDomain says that the realm takes NAME@sdn for NAME.
	OneDomain bool
	Timeout   time.Duration // of one question to an outside realm, once it is asked; 0 = 5 s
	// Places bounds how many questions an outside realm is asked at once; the others wait, which
	// is not the realm's time. Nil = any number.
	Places chan struct{}
	// Epoch returns a number that changes when an outside realm goes or is another one:
	// logins verified before are not believed then. Nil = it never does.
	Epoch func() uint64
}

// domain is the domain of a user of the realm, of what was typed.
func (r Realm) domain(typed string) string {
	typed = strings.ToLower(typed)
	if r.OneDomain && typed == identity.SDN {
		return ""
	}
	return typed
}

func (r Realm) epoch() uint64 {
	if r.Epoch == nil {
		return 0
	}
	return r.Epoch()
}

// Wait is how long the realm may take for one question.
func (r Realm) Wait() time.Duration {
	return cmp.Or(r.Timeout, 5*time.Second)
}

// Attempt is a login, for accounting. It never holds a secret.
type Attempt struct {
	User, Realm, Reason string
	Address             netip.AddrPort
	OK                  bool
	Throttled           bool // refused unseen, for there were too many before
}

// UnavailableError says that no realm knew the credentials, and that one could not be asked: whether
// they are right is not known.
type UnavailableError struct{ Realm string }

// Error names the realm, for the log; clients learn only that the login cannot be verified now.
func (e *UnavailableError) Error() string {
	return "realm " + e.Realm + " cannot be asked now"
}

// RetryAfter is when to try again.
func (e *UnavailableError) RetryAfter() time.Duration {
	return 5 * time.Second
}

// ErrRefused is all that a client learns of a failed login.
var ErrRefused = errors.New("the credentials were refused")
