package netconf

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	lib "github.com/Juniper/go-netconf/netconf"

	"ctl.internal/internal/netconf/xmltree"
)

// maxErrors bounds the rpc-errors of one reply that are kept.
const maxErrors = 1000

// RPCError is one rpc-error (RFC 6241 section 4.3), the library's with what it
// leaves out.
type RPCError struct {
	lib.RPCError
	AppTag string // error-app-tag
	// What error-info says is bad: names of elements, attributes and namespaces (RFC 6241
	// appendix A).
	Bad []string
	// Session is what error-info says holds the lock, "" when it does not.
	Session string
}

// Error is for people; programs look at Tag. It says what and where.
func (e *RPCError) Error() string {
	b := []string{e.Tag}
	if e.AppTag != "" {
		b = append(b, "("+e.AppTag+")")
	}
	if len(e.Bad) > 0 {
		b = append(b, "("+strings.Join(e.Bad, ", ")+")")
	}
	if e.Path != "" {
		b = append(b, "at "+e.Path)
	}
	if e.Message != "" {
		b = append(b, "- "+e.Message)
	}
	return strings.Join(b, " ")
}

// Refusal is all rpc-errors of one reply, never empty.
type Refusal []*RPCError

// Error lists all of them, shortened to what a table bears.
func (r Refusal) Error() string {
	var b strings.Builder
	b.WriteString("the router refused: ")
	for i, e := range r {
		if i == 5 {
			fmt.Fprintf(&b, "; and %d more", len(r)-i)
			break
		}
		if i > 0 {
			b.WriteString("; ")
		}
		fmt.Fprintf(&b, "%.300s", e.Error())
	}
	return b.String()
}

// Has reports whether one of the errors has this tag (RFC 6241 appendix A).
func (r Refusal) Has(tag string) bool {
	return slices.ContainsFunc(r, func(e *RPCError) bool { return e.Tag == tag })
}

// ErrUnclear is a reply that is no success by RFC 6241, and no rpc-error either.
// Servers send an empty one for what they do not know.
var ErrUnclear = errors.New("the router's answer is not a clear success")

// Reply is a success.
type Reply struct {
	OK       bool            // <ok/>
	Data     []*xmltree.Node // everything else
	Warnings []*RPCError     // rpc-errors of severity "warning"
}

// readReply makes a Reply or an error of an rpc-reply element.
func readReply(root *xmltree.Node) (*Reply, error) {
	r := &Reply{}
	var bad Refusal
	said := 0
	for _, k := range root.Kids {
		switch {
		case k.Is(NS, "ok"):
			said++
		case k.Is(NS, "rpc-error"):
			if len(bad) >= maxErrors || len(r.Warnings) >= maxErrors {
				continue
			}
			if e := readError(k); e.Severity == "warning" {
				r.Warnings = append(r.Warnings, e)
			} else {
				bad = append(bad, e)
			}
		default:
			r.Data = append(r.Data, k)
		}
	}
	switch {
	case len(bad) > 0:
		return nil, append(bad, r.Warnings...)
	case said > 1:
		return nil, fmt.Errorf("%w: it says ok more than once", ErrUnclear)
	case said == 0 && r.Data == nil:
		return nil, fmt.Errorf("%w: it is empty", ErrUnclear)
	}
	r.OK = said == 1
	return r, nil
}

func readError(n *xmltree.Node) *RPCError {
	e := &RPCError{AppTag: n.Value("error-app-tag")}
	e.Type, e.Tag, e.Severity = n.Value("error-type"), n.Value("error-tag"), n.Value("error-severity")
	e.Path, e.Message = n.Value("error-path"), n.Value("error-message")
	if info := n.Down("error-info"); info != nil {
		e.Info = info.String()
		e.Session = info.Value("session-id")
		for _, k := range info.Kids {
			if strings.HasPrefix(k.Name, "bad-") && len(e.Bad) < 5 && k.Trimmed() != "" {
				e.Bad = append(e.Bad, k.Trimmed())
			}
		}
	}
	if e.Tag == "" {
		e.Tag = "operation-failed"
	}
	return e
}

// maxQueued bounds the notifications that wait for a slow reader.
const maxQueued = 1024

// Notification is an event of the router (RFC 5277 section 4).
type Notification struct {
	At   time.Time     // eventTime; of arrival if the router's is not readable
	Body *xmltree.Node // the event itself
	// Lost is how many notifications were dropped before this one because they were not read.
	Lost int
}

func readNotification(root *xmltree.Node) (Notification, error) {
	n := Notification{At: time.Now()}
	if at, err := time.Parse(time.RFC3339, root.Value("eventTime")); err == nil {
		n.At = at
	}
	for _, k := range root.Kids {
		if !k.Is(NSNotification, "eventTime") {
			n.Body = k
			return n, nil
		}
	}
	return n, errors.New("a notification without content")
}
