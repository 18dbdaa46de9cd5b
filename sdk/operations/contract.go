// Package operations is the capability of executing the RPCs and actions of YANG modules.
//
// The host validates the input against the module, so a Handler sees only what
// the schema allows. An HTTP subtree of its own is package routes; a shell
// command is package commands.
package operations

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"ctl.internal/internal/wire"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/caller"
	"ctl.internal/sdk/fault"
)

// Request is one call of an RPC or of an action.
type Request struct {
	Module string // YANG module name, "vlan"
	RPC    string // "add-vlan"
	// Path is the instance that an action is invoked on, as RFC 8040 writes it: "/vlan:switches/switch=7". Names have
	// their module at the top and where it changes, keys are percent-encoded (Keys reads them). Empty for an RPC.
	Path string
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
func (f HandlerFunc) Invoke(ctx context.Context, r *Request) (any, error) {
	return f(ctx, r)
}

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

// Mux is a Handler that chooses by Request.Name. An entry that is not there
// answers Unsupported.
type Mux map[string]Handler

// Invoke calls the handler registered for the name of the request.
func (m Mux) Invoke(ctx context.Context, r *Request) (any, error) {
	h, ok := m[r.Name()]
	if !ok {
		return nil, fault.New(fault.Unsupported, "the plugin does not execute %s", r.Name())
	}
	return h.Invoke(ctx, r)
}

// Name distinguishes an operation from all others: "module:rpc", or of an action the path of its node in the schema and its
// name, "/vlan:switches/switch/reset", with its module where that is not the module of the node.
func (r *Request) Name() string {
	if r.Path == "" {
		return r.Module + ":" + r.RPC
	}
	var b strings.Builder
	module := ""
	for step := range strings.SplitSeq(strings.Trim(r.Path, "/"), "/") {
		name, _, _ := strings.Cut(step, "=")
		if m, _, ok := strings.Cut(name, ":"); ok {
			module = m
		}
		b.WriteString("/" + name)
	}
	if r.Module != module {
		return b.String() + "/" + r.Module + ":" + r.RPC
	}
	return b.String() + "/" + r.RPC
}

// Keys returns the keys of the entries on the way to the instance of an action, those of one entry after the other.
func (r *Request) Keys() ([]string, error) {
	var keys []string
	for step := range strings.SplitSeq(r.Path, "/") {
		_, values, ok := strings.Cut(step, "=")
		if !ok {
			continue
		}
		for v := range strings.SplitSeq(values, ",") {
			key, err := url.PathUnescape(v)
			if err != nil {
				return nil, fault.At(fault.Invalid, r.Path, "the key %q is not encoded properly", v)
			}
			keys = append(keys, key)
		}
	}
	return keys, nil
}

// Client calls the operations of a plugin over a connection.
type Client struct{ rpc pluginv1.OperationsClient }

// NewClient returns a client on conn.
func NewClient(conn grpc.ClientConnInterface) *Client {
	return &Client{rpc: pluginv1.NewOperationsClient(conn)}
}

// Call executes an RPC or an action for the caller in ctx and returns the members of its output as a JSON object, nil for
// none. Errors are *fault.Error or fault.List.
func (c *Client) Call(ctx context.Context, r *Request) ([]byte, error) {
	res, err := c.rpc.Invoke(ctx, &pluginv1.InvokeRequest{
		Module: r.Module,
		Rpc:    r.RPC,
		Path:   r.Path,
		Input:  r.Input,
		Caller: caller.ToProto(ctx),
	})
	st := status.Convert(err)
	if st.Code() == codes.ResourceExhausted && len(st.Details()) == 0 { // not of the plugin
		const text = "the answer of %s is larger than %d MiB: request less data, with a limit or a filter"
		return nil, fault.Wrap(fault.TooBig, err, text, r.Name(), wire.MaxMessage>>20)
	}
	if err != nil {
		return nil, fault.FromStatus(err)
	}
	return res.Output, nil
}

// Register serves operations on a gRPC server; sdk.Serve does this for a plugin.
// handler returns the handler, or why there is none yet.
func Register(s grpc.ServiceRegistrar, _ string, handler func() (Handler, error)) {
	pluginv1.RegisterOperationsServer(s, &server{handler: handler})
}

type server struct {
	pluginv1.UnimplementedOperationsServer
	handler func() (Handler, error)
}

func (s *server) Invoke(
	ctx context.Context,
	r *pluginv1.InvokeRequest,
) (*pluginv1.InvokeResponse, error) {
	ctx = caller.FromProto(ctx, r.Caller)
	h, err := s.handler()
	if err != nil {
		return nil, fault.ToStatus(err)
	}
	out, err := h.Invoke(ctx, &Request{
		Module: r.Module,
		RPC:    r.Rpc,
		Path:   r.Path,
		Input:  r.Input,
	})
	if err != nil {
		return nil, fault.ToStatus(err)
	}
	res := &pluginv1.InvokeResponse{}
	if res.Output, err = Encode(r.Module, r.Rpc, out); err != nil {
		return nil, fault.ToStatus(err)
	}
	return res, nil
}

// Encode writes what a Handler returned as the members of the RPC's output; nil
// when there are none.
func Encode(module, rpc string, output any) ([]byte, error) {
	switch v := output.(type) {
	case nil, None:
		return nil, nil
	case json.RawMessage:
		return v, nil
	}
	b, err := json.Marshal(output)
	if err != nil {
		return nil, fault.Wrap(
			fault.Internal,
			err,
			"the output of %s:%s cannot be encoded: %v",
			module,
			rpc,
			err,
		)
	}
	return b, nil
}
