// Package grant says what a plugin may do beside serving what its manifest says it serves: its manifest requests,
// an operator grants, the host checks at each use. Without a grant a plugin may do nothing of it. Package feature
// keeps the grants, package plugin checks them.
package grant

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// The kinds of grants. The value of each is in the table kinds.
const (
	RPC         = "rpc"
	Data        = "data"
	Service     = "service"
	Plugins     = "plugins"
	Stream      = "stream"
	Certificate = "certificate"
	Listen      = "listen"
	Connect     = "connect"
	Read        = "read"
	Write       = "write"
	Run         = "run"
)

// The host's services, values of the kind Service.
const (
	Datastore  = "datastore"
	Events     = "events"
	Secrets    = "secrets"
	Operations = "operations"
	Roles      = "roles"
)

// kind describes the values of one kind.
type kind struct {
	form  *regexp.Regexp
	hint  string              // a value in the right form
	words func(string) string // a sentence about the plugin, after "it wants to"
	start bool                // takes effect at the next start of the plugin
}

func newTextFormat(format string) func(string) string {
	return func(value string) string { return fmt.Sprintf(format, value) }
}

var kinds = map[string]kind{
	RPC: {regexp.MustCompile(`^[A-Za-z_][\w.-]*:?[\w.-]*\*?$|^\*$`), "vlan:add-vlan",
		newTextFormat("call the RPC %s by itself, without a user"), false},
	Data: {regexp.MustCompile(`^(/[\w.-]+:[^\s]*|[a-z0-9][a-z0-9._-]*:[^\s]*|\*)$`), "/network-topology:network-topology, or PLUGIN:prefix",
		newTextFormat("read %s, data that is not its own"), false},
	Service: {regexp.MustCompile(`^(datastore|events|secrets|operations|roles|\*)$`), "datastore, events, secrets, operations or roles",
		func(v string) string { return serviceWords[v] }, false},
	Plugins: {regexp.MustCompile(`^[a-z0-9*-]+$`), "switchdriver",
		newTextFormat("call the plugins that serve %s"), false},
	Stream: {regexp.MustCompile(`^[\w.*-]+$`), "accounting",
		newTextFormat("receive the events of the stream %s"), false},
	Certificate: {regexp.MustCompile(`^(identity|trust|\*)$`), "identity or trust",
		func(v string) string { return certificateWords[v] }, false},
	Listen: {regexp.MustCompile(`^(tcp|udp)/(\d{1,5}|\*)$`), "tcp/6653",
		func(v string) string {
			return "accept connections from outside at " + describePort(v)
		}, true},
	Connect: {regexp.MustCompile(`^(tcp|udp)/(\d{1,5}|\*)$`), "udp/161",
		func(v string) string {
			return "connect to other machines at " + describePort(v)
		}, true},
	Read: {fileForm, fileHint, func(v string) string {
		return "read " + describeFile(v)
	}, true},
	Write: {fileForm, fileHint, func(v string) string {
		return "read and write " + describeFile(v)
	}, true},
	Run: {fileForm, fileHint, func(v string) string {
		return "run " + describeFile(v)
	}, true},
}

var (
	fileForm = regexp.MustCompile(`^(/[^\x00-\x1f]*|setting:[\w.-]+|home:[\w./-]*|~/[\w./-]+)$`)
	fileHint = "/usr/share/snmp/mibs, setting:NAME for the paths that a setting names, home:etc/file, ~/.ssh"

	serviceWords = map[string]string{
		Datastore:  "keep data of its own in the store",
		Events:     "publish events to the streams that it names",
		Secrets:    "encrypt secrets with the controller's key, and decrypt its own and those of its settings",
		Operations: "call RPCs of other modules for the users that it serves, with their rights",
		Roles:      "hold roles, so that it acts on devices from one node",
		"*":        "use all services of the controller",
	}
	certificateWords = map[string]string{
		"identity": "have the controller's certificate and its PRIVATE KEY",
		"trust":    "read the certificates that the controller trusts",
		"*":        "have the controller's certificate, its PRIVATE KEY and what it trusts",
	}
)

func describePort(v string) string {
	protocol, number, _ := strings.Cut(v, "/")
	if number == "*" {
		return "any port, " + strings.ToUpper(protocol)
	}
	return "port " + number + ", " + strings.ToUpper(protocol)
}

func describeFile(v string) string {
	if s, ok := strings.CutPrefix(v, "setting:"); ok {
		return "what its setting " + s + " names"
	}
	if s, ok := strings.CutPrefix(v, "home:"); ok {
		return path.Join("/", s)[1:] + " in the home of the controller"
	}
	if s, ok := strings.CutPrefix(v, "~/"); ok {
		return s + " in the home directory of the user whom the controller runs as"
	}
	return v
}

// Grant is one thing that a plugin may do. Its text is KIND VALUE, "rpc vlan:add-vlan".
type Grant struct{ Kind, Value string }

// New checks a grant.
func New(kind, value string) (Grant, error) {
	k, ok := kinds[kind]
	if !ok {
		return Grant{}, fmt.Errorf(
			"unknown kind of grant %q, expected one of %s",
			kind,
			strings.Join(slices.Sorted(maps.Keys(kinds)), ", "),
		)
	}
	if len(value) > 1024 ||
		!k.form.MatchString(value) ||
		strings.Contains(value, "/../") ||
		strings.HasSuffix(value, "/..") {
		return Grant{}, fmt.Errorf("%s: invalid value %q, expected %s", kind, value, k.hint)
	}
	return Grant{kind, value}, nil
}

// Parse reads a grant from its text.
func Parse(s string) (Grant, error) {
	kind, value, _ := strings.Cut(strings.TrimSpace(s), " ")
	return New(kind, strings.TrimSpace(value))
}

// String returns the text of a grant.
func (g Grant) String() string { return g.Kind + " " + g.Value }

// MarshalText implements encoding.TextMarshaler.
func (g Grant) MarshalText() ([]byte, error) {
	return []byte(g.String()), nil
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (g *Grant) UnmarshalText(b []byte) (err error) {
	*g, err = Parse(string(b))
	return err
}

// Words says in plain words what a plugin may do with a grant.
func (g Grant) Words() string {
	return kinds[g.Kind].words(g.Value)
}

// AtStart reports whether a change of a grant takes effect at the next start of the plugin's process; of the others
// it does at once.
func (g Grant) AtStart() bool { return kinds[g.Kind].start }

// FromSettings reports whether the operator has given a grant by writing the plugin's settings: the paths they name.
func (g Grant) FromSettings() bool {
	return strings.HasPrefix(g.Value, "setting:")
}

// Covers reports whether who has g may do o.
func (g Grant) Covers(o Grant) bool {
	if g.Kind != o.Kind {
		return false
	}
	if prefix, ok := strings.CutSuffix(g.Value, "*"); ok {
		return strings.HasPrefix(o.Value, prefix)
	}
	if g.Value == o.Value {
		return true
	}
	switch g.Kind {
	case Data:
		if strings.HasPrefix(g.Value, "/") { // an instance or a node below it
			rest, ok := strings.CutPrefix(o.Value, g.Value)
			return ok && (rest[0] == '/' || rest[0] == '=')
		}
		return strings.HasPrefix(o.Value, g.Value) // PLUGIN:prefix
	case Read, Write, Run:
		return strings.HasPrefix(g.Value, "/") &&
			strings.HasPrefix(o.Value, strings.TrimSuffix(g.Value, "/")+"/")
	}
	return false
}
