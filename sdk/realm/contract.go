// Package realm is the capability of authenticating users against an outside
// directory (LDAP, an identity service, anything). Instances are configured in
// etc/sec.ini; the host tries them in the order of securityManager.realms.
package realm

import (
	"context"
	"errors"
	"slices"
	"time"
)

// Property is the value of one `name.property = value` line of sec.ini.
type Property struct {
	Value  string            // as written, quotes removed
	List   []string          // split at commas outside quotes
	Map    map[string]string // when every item has the form key:value
	Origin string            // "etc/sec.ini:12"
}

// Config is one instance of a realm.
type Config struct {
	Name       string // name of the instance, "ldapRealm"
	Kind       string // last segment of the class name, "CtlJndiLdapRealm"
	Properties map[string]Property
}

// Kind is a kind of credentials.
type Kind int

// The kinds of credentials.
const (
	Password Kind = iota // user, domain and password
	Bearer               // the text of a token (RFC 6750)
)

// Credentials are what a user logs in with: either User, Domain and Password, or Bearer; the others are
// empty then. Neither Password nor Bearer is ever sent empty: the host refuses such credentials before any
// realm is asked. A realm gets the kinds that it takes (Taker), no others.
type Credentials struct {
	User     string // without domain
	Domain   string // empty when none was given
	Password string
	Bearer   string // at most 8 KiB, without the scheme; never a token of the controller itself
	Address  string // host:port of the client
}

// Kind is the kind of the credentials.
func (c Credentials) Kind() Kind {
	if c.Bearer != "" {
		return Bearer
	}
	return Password
}

// Taker is implemented by realms that take other credentials than passwords, or others besides.
type Taker interface {
	// Takes returns the kinds that the realm takes. It is asked once, when the instance is made.
	Takes() []Kind
}

// Takes reports whether a realm takes a kind of credentials. One that is no Taker takes passwords.
func Takes(r Realm, k Kind) bool {
	if t, ok := r.(Taker); ok {
		return slices.Contains(t.Takes(), k)
	}
	return k == Password
}

// Outcome is a realm's verdict.
type Outcome int

// The outcomes. Unknown covers an unknown user and wrong credentials alike: the
// next realm is asked. Unavailable means that the realm cannot say now: the next
// one is asked too, and nothing is cached.
const (
	Unknown Outcome = iota
	Authenticated
	Unavailable
)

// Result is the answer to credentials. Names are printable text. In an answer to a token anything beyond the limits below is a fault of
// the plugin, and the realm counts as unavailable; to a password, and of Find, such roles are left out, and Reason says so.
type Result struct {
	Outcome   Outcome
	Principal string    // the user as this realm names it, 1024 bytes at most; needed where the credentials name none
	Roles     []string  // roles of the controller, already mapped: 1000 at most, each of 1 to 255 bytes
	Reason    string    // for the log, without secrets
	Expires   time.Time // end of the credentials, in whole seconds, until the year 9999; zero = they do not say
}

// Realm authenticates users. Authenticate must honour ctx's deadline. An error
// counts as Unavailable.
type Realm interface {
	Authenticate(ctx context.Context, c Credentials) (Result, error)
	Close() error
}

// Finder is implemented by realms that can look a user up without the password, such as with a system
// account. Their users may have tokens: Find is called when one is used, and the answer believed for
// at most a minute. Authenticated means that the user could log in now. ErrNoFinder says that the
// instance has no account to look users up with.
type Finder interface {
	Find(ctx context.Context, user, domain string) (Result, error)
}

// ErrNoFinder is what Find returns when the settings name no account to look users up with.
var ErrNoFinder = errors.New("the realm has no account to look users up with")

// Factory makes realms; it is the capability a plugin hands to sdk.Serve. The label realm-kinds of
// the manifest lists the class names that it serves, last segment only.
type Factory interface {
	// New makes an instance; a bad property is a fault.Invalid with its Origin as path.
	New(ctx context.Context, c Config) (r Realm, warnings []string, err error)
}
