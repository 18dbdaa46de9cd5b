package netconf

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
