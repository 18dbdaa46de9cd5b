package bier

import (
	"time"

	"ctl.internal/sdk/state"
)

// StatusPrefix precedes the records that the BIER service exports, ServiceKey is that of
// the service itself.
const (
	StatusPrefix = "status/"
	ServiceKey   = "service"
)

// RouterKey is the key of a router's record.
func RouterKey(node string) string { return "router/" + node }

// RouterState says whether a router holds what it must hold.
type RouterState struct {
	Node   string `json:"node-id"`
	State  string `json:"state"` // Applied, Pending or Failed
	Reason string `json:"reason,omitempty"`
	Driver string `json:"driver,omitempty"`
}

// States of a router.
const (
	Applied = "applied"
	Pending = "pending"
	Failed  = "failed"
)

// Status is a record below StatusPrefix: of a router, or, under ServiceKey, of the service.
type Status struct {
	// Processed is the revision of the topologies and channels up to which it is known
	// what each router must hold. Of the service only.
	Processed uint64 `json:"processed,omitempty"`
	// Intent is the revision at which it was found that the router must hold something
	// else, Answered the Intent that State is the result of.
	Intent   uint64    `json:"intent,omitempty"`
	Answered uint64    `json:"answered,omitempty"`
	Epoch    uint64    `json:"epoch,omitempty"` // of the role that wrote it
	State    string    `json:"state,omitempty"`
	Reason   string    `json:"reason,omitempty"`
	Driver   string    `json:"driver,omitempty"`
	Hash     string    `json:"hash,omitempty"` // of what the router must hold
	Since    time.Time `json:"since,omitzero"` // of State
}

// Routers is the status of routers as a plugin follows it.
type Routers struct{ *state.Table[Status] }

// NewRouters returns the status that the plugin bier-service exports.
func NewRouters() Routers {
	return Routers{state.NewTable[Status](state.Shared("bier-service", StatusPrefix))}
}

// Answered reports whether what was configured up to a revision was tried at a router. For
// a router without a record nothing must be done.
func (s Routers) Answered(r state.Reader, node string, revision uint64) bool {
	if service, _ := s.Get(r, ServiceKey); service.Processed < revision {
		return false
	}
	x, ok := s.Get(r, RouterKey(node))
	return !ok || x.Answered >= min(x.Intent, revision)
}

// State is that of a router as to what was configured up to a revision.
func (s Routers) State(r state.Reader, node string, revision uint64) RouterState {
	service, _ := s.Get(r, ServiceKey)
	if service.Processed < revision {
		reason := service.Reason
		if reason == "" {
			reason = "the BIER service has not taken it in yet"
		}
		return RouterState{Node: node, State: Pending, Reason: reason}
	}
	x, ok := s.Get(r, RouterKey(node))
	if !ok {
		return RouterState{Node: node, State: Applied}
	}
	return x.Router(node, revision)
}

// Router is the state of a router as to what was configured up to a revision.
func (x Status) Router(node string, revision uint64) RouterState {
	out := RouterState{Node: node, State: x.State, Reason: x.Reason, Driver: x.Driver}
	if x.State == Applied && x.Answered < min(x.Intent, revision) {
		out.State = Pending
	}
	if out.State == Pending && out.Reason == "" { // pending is never without a reason
		out.Reason = "the change has not been tried at the router yet"
	}
	return out
}
