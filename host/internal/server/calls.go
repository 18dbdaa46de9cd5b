package server

import (
	"context"

	"ctl.internal/host/internal/aaa"
	"ctl.internal/host/internal/grant"
	"ctl.internal/host/internal/plugin/hostsvc"
	"ctl.internal/internal/yang"
	"ctl.internal/sdk/caller"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/operations"
)

// invoker executes RPCs: those of the host's own modules here, all others in the
// plugin that serves them. It implements restconf.Invoker.
type invoker struct {
	s    *Server
	host operations.Mux
}

// Invoke implements restconf.Invoker. The input is valid already.
func (i invoker) Invoke(ctx context.Context, module, rpc string, input []byte) ([]byte, error) {
	if h, ok := i.host[module+":"+rpc]; ok {
		out, err := h.Invoke(ctx, &operations.Request{Module: module, RPC: rpc, Input: input})
		if err != nil {
			return nil, err
		}
		return operations.Encode(module, rpc, out)
	}
	return i.s.plugins.Invoke(ctx, module, rpc, input)
}

// pluginCalls are the RPCs that plugins call; it implements hostsvc.Operations.
type pluginCalls struct{ s *Server }

// Call implements hostsvc.Operations. A plugin that acts for a user may do what the
// user could do over HTTP, no more.
func (p pluginCalls) Call(ctx context.Context, plugin, module, rpc string, input []byte) ([]byte, error) {
	now := p.s.catalog.Installed()
	module, rpc, aliases := now.Aliases.Resolve(module, rpc)
	r := now.Schema.RPC(module, rpc)
	if r == nil {
		return nil, fault.New(fault.NotFound, "no installed feature serves the RPC %s:%s", module, rpc)
	}
	if who, ok := caller.From(ctx); ok {
		ctx = aaa.Through(ctx, hostsvc.Served(ctx))
		if err := p.s.aaa.Allows(ctx, who, "POST", "/restconf/operations/"+module+":"+rpc); err != nil {
			return nil, err
		}
	} else {
		if err := p.s.plugins.Permitted(plugin, grant.RPC, module+":"+rpc); err != nil {
			return nil, err
		}
		ctx = caller.With(ctx, caller.Caller{User: plugin, Domain: "plugin"})
	}
	in, err := r.DecodeInput(append(append([]byte(`{"input":`), orEmpty(input)...), '}'), yang.Options{Defaults: true, Aliases: aliases})
	if err != nil {
		return nil, err
	}
	return p.s.invoker.Invoke(ctx, module, rpc, in)
}

func orEmpty(object []byte) []byte {
	if len(object) == 0 {
		return []byte("{}")
	}
	return object
}
