package snmpwire

import (
	"fmt"
	"strings"

	"github.com/gosnmp/gosnmp"
)

// Status is the error-status of a response (RFC 3416 section 3).
type Status int

// The error-status values.
const (
	NoError             Status = 0
	TooBig              Status = 1
	NoSuchName          Status = 2
	BadValue            Status = 3
	ReadOnly            Status = 4
	GenErr              Status = 5
	NoAccess            Status = 6
	WrongType           Status = 7
	WrongLength         Status = 8
	WrongEncoding       Status = 9
	WrongValue          Status = 10
	NoCreation          Status = 11
	InconsistentValue   Status = 12
	ResourceUnavailable Status = 13
	CommitFailed        Status = 14
	UndoFailed          Status = 15
	AuthorizationError  Status = 16
	NotWritable         Status = 17
	InconsistentName    Status = 18
)

// String returns the name of RFC 3416.
func (s Status) String() string {
	if s < NoError || s > InconsistentName {
		return fmt.Sprintf("status(%d)", int(s))
	}
	name := gosnmp.SNMPError(s).String()
	return strings.ToLower(name[:1]) + name[1:]
}

// ParseStatus finds a status by its name in RFC 3416.
func ParseStatus(name string) (Status, error) {
	for s := NoError; s <= InconsistentName; s++ {
		if s.String() == name {
			return s, nil
		}
	}
	return 0, fmt.Errorf(
		"%.40q is not an SNMP error-status; the names are those of RFC 3416, as wrongValue",
		name,
	)
}

// V1 maps the status to one that version 1 knows (RFC 3584 section 4.4).
func (s Status) V1() Status {
	switch s {
	case WrongValue, WrongEncoding, WrongType, WrongLength, InconsistentValue:
		return BadValue
	case NoAccess, NotWritable, NoCreation, InconsistentName, AuthorizationError:
		return NoSuchName
	case ResourceUnavailable, CommitFailed, UndoFailed:
		return GenErr
	}
	return s
}
