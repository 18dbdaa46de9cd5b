package journal

import (
	"encoding/hex"
	"strconv"
	"time"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
)

// Record is a change under way. It holds no secrets.
type Record struct {
	ID     string    `json:"id"`
	Node   uint64    `json:"node"`
	Switch string    `json:"switch"` // its name for people
	What   string    `json:"what"`   // "setting VLAN 5"
	Begun  time.Time `json:"begun"`
	Steps  []Step    `json:"steps,omitempty"`
	// Operation is set for a change that another process, or a command line, makes:
	// its steps are not known here.
	Operation *Operation `json:"operation,omitempty"`
}

// Step is what one SET assigns.
type Step struct {
	What    string       `json:"what"`
	Assigns []Assignment `json:"assigns"`
}

// Assignment is an instance before and after a step; nil: there is none.
type Assignment struct {
	OID  string  `json:"oid"`
	Kind Kind    `json:"kind"`
	From *string `json:"from,omitempty"`
	To   *string `json:"to,omitempty"`
}

// Kind is the type of an instance.
type Kind string

// The kinds. Row is a RowStatus, ARP an ipNetToMediaType, FDB a dot1qStaticUnicastStatus:
// with them a row is made and removed, and From or To nil is a row that is not there.
const (
	Octets  Kind = "octets" // in hexadecimal
	Integer Kind = "integer"
	Gauge   Kind = "gauge"
	Row     Kind = "row"
	ARP     Kind = "arp"
	FDB     Kind = "fdb"
)

// Operation is a change by an operation of the driver contract.
type Operation struct {
	Driver   string             `json:"driver"`
	Name     string             `json:"name"` // "WriteVlan", as the contract names it
	VLAN     *pluginv1.Vlan     `json:"vlan,omitempty"`
	Before   *pluginv1.Vlan     `json:"before,omitempty"`
	Create   bool               `json:"create,omitempty"`
	SetPorts bool               `json:"set-ports,omitempty"`
	FDB      *pluginv1.FdbEntry `json:"fdb,omitempty"`
	ARP      *pluginv1.ArpEntry `json:"arp,omitempty"`
	// ACL is what was asked for; without the switch, whose logins are secret.
	ACL    *pluginv1.ApplyAclRequest `json:"acl,omitempty"`
	Port   uint32                    `json:"port,omitempty"`
	Enable bool                      `json:"enable,omitempty"`
}

// Hex is an octet string as an Assignment has it; nil stays nil.
func Hex(b []byte) *string {
	if b == nil {
		return nil
	}
	s := hex.EncodeToString(b)
	return &s
}

// Number is a number as an Assignment has it.
func Number(n int64) *string {
	s := strconv.FormatInt(n, 10)
	return &s
}

// Outcome is how a change ended that was found in the journal.
type Outcome string

// The outcomes. Left means that the switch shows neither what was before nor what was
// asked for, and that it could not be taken back.
const (
	Whole  Outcome = "whole"
	Undone Outcome = "undone"
	Left   Outcome = "left"
)

// Report tells of a change that was found in the journal.
type Report struct {
	ID      string    `json:"id"`
	Node    uint64    `json:"node"`
	Switch  string    `json:"switch"`
	What    string    `json:"what"`
	Begun   time.Time `json:"begun"`
	Ended   time.Time `json:"ended"`
	Outcome Outcome   `json:"outcome"`
	Text    string    `json:"text,omitempty"`
}
