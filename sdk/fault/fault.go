// Package fault carries errors across the process border between the host and
// its plugins without losing what they mean.
//
// A plugin returns a *fault.Error (or several, as a fault.List); the host maps
// its Kind to an HTTP status and to an RFC 8040 error-tag. Plain Go errors are
// carried as Internal. Use package errors for anything that stays inside one
// process.
package fault

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"google.golang.org/grpc/codes"
)

// Source says whose fault an error is, so that a broken switch does not count
// against the driver that reported it.
type Source int32

// The sources. The zero value is the plugin (or host) itself.
const (
	SourcePlugin Source = 0
	SourceDevice Source = 1
)

// Error is an error that keeps its meaning across processes.
type Error struct {
	Kind   Kind
	Text   string // one sentence for the user: the place and the remedy, never a secret
	Path   string // where: an RFC 7951 path into the input, a file:line, or empty
	Source Source // whose fault
	Node   string // the node whose process can answer; see OnNode
	Cause  error  // for the log of the process that made it; does not cross the wire
}

// Error returns the text, prefixed with the path when there is one.
func (e *Error) Error() string {
	if e.Path == "" {
		return e.Text
	}
	return e.Path + ": " + e.Text
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// Is reports whether target is an *Error of the same kind with no text of its
// own, so that errors.Is(err, &fault.Error{Kind: fault.NotFound}) works.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Text == "" && t.Path == "" && t.Kind == e.Kind
}

// New makes an error of a kind.
func New(k Kind, format string, args ...any) *Error {
	return &Error{Kind: k, Text: fmt.Sprintf(format, args...)}
}

// At makes an error of a kind that names the place of the fault.
func At(k Kind, path, format string, args ...any) *Error {
	return &Error{
		Kind: k,
		Path: path,
		Text: fmt.Sprintf(format, args...),
	}
}

// Device makes an error that is the device's fault, not the plugin's.
func Device(k Kind, format string, args ...any) *Error {
	return &Error{
		Kind:   k,
		Text:   fmt.Sprintf(format, args...),
		Source: SourceDevice,
	}
}

// OnNode makes the error of a read that only the plugin's process on another node can
// answer, as it has the session of the device. The host forwards the call to that node,
// once; the text is for the user when the node is not reached, or cannot answer either.
func OnNode(node, format string, args ...any) *Error {
	return &Error{
		Kind: Unavailable,
		Text: fmt.Sprintf(format, args...),
		Node: node,
	}
}

// Wrap gives a cause a kind and a text for the user.
func Wrap(k Kind, cause error, format string, args ...any) *Error {
	return &Error{
		Kind:  k,
		Text:  fmt.Sprintf(format, args...),
		Cause: cause,
	}
}

// List is several faults found at once, as input validation reports them. An
// empty list is not an error: return l.Err().
type List []*Error

// Error joins the faults, one a line.
func (l List) Error() string {
	lines := make([]string, len(l))
	for i, e := range l {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap gives errors.Is and errors.As every fault of the list.
func (l List) Unwrap() []error {
	errs := make([]error, len(l))
	for i, e := range l {
		errs[i] = e
	}
	return errs
}

// Err returns nil for an empty list, the only fault of a list of one, else the list.
func (l List) Err() error {
	switch len(l) {
	case 0:
		return nil
	case 1:
		return l[0]
	}
	return l
}

// All returns every fault in err: those of a List, the one *Error it wraps, or
// the error itself as Internal (Timeout for an expired deadline, Unavailable
// for a cancelled one, and for a file that its disk does not take). It returns nil
// only for nil.
func All(err error) List {
	if err == nil {
		return nil
	}
	if l := List(nil); errors.As(err, &l) && len(l) > 0 {
		return l
	}
	if e := (*Error)(nil); errors.As(err, &e) {
		return List{e}
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		return List{Wrap(Timeout, err, "the deadline passed before there was an answer")}
	case errors.Is(err, context.Canceled):
		return List{Wrap(Unavailable, err, "the call was cancelled")}
	}
	if why := diskError(err); why != nil {
		return List{Wrap(
			Unavailable,
			err,
			"the disk does not take data: %v; ctl doctor says which one and what to do",
			why,
		)}
	}
	return List{Wrap(Internal, err, "%s", err.Error())}
}

// diskError is why a file could not be written or read when its disk is to blame: it is
// full, read-only or broken.
func diskError(err error) error {
	var link *os.LinkError
	var path *fs.PathError
	if !errors.As(err, &path) && !errors.As(err, &link) {
		return nil // as of a socket, or of a resource of the kernel
	}
	for _, why := range []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS, syscall.EIO} {
		if errors.Is(err, why) {
			return why
		}
	}
	return nil
}

// KindOf returns the kind of the first fault in err; Internal for a plain error.
// KindOf(nil) is Internal too: ask err != nil first.
func KindOf(err error) Kind {
	if l := All(err); len(l) > 0 {
		return l[0].Kind
	}
	return Internal
}

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
	Unavailable Kind = 6  // not available now; a retry may succeed: 503
	Timeout     Kind = 7  // the deadline passed before the answer: operation-failed, 504
	Downstream  Kind = 8  // the device or server that the plugin uses refused or failed: operation-failed, 500
	Unsupported Kind = 9  // the thing cannot do this at all: operation-not-supported, 501
	Missing     Kind = 10 // a required member of the input is absent: missing-element, 400
	Unknown     Kind = 11 // a member of the input has no place in the schema: unknown-element, 400
	Malformed   Kind = 12 // the input does not parse: malformed-message, 400
	TooBig      Kind = 13 // the input or the answer is larger than the limit: too-big, 413
)

// kinds are their names, and the gRPC codes that carry them.
var kinds = [...]struct {
	name string
	code codes.Code
}{
	Internal:    {"internal", codes.Internal},
	Invalid:     {"invalid", codes.InvalidArgument},
	NotFound:    {"not-found", codes.NotFound},
	Exists:      {"exists", codes.AlreadyExists},
	Denied:      {"denied", codes.PermissionDenied},
	InUse:       {"in-use", codes.FailedPrecondition},
	Unavailable: {"unavailable", codes.Unavailable},
	Timeout:     {"timeout", codes.DeadlineExceeded},
	Downstream:  {"downstream", codes.Aborted},
	Unsupported: {"unsupported", codes.Unimplemented},
	Missing:     {"missing", codes.InvalidArgument},
	Unknown:     {"unknown", codes.InvalidArgument},
	Malformed:   {"malformed", codes.InvalidArgument},
	TooBig:      {"too-big", codes.ResourceExhausted},
}

// String returns the kind's name in lower case with hyphens.
func (k Kind) String() string {
	if !k.Known() {
		k = Internal
	}
	return kinds[k].name
}

// Known reports whether this build knows the number.
func (k Kind) Known() bool {
	return k >= 0 && int(k) < len(kinds)
}
