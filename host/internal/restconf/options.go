package restconf

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/restconf/tree"
	"ctl.internal/internal/yang"
	"ctl.internal/sdk/operations"
)

// Invoker calls the RPC of an installed module. Input and output are the content
// of input and output in canonical form; errors carry fault kinds.
type Invoker interface {
	Invoke(ctx context.Context, module, rpc string, input []byte) (output []byte, err error)
	// InvokeAction calls an action, on the instance that the request's Path leads to.
	InvokeAction(ctx context.Context, r *operations.Request) (output []byte, err error)
}

// Catalog says what is installed now. Each request asks once.
type Catalog interface {
	Installed() *Installed
}

// Installed is an immutable picture of the installed modules.
type Installed struct {
	Schema  *yang.Set
	Aliases *yang.AliasIndex // nil for none
	// REST says which modules are served over REST (feature facet "rest"). One that
	// it does not name, such as those that internal/yang carries, is served.
	REST map[string]bool
	// Streams are the event streams that may be subscribed to.
	Streams []Stream
	// Owned are configuration trees, by the qualified names of their tops, that a plugin
	// keeps its state in: reading operational data shows them, too.
	Owned map[string]bool
}

// IsServed reports whether a module may be seen over REST.
func (i *Installed) IsServed(module string) bool {
	served, named := i.REST[module]
	return served || !named
}

// Stream describes an event stream (RFC 8040 section 6.2).
type Stream struct {
	Name, Description string
}

// Event is one notification.
type Event struct {
	Time   time.Time
	Name   string                 // module:name
	Data   json.RawMessage        // its members, in canonical form
	XML    func() ([]byte, error) // its element; nil: made of Data by the schema
	Number uint64                 // of the event in its stream; 0: as they come
}

// Options of a Handler. Catalog, Invoker, Store, Events, Waiting, Readable and Still are required.
type Options struct {
	Catalog Catalog
	Invoker Invoker
	Store   datastore.Store
	// Events subscribes to a stream. run emits what is published to it until the stream or ctx ends.
	Events     func(ctx context.Context, stream string) (run func(emit func(Event)) error)
	Validators map[string]tree.Validator // by top-level node, "aaa:http-authorization"
	// Owners check changes of the trees of plugins, and of what these are made of, by top-level node; nil: none are asked.
	Owners func(qname string) []tree.Owner
	// Current refuses a read of the operational tree at a path where it is known to be behind; nil: it never is.
	Current func(ctx context.Context, path string) error
	Log     *slog.Logger
	MaxBody int64            // bytes of a request body; 0 = 4 MiB
	Now     func() time.Time // nil: time.Now
	// Waiting is called when a request begins to follow events, until the function it returns is called.
	Waiting func(context.Context) func()
	// Readable returns for a request that may not read all below its resource what reports of a path,
	// /rests/data/…, whether it may be read and whether all below it may; nil for any other request.
	Readable func(context.Context) func(path string) (may, all bool)
	// Visible reports whether the caller of a request may see an event; nil = all may.
	Visible func(context.Context, *Event) bool
	// Opens reports whether a request may use a node or operation that its module denies by default (RFC 8341): for an
	// administrator, or where what permits the request names the module or the node. Nil: it may.
	Opens func(ctx context.Context, method, path, module, name string) bool
	// Still reports whether a request that lasts may go on. It is asked before
	// each event, and every 15 s without one.
	Still func(context.Context) bool
	// Renew is Still, and returns the context with the roles that the user has now. Nil: the context as it is.
	Renew func(context.Context) (context.Context, bool)
	// MayFollow reports whether the caller of a context may read an event stream; nil: all may.
	MayFollow func(ctx context.Context, stream string) bool
	// Absent says why a module that is not known is not served now, nil = nothing that is installed has it. It may be nil.
	Absent func(module string) error
}
