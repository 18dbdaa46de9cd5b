package writes

import (
	"encoding/hex"
	"strconv"
	"time"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
)

// State is how far an operation is.
type State string

// The states. Unknown is an operation that was begun and not ended with certainty: it is
// repaired, and then done or failed.
const (
	Queued  State = "queued"
	Sent    State = "sent"
	Done    State = "done"
	Failed  State = "failed"
	Unknown State = "unknown"
)

// Record is one operation. It holds no secrets.
type Record struct {
	ID        string        `json:"id"`
	Node      uint64        `json:"node"` // 0: of no single switch
	Switch    string        `json:"switch,omitempty"`
	By        string        `json:"by,omitempty"` // who asked
	Begun     time.Time     `json:"begun"`
	Timeout   time.Duration `json:"timeout,omitempty"` // from when it is taken, for one that was queued
	Operation Operation     `json:"operation"`
	State     State         `json:"state"`
	Epoch     uint64        `json:"epoch,omitempty"`  // of the holder that sent it
	Source    string        `json:"source,omitempty"` // its node

	Plan

	Ended   time.Time `json:"ended,omitzero"`
	Lines   []string  `json:"lines,omitempty"` // what came of it, for people
	Faults  []Fault   `json:"faults,omitempty"`
	Outcome Outcome   `json:"outcome,omitempty"` // of the repair
	Text    string    `json:"text,omitempty"`

	UndoneBy string `json:"undone-by,omitempty"` // the operation that took it back
	Partly   bool   `json:"partly,omitempty"`    // an undo that left what was changed since
}

// What names the operation for people.
func (r *Record) What() string { return r.Operation.What }

// hasEnded reports whether nothing will change any more.
func (r *Record) hasEnded() bool {
	return r.State == Done || r.State == Failed
}

// isLeft reports whether it was begun and not ended.
func (r *Record) isLeft() bool {
	return r.State == Sent || r.State == Unknown
}

// Plan is what is noted before anything is sent: the steps of a driver that knows them,
// else who makes the change, and of a VLAN or a port what was before.
type Plan struct {
	Driver string                 `json:"driver,omitempty"`
	Before *pluginv1.Vlan         `json:"before,omitempty"`
	Port   *pluginv1.PortSettings `json:"port,omitempty"`
	Steps  []Step                 `json:"steps,omitempty"`
}

// Step is what one SET assigns.
type Step struct {
	What    string       `json:"what"`
	Assigns []Assignment `json:"assigns"`
}

// Assignment is an instance before and after a step; nil: it does not exist.
type Assignment struct {
	OID  string  `json:"oid"`
	Kind Kind    `json:"kind"`
	From *string `json:"from,omitempty"`
	To   *string `json:"to,omitempty"`
	// Mask is a PortList in hexadecimal: the instance is one, too, and only the ports in the mask count.
	Mask string `json:"mask,omitempty"`
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

// Outcome is how a change ended that was repaired.
type Outcome string

// The outcomes. Left means that the switch shows neither what was before nor what was
// asked for, and that it could not be undone.
const (
	Whole  Outcome = "whole"
	Undone Outcome = "undone"
	Left   Outcome = "left"
)

// Fault is a fault.Error in a record.
type Fault struct {
	Kind   fault.Kind   `json:"kind"`
	Text   string       `json:"text"`
	Path   string       `json:"path,omitempty"`
	Source fault.Source `json:"source,omitempty"`
}

func toFaults(err error) (out []Fault) {
	for _, e := range fault.All(err) {
		out = append(out, Fault{e.Kind, e.Text, e.Path, e.Source})
	}
	return out
}

// toError is the result as the caller gets it.
func (r *Record) toError() error {
	var l fault.List
	for _, f := range r.Faults {
		l = append(l, &fault.Error{
			Kind:   f.Kind,
			Text:   f.Text,
			Path:   f.Path,
			Source: f.Source,
		})
	}
	if len(l) == 0 && r.State == Failed {
		return fault.New(fault.Internal, "the operation %s failed without a reason", r.ID)
	}
	return l.Err()
}
