package plugin

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"regexp"
	"slices"
	"time"

	"google.golang.org/grpc"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/grant"
	"ctl.internal/host/internal/plugin/events"
	"ctl.internal/host/internal/plugin/hostsvc"
	"ctl.internal/host/internal/plugin/process"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
)

// Options are what a Manager works with.
type Options struct {
	Node    string // of a cluster; plugins get it in their environment
	RunDir  string // private, for sockets: <home>/data/run/plugins
	DataDir string // each plugin gets a directory below it: <home>/data/plugins
	Home    string // of the controller: closed to plugins but for what is theirs or granted; empty = what DataDir lies in
	// Directories are those outside the home in which files are that commands name (console.directories).
	Directories []string

	// Logger returns the log of a plugin; its level is the operator's to set under
	// the name "plugin.NAME".
	Logger func(name string) *slog.Logger
	// Settings returns a plugin's settings as JSON, checked against the schema of
	// its manifest (empty: it has no settings), defaults filled in. It is asked at
	// each start.
	Settings func(name string, schema []byte) ([]byte, error)

	// What plugins reach through the host; a nil one answers Unavailable.
	Store        datastore.Store
	Trees        hostsvc.Trees
	Roles        hostsvc.Roles
	Secrets      hostsvc.Sealer
	Certificates hostsvc.Certificates
	Operations   hostsvc.Operations
	Troubles     func(ctx context.Context, plugin string, all []*pluginv1.Trouble) error
	Bus          *events.Bus   // always there
	Spans        hostsvc.Spans // nil = plugins make none
	// Forward returns a connection to a plugin on a node; an empty node is the one that
	// holds its role. Nil = no other node is reached.
	Forward func(plugin, node string) grpc.ClientConnInterface

	// Isolation is "required", "on" (as far as the machine has it) or "off"; empty = off.
	Isolation string
	Quota     process.Quota // of each plugin, zero fields = none
	Disk      int64         // bytes of the files of each plugin, 0 = no limit
	// Reserved are paths of the host: a plugin that claims one, or one above or below it, is refused.
	Reserved []string
	// OwnsCommand reports whether a command is the host's: a plugin that declares one of that name is refused; nil = none is.
	OwnsCommand func(name string) bool
	// Behind says why what the controller keeps of a plugin's data is not what the plugin has, "" when it is; nil = it always is.
	Behind func(plugin string) string
	// Refused gets what a plugin tried without a grant.
	Refused func(plugin string, g grant.Grant)
	// Crashed gets why a plugin's process ended without an order to stop; nil = it is only logged.
	Crashed func(plugin, reason string)

	Policy Policy // DefaultPolicy, or a change of it
	Limits Limits // DefaultLimits, or a change of them
}

// Limits bound what a plugin may cost.
type Limits struct {
	StartTimeout     time.Duration // from exec to handshake
	ConfigureTimeout time.Duration
	CallTimeout      time.Duration // of a unary call without a deadline
	RestartWait      time.Duration // how long a safe call waits for a restart
	StopGrace        time.Duration // from the order to stop to the use of force
	DrainTimeout     time.Duration // for calls in flight when a process is replaced
	PingEvery        time.Duration
	PingTimeout      time.Duration
	PingMisses       int // in a row, until the process counts as hung
	InFlight         int // calls at once to one plugin; four times as many wait
	AllInFlight      int // calls at once to all plugins, waiting ones included
	Watches          int // streams of events at once from one plugin
	LogRate          int // lines a second
	Quotas           hostsvc.Quotas
}

// DefaultLimits suit plugins that talk to devices.
var DefaultLimits = Limits{
	StartTimeout:     30 * time.Second,
	ConfigureTimeout: 60 * time.Second,
	CallTimeout:      60 * time.Second,
	RestartWait:      15 * time.Second,
	StopGrace:        10 * time.Second,
	DrainTimeout:     60 * time.Second,
	PingEvery:        10 * time.Second,
	PingTimeout:      5 * time.Second,
	PingMisses:       3,
	InFlight:         64,
	AllInFlight:      384,
	Watches:          256,
	LogRate:          200,
	Quotas: hostsvc.Quotas{
		StoreBytes:   128 << 20,
		StoreKeys:    200_000,
		Calls:        512,
		Streams:      256,
		Events:       1000,
		EventBytes:   256 << 10,
		PublishBytes: 4 << 20,
		Commits:      2000,
		WriteBytes:   8 << 20,
		RequestBytes: 16 << 20,
		UnreadBytes:  16 << 20,
		UnreadTime:   10 * time.Second,
		Snapshots:    4,
	},
}

// Spec says which plugin to run and how.
type Spec struct {
	Name   string
	Path   string   // of the executable
	Args   []string // after the program's name
	SHA256 string   // in hex; empty = not checked
	Env    []string // "NAME=value", besides what every plugin gets
	Facets []string // install facets that are on: "rest", "cli", "ui"
	// Files are the sha256, in hex, of what the program reads beside itself, by name below its directory.
	Files  map[string]string
	Origin string // who answers for the file, for people
	// Held are the decisions about what the plugin requests; they do not make another process.
	Held grant.Held
}

var namePattern = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]*$`)

func (s Spec) validate() error {
	if !namePattern.MatchString(s.Name) || len(s.Name) > process.MaxName {
		return fmt.Errorf(
			"the plugin name %q must be at most %d lower-case letters, digits, dots, hyphens and underscores",
			s.Name,
			process.MaxName,
		)
	}
	if s.Path == "" {
		return fmt.Errorf("plugin %s has no path", s.Name)
	}
	return nil
}

func (s Spec) equal(o Spec) bool {
	return s.Name == o.Name && s.Path == o.Path && s.SHA256 == o.SHA256 &&
		slices.Equal(s.Args, o.Args) && slices.Equal(s.Env, o.Env) && slices.Equal(s.Facets, o.Facets) && maps.Equal(s.Files, o.Files)
}

// UnavailableError says that a plugin cannot be reached now and when to ask again.
// It unwraps to a *fault.Error of kind Unavailable.
type UnavailableError struct {
	fault *fault.Error
	wait  time.Duration
}

// Error returns the sentence for the user.
func (e *UnavailableError) Error() string {
	return e.fault.Error()
}

// Unwrap returns the fault.
func (e *UnavailableError) Unwrap() error { return e.fault }

// RetryAfter is when another attempt may succeed; at least a second, as HTTP has it.
func (e *UnavailableError) RetryAfter() time.Duration {
	return max(e.wait, time.Second)
}

// Unavailable makes an UnavailableError; wait is when another attempt may succeed, 0 = not known.
func Unavailable(wait time.Duration, format string, args ...any) *UnavailableError {
	return &UnavailableError{
		fault: fault.New(fault.Unavailable, format, args...),
		wait:  wait,
	}
}
