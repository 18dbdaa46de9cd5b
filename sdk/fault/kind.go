package fault

// Kind says what went wrong in a way a program can act on. Kinds are numbered
// because they cross the wire: append only, never renumber. A number that the
// receiver does not know decodes to Internal, never to "no error".
type Kind int32

// The kinds, with the RFC 8040 section 7 error-tag and HTTP status the host
// answers for each.
const (
	Internal    Kind = 0  // a defect in the plugin or host: operation-failed, 500
	Invalid     Kind = 1  // the caller's input is wrong: invalid-value, 400
	NotFound    Kind = 2  // the named thing does not exist: data-missing, 404
	Exists      Kind = 3  // the thing exists already: data-exists, 409
	Denied      Kind = 4  // the caller may not do this: access-denied, 403
	InUse       Kind = 5  // something else holds it, or a run is active: in-use, 409
	Unavailable Kind = 6  // nobody is there to answer now; worth a retry: 503
	Timeout     Kind = 7  // the deadline passed before the answer: operation-failed, 504
	Downstream  Kind = 8  // the device or server behind the plugin refused or failed: operation-failed, 500
	Unsupported Kind = 9  // the thing cannot do this at all: operation-not-supported, 501
	Missing     Kind = 10 // a required member of the input is absent: missing-element, 400
	Unknown     Kind = 11 // a member of the input has no place in the schema: unknown-element, 400
	Malformed   Kind = 12 // the input does not parse: malformed-message, 400
	TooBig      Kind = 13 // the input or the answer is larger than the limit: too-big, 413
)

var kindNames = [...]string{
	Internal: "internal", Invalid: "invalid", NotFound: "not-found", Exists: "exists",
	Denied: "denied", InUse: "in-use", Unavailable: "unavailable", Timeout: "timeout",
	Downstream: "downstream", Unsupported: "unsupported", Missing: "missing",
	Unknown: "unknown", Malformed: "malformed", TooBig: "too-big",
}

// String returns the kind's name in lower case with hyphens.
func (k Kind) String() string {
	if k.Known() {
		return kindNames[k]
	}
	return kindNames[Internal]
}

// Known reports whether this build knows the number.
func (k Kind) Known() bool { return k >= 0 && int(k) < len(kindNames) }
