// Package operations is the capability of executing the RPCs of YANG modules.
//
// The host validates the input against the module, so a Handler sees only what
// the schema allows. An HTTP subtree of its own is package routes; a shell
// command is package commands.
package operations

import (
	"context"
	"encoding/json"

	"ctl.internal/sdk/fault"
)

// Request is one call of an RPC.
type Request struct {
	Module string // YANG module name, "vlan"
	RPC    string // "add-vlan"
	// Input is a JSON object with the members of the RPC's input: validated,
	// defaults filled in, RFC 7951 names, 64-bit numbers not quoted.
	Input json.RawMessage
}

// Handler executes RPCs. The caller is in ctx (package caller). Output is encoded
// with encoding/json into the members of the RPC's output; nil means none. Errors
// keep their kind when they are *fault.Error.
type Handler interface {
	Invoke(ctx context.Context, r *Request) (output any, err error)
}

// HandlerFunc is a function that is a Handler.
type HandlerFunc func(ctx context.Context, r *Request) (any, error)

// Invoke calls f.
func (f HandlerFunc) Invoke(ctx context.Context, r *Request) (any, error) { return f(ctx, r) }

// Func adapts a function with typed input and output. In is decoded from the
// input's members, Out encoded into the output's.
func Func[In, Out any](f func(ctx context.Context, in In) (Out, error)) Handler {
	return HandlerFunc(func(ctx context.Context, r *Request) (any, error) {
		var in In
		if len(r.Input) > 0 {
			if err := json.Unmarshal(r.Input, &in); err != nil {
				return nil, fault.At(fault.Invalid, "/"+r.Module+":input", "%v", err)
			}
		}
		return f(ctx, in)
	})
}

// None is the type of an empty input or output for Func.
type None struct{}

// Mux is a Handler that chooses by "module:rpc". An entry that is not there
// answers Unsupported.
type Mux map[string]Handler

// Invoke calls the handler registered for the request's module and RPC.
func (m Mux) Invoke(ctx context.Context, r *Request) (any, error) {
	h, ok := m[r.Module+":"+r.RPC]
	if !ok {
		return nil, fault.New(fault.Unsupported, "the plugin does not execute %s:%s", r.Module, r.RPC)
	}
	return h.Invoke(ctx, r)
}
