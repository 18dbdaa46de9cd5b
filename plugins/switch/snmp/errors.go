package snmp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strings"
	"syscall"

	"github.com/gosnmp/gosnmp"
)

// Error is a failed request.
type Error struct {
	Op     string // "GET", "GETBULK", "SET"…
	OID    string // the object at fault, or the first of the request
	Status gosnmp.SNMPError
	Cause  error
	From   netip.AddrPort // where an answer came from, while none came from the address that was asked
}

// Error returns what happened, without the address: the caller names the switch.
func (e *Error) Error() string {
	oid := strings.TrimPrefix(e.OID, ".")
	switch {
	case e.Status != gosnmp.NoError:
		return fmt.Sprintf("%s of %s refused: %s", e.Op, oid, StatusName(e.Status))
	case e.From.IsValid():
		return fmt.Sprintf(
			"no answer to %s of %s, but one came from %s: the agent answers from another address than the one it is asked at",
			e.Op,
			oid,
			e.From,
		)
	case e.Timeout():
		return fmt.Sprintf("no answer to %s of %s", e.Op, oid)
	}
	if text := accessRefusal(e.Cause); text != "" {
		return fmt.Sprintf("%s of %s refused: %s", e.Op, oid, text)
	}
	return fmt.Sprintf("%s of %s: %v", e.Op, oid, e.Cause)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// Timeout reports whether no answer came in time.
func (e *Error) Timeout() bool {
	var ne net.Error
	return errors.Is(e.Cause, gosnmp.ErrMaxRetriesExceeded) || errors.Is(e.Cause, context.DeadlineExceeded) ||
		errors.Is(e.Cause, os.ErrDeadlineExceeded) || (errors.As(e.Cause, &ne) && ne.Timeout())
}

// Unreachable reports whether the network or the host said that the agent is unreachable.
func (e *Error) Unreachable() bool {
	return errors.Is(e.Cause, syscall.ECONNREFUSED) ||
		errors.Is(e.Cause, syscall.EHOSTUNREACH) ||
		errors.Is(e.Cause, syscall.ENETUNREACH)
}

// Access reports whether the agent answered but did not let us in (RFC 3414 3.2).
func (e *Error) Access() bool {
	if accessRefusal(e.Cause) != "" {
		return true
	}
	// gosnmp reports an answer made with another key by its text only.
	if e.Cause != nil && strings.Contains(e.Cause.Error(), "not authentic") {
		return true
	}
	return e.Status == gosnmp.AuthorizationError || e.Status == gosnmp.NoAccess
}

// LoopError reports that an agent answered identifiers that do not increase, so that
// a walk would never end. What came before is good.
type LoopError struct{ OID string }

// Error names the column.
func (e *LoopError) Error() string {
	return fmt.Sprintf(
		"the answers below %s do not increase; the table was left there",
		strings.TrimPrefix(e.OID, "."),
	)
}

// StatusName is the name RFC 3416 gives an error-status.
func StatusName(s gosnmp.SNMPError) string {
	if s > gosnmp.InconsistentName {
		return fmt.Sprintf("error-status %d", s)
	}
	name := s.String()
	return strings.ToLower(name[:1]) + name[1:]
}
