package netconf

import (
	"net/url"
	"strings"
)

// Namespaces and capabilities of NETCONF.
const (
	NS             = "urn:ietf:params:xml:ns:netconf:base:1.0"         // RFC 6241 section 3.1
	NSNotification = "urn:ietf:params:xml:ns:netconf:notification:1.0" // RFC 5277 section 4
	NSBaseEvents   = "urn:ietf:params:xml:ns:yang:ietf-netconf-notifications"

	NSNMDA       = "urn:ietf:params:xml:ns:yang:ietf-netconf-nmda" // RFC 8526
	NSDatastores = "urn:ietf:params:xml:ns:yang:ietf-datastores"   // RFC 8342

	Base10          = "urn:ietf:params:netconf:base:1.0"
	Base11          = "urn:ietf:params:netconf:base:1.1"
	WritableRunning = "urn:ietf:params:netconf:capability:writable-running:1.0"
	Candidate       = "urn:ietf:params:netconf:capability:candidate:1.0"
	ConfirmedCommit = "urn:ietf:params:netconf:capability:confirmed-commit:1.1"
	RollbackOnError = "urn:ietf:params:netconf:capability:rollback-on-error:1.0"
	Validate11      = "urn:ietf:params:netconf:capability:validate:1.1"
	Notifications   = "urn:ietf:params:netconf:capability:notification:1.0"
	Interleave      = "urn:ietf:params:netconf:capability:interleave:1.0" // RFC 5277 section 6
)

// Datastore is the name of a configuration datastore (RFC 6241 section 5.1).
type Datastore string

// The datastores.
const (
	Running     Datastore = "running"
	CandidateDS Datastore = "candidate"
)

// Capabilities are what a server announced in its hello, as it wrote them.
type Capabilities []string

// Has reports whether the capability uri was announced, with or without parameters.
func (c Capabilities) Has(uri string) bool {
	for _, have := range c {
		if base, _, _ := strings.Cut(have, "?"); base == uri {
			return true
		}
	}
	return false
}

// Module is a YANG module that was announced (RFC 6020 section 5.6.4).
type Module struct {
	Namespace, Name, Revision string
}

// Module finds a module by its name; ok is false if it was not announced.
func (c Capabilities) Module(name string) (m Module, ok bool) {
	for _, have := range c {
		base, query, _ := strings.Cut(have, "?")
		if !strings.Contains(query, "module=") {
			continue
		}
		v, err := url.ParseQuery(strings.ReplaceAll(query, "&amp;", "&"))
		if err == nil && v.Get("module") == name {
			return Module{base, name, v.Get("revision")}, true
		}
	}
	return Module{}, false
}
