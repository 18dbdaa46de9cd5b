package hostsvc

import (
	"context"
	"log/slog"
	"strings"
	"time"

	"google.golang.org/grpc"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/grant"
	"ctl.internal/host/internal/plugin/events"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/host"
)

// Sealer encrypts with the home's key. aad is bound to the sealed text.
type Sealer interface {
	Seal(plaintext, aad []byte) ([]byte, error)
	Open(sealed, aad []byte) ([]byte, error)
	// OpenText opens a text of aaa:seal-secret.
	OpenText(text string) (string, error)
}

// Certificates are the keystores. Identity fails with fault.Unavailable when none
// is configured.
type Certificates interface {
	Trust(ctx context.Context) (pem []byte, err error)
	Identity(ctx context.Context) (certificatePEM, keyPEM []byte, err error)
}

// Operations executes the RPC of any module, validated. The user, if the plugin
// acts for one, is in ctx (sdk/caller), and Served reports how the user came; else the
// plugin calls as itself.
type Operations interface {
	Call(ctx context.Context, plugin, module, rpc string, input []byte) (output []byte, err error)
}

type servedKey struct{}

// Served returns the context of the call during which a plugin makes its own, for a
// user: what the host knew of the request then. It is ctx itself for any other call.
func Served(ctx context.Context) context.Context {
	if c, ok := ctx.Value(servedKey{}).(context.Context); ok {
		return c
	}
	return ctx
}

// Directory knows who serves what.
type Directory interface {
	Providers(capability string) []host.Provider
	// Changed returns a channel that is closed at the next change of any plugin.
	Changed() <-chan struct{}
}

// Trees takes edits of YANG trees apart into documents.
type Trees interface {
	// Draft adds to t the writes that make the edits, and the conditions under which they
	// are right. Edits that change nothing add nothing. The error is a fault: of the schema,
	// or of the rules for instances.
	Draft(ctx context.Context, edits []TreeEdit, t *datastore.Txn) error
}

// TreeEdit replaces or deletes one instance.
type TreeEdit struct {
	Namespace string // NamespaceConfig or NamespaceOperational
	Path      string
	Value     []byte // JSON of the whole instance
	Delete    bool
}

// Services are what a plugin's socket leads to. Of Store to Operations, and Directory and Spans, a nil one answers
// Unavailable; the others are always there.
type Services struct {
	Store datastore.Store
	Trees Trees
	Roles Roles
	// Exports lists the prefixes of private keys that a plugin exports; false when it is not
	// installed.
	Exports func(plugin string) ([]string, bool)
	// Fence returns a condition of every commit of the plugin, if it needs one.
	Fence        func() (c datastore.Compare, needed bool, err error)
	Bus          *events.Bus
	Secrets      Sealer
	Certificates Certificates
	Operations   Operations
	// Troubles takes what the plugin finds wrong: the whole list.
	Troubles func(ctx context.Context, plugin string, all []*pluginv1.Trouble) error
	// Serving returns the context of a call that the plugin is serving now, with the caller in it; false when it serves
	// none of this request.
	Serving    func(requestID string) (context.Context, bool)
	Directory  Directory
	Relay      grpc.StreamHandler
	RelayUnary func(ctx context.Context, method string, request []byte) ([]byte, error) // of the link; goes with Relay
	Spans      Spans
	Quotas     Quotas
	// Refused gets what a plugin was refused because it was not granted.
	Refused     func(grant.Grant)
	CallTimeout time.Duration // of unary calls without a deadline
	Log         *slog.Logger
}

// The namespaces of the datastore that plugins reach. The trees are those of
// package restconf: a key is the RFC 8040 path of a document, "/module:container",
// and the leading slash may be left out by a plugin.
const (
	NamespaceOperational = "operational-tree"
	NamespaceConfig      = "config-tree"
)

// NamespacePrivate is where a plugin keeps what is its alone.
func NamespacePrivate(plugin string) string {
	return "plugin/" + plugin
}

// TreeKey returns the key of a document in a tree.
func TreeKey(path string) string {
	if strings.HasPrefix(path, "/") {
		return path
	}
	return "/" + path
}
