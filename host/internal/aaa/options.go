package aaa

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"time"

	"ctl.internal/host/internal/aaa/identity"
	"ctl.internal/host/internal/aaa/idm"
	"ctl.internal/host/internal/aaa/password"
	"ctl.internal/host/internal/aaa/reqpath"
	"ctl.internal/host/internal/aaa/right"
	"ctl.internal/host/internal/aaa/throttle"
	"ctl.internal/host/internal/datastore"
	"ctl.internal/sdk/realm"
)

// Realms gives the instances of realms that plugins serve.
type Realms interface {
	// Realm returns the running instance of a configuration. It is asked at every
	// login, so it must be cheap once the instance exists; an error means that the
	// realm cannot be asked now (its feature is not installed, its plugin is down).
	Realm(ctx context.Context, c realm.Config) (realm.Realm, error)
	// Epoch returns a number that changes whenever somebody has what serves a kind of
	// realms stopped, replaced or configured again, and that is 0 while nothing serves
	// it: logins verified in another epoch are not believed. A crash, and the restart
	// after it, leaves it as it is. It is asked at each request, so it must be cheap.
	Epoch(kind string) uint64
}

// Options are what access control needs. Store and SecINI are required.
type Options struct {
	Store  datastore.Store
	Sealer identity.Sealer // seals password hashes at rest; nil = stored as they are

	SecINI      []byte // content of etc/sec.ini
	SecININame  string // its name in messages; empty = etc/sec.ini
	AuthnConfig []byte // content of 08-authn-config.xml; nil = defaults
	First       identity.First

	Realms     Realms   // nil = only the local realm can be asked
	RealmKinds []string // classes of realms beyond those of the controller's plugins

	TokenLifetime    time.Duration      // 0 = 1 hour
	TokensPerUser    int                // live ones; 0 = 1000
	MinPassword      int                // characters; 0 = 8
	Blocked          password.Blocklist // forbidden passwords
	PasswordMaxAge   time.Duration      // 0 = any
	ChangeFirst      bool               // random first passwords must be changed
	ChangeGiven      bool               // passwords that another than the user chose must be changed
	Common           password.Blocklist // forbidden passwords, in lower case
	PasswordHistory  int                // last passwords of a user that cannot be chosen again; 0 = all can
	Sessions         idm.Sessions       // of browsers; 0 = 30 minutes unused, 12 hours at most
	RoleDeniedStatus int                // 401 (default) or 403
	Passwords        password.Params
	ParallelLogins   int // hashes at once; 0 = half the processors
	Throttle         throttle.Settings
	LoginCache       time.Duration // how long a login of an outside realm is believed; 0 = 1 minute, less = not at all

	// KeysDir has files of SSH keys, one a user, which are moved into the identities; empty = none.
	KeysDir string

	// Logger returns the logger of a name such as org.ctl.aaa; nil = slog's default.
	Logger func(name string) *slog.Logger
	// RequestID returns the id of a request that a handler before this one gave it;
	// nil = made here.
	RequestID func(*http.Request) string
	// Waiting is called while a request waits for the verification of its password, until
	// the function it returns is called; nil = not used.
	Waiting func(context.Context) func()
	// Names returns the other forms of what is below the root of a data tree (data) or of the
	// operations: names with and without their module, other names of a module, keys as segments.
	// A request must be allowed under all of them, at every root; nil = none. It is called at each
	// request to RESTCONF's trees, so it must be cheap.
	Names func(data bool, below []reqpath.Segment) [][]reqpath.Segment
	// Routes returns the other addresses of a path, with its query, that a plugin serves; nil = none. It is called at
	// each request to what is not RESTCONF's, so it must be cheap.
	Routes func(p reqpath.Path, query string) []reqpath.Path
	// MadeOf returns the addresses of the data that what is below the root of a data tree is made of: a request for it needs
	// the right to read these, too. Entry says that they are the entries that it names, else they are whole trees. Nil = data is
	// made of nothing else. It must be as cheap as Names.
	MadeOf func(below []reqpath.Segment) (paths []reqpath.Path, entry bool)
	// Canonical returns the one address of what a path addresses, which the roles that confine are written for, and whether it is
	// an operation that changes nothing; nil = the path itself. It is called for users who are confined.
	Canonical func(p reqpath.Path) (canonical reqpath.Path, readOnly bool)
	// StoreRole writes an entry of RolesNode, or removes it when role is nil; nil = there are no roles to install.
	StoreRole func(ctx context.Context, name string, role json.RawMessage) error
	// ActsOn reports whether a path addresses an operation that can say what switches, ports and VLANs it acts on;
	// nil = there is none. It is called for users who have a right.
	ActsOn func(p reqpath.Path) bool
	// Touched returns what a call of such an operation would act on. It may ask devices.
	Touched func(ctx context.Context, operation reqpath.Path, input []byte) ([]right.Resource, error)
	// Ports returns the switch that a name means, and the ports that names, numbers and ranges of numbers mean there; without
	// them the switch alone. Nil = no plugin knows switches.
	Ports func(ctx context.Context, node string, ports []string) ([]right.Resource, error)
	// StoreRight writes what is below RightsNode at a path, or removes it when value is nil; nil = there are no rights.
	StoreRight func(ctx context.Context, path string, value json.RawMessage) error
	// Page writes the answer to a person whose browser was refused a page; nil = the JSON that programs get.
	Page func(w http.ResponseWriter, r *http.Request, status int, reason string)

	// Unusable writes the answer to a request below the roots of RESTCONF that cannot be decided, in the form of RFC
	// 8040 section 7.1, and reports whether the path is one of those; nil = there are none.
	Unusable func(w http.ResponseWriter, r *http.Request, status int, text string) bool

	// Deleted returns the writes that remove what others keep for a user, in the transaction that deletes the user;
	// nil = nothing is kept.
	Deleted func(userID string) []datastore.Op

	// LockedOut is called when an account or address is first delayed or blocked for failed logins; nil = nobody wants to know.
	LockedOut func(throttle.Lockout)

	Now func() time.Time // nil = the real clock
}

func (o *Options) setDefaults() {
	o.SecININame = cmp.Or(o.SecININame, "etc/sec.ini")
	o.TokenLifetime = cmp.Or(o.TokenLifetime, time.Hour)
	o.Sessions.Idle = cmp.Or(o.Sessions.Idle, 30*time.Minute)
	o.Sessions.Life = cmp.Or(o.Sessions.Life, 12*time.Hour)
	o.RoleDeniedStatus = cmp.Or(o.RoleDeniedStatus, http.StatusUnauthorized)
	o.Passwords = cmp.Or(o.Passwords, password.Default)
	if o.Logger == nil {
		o.Logger = func(name string) *slog.Logger {
			return slog.Default().With("logger", name)
		}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
}
