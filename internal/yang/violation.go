package yang

import "ctl.internal/sdk/fault"

// Violation is the cause of a fault that RFC 7950 section 15 gives a tag, or that the module itself names: programs
// tell such faults apart by it.
type Violation struct {
	Tag    string // error-tag; empty = that of the fault's kind
	AppTag string // error-app-tag
}

// Error returns the tags.
func (v *Violation) Error() string {
	return v.Tag + " " + v.AppTag
}

// The violations of RFC 7950 section 15.
var (
	notUnique     = &Violation{"operation-failed", "data-not-unique"}
	tooMany       = &Violation{"operation-failed", "too-many-elements"}
	tooFew        = &Violation{"operation-failed", "too-few-elements"}
	missingChoice = &Violation{"data-missing", "missing-choice"}
)

// InstanceRequired is the violation of a reference that leads to nothing.
func InstanceRequired() *Violation {
	return &Violation{"data-missing", "instance-required"}
}

// MissingInstance is the violation of an insert whose point is not there.
func MissingInstance() *Violation {
	return &Violation{"bad-attribute", "missing-instance"}
}

// addViolation reports a violation.
func (v *validator) addViolation(why *Violation, k fault.Kind, path, format string, args ...any) {
	before := len(v.faults)
	v.addFault(k, path, format, args...)
	if why != nil && len(v.faults) > before {
		v.faults[before].Cause = why
	}
}
