package server

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"ctl.internal/host/internal/console/declared"
	"ctl.internal/host/internal/feature"
	"ctl.internal/host/internal/present"
	"ctl.internal/internal/yang"
	"ctl.internal/sdk/caller"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
)

// hostScopes are the scopes of the controller's own commands: no plugin declares one in them.
var hostScopes = []string{
	"aaa", "access", "audit", "cluster", "config", "encrypt", "feature", "keystore", "log", "notify", "plugin", "realm", "restconf",
	"shell", "snapshot", "system",
}

// ownsCommand reports whether a command is one of the controller's own.
func (s *Server) ownsCommand(name string) bool {
	scope, _, _ := strings.Cut(name, ":")
	return slices.Contains(hostScopes, scope)
}

// declaredCommands are the commands that RPCs of the controller and of installed plugins declare, the latter as far as features switch
// them on. It implements engine.Source.
func (s *Server) declaredCommands() (out []commands.Command) {
	h := declared.Host{Call: s.callDeclared, Values: s.leafValues}
	for _, m := range s.catalog.Installed().Schema.Modules() {
		for _, c := range declared.Commands(m, h) {
			if m.Source == feature.HostPlugin || s.cliOn(m.Source, c.Name) {
				out = append(out, c)
			}
		}
	}
	return out
}

// callDeclared carries out an RPC for a user of the console, by the same rules as over HTTP. Its input is checked already.
func (s *Server) callDeclared(ctx context.Context, r *yang.RPC, input []byte) ([]byte, error) {
	who, ok := caller.From(ctx)
	if !ok {
		return nil, fault.New(fault.Denied, "nobody is known who calls %s:%s", r.Module, r.Name)
	}
	path := "/rests/operations/" + r.Module + ":" + r.Name
	if err := s.aaa.Allows(ctx, who, http.MethodPost, path); err != nil {
		return nil, err
	}
	if !r.Paged() {
		output, err := s.invoker.Invoke(ctx, r.Module, r.Name, input)
		if err != nil {
			return nil, err
		}
		return r.AppendOutput(nil, output, yang.Canonical)
	}
	return s.callPages(ctx, r, input)
}

// callPages puts the pages of an output together, up to callBytes.
func (s *Server) callPages(ctx context.Context, r *yang.RPC, input []byte) ([]byte, error) {
	pages, err := r.NewPages(input, yang.Canonical, false)
	if err != nil {
		return nil, err
	}
	var all []byte
	for more := true; more; {
		in, err := pages.Input()
		if err != nil {
			return nil, err
		}
		output, err := s.invoker.Invoke(ctx, r.Module, r.Name, in)
		if err != nil {
			return nil, err
		}
		var text []byte
		if text, more, err = pages.Page(output); err != nil {
			return nil, err
		}
		if all = append(all, text...); len(all) > callBytes {
			return nil, fault.New(fault.TooBig, "the output has more than %d bytes: give a limit", callBytes)
		}
	}
	return all, nil
}

// The bounds of what the values of a leaf are read from: the first entries of the outermost list that it is in, and the bytes of
// the answer. The time is that of the completion.
const (
	maxSuggestedEntries = 1000
	maxSuggestedBytes   = 4 << 20
)

// leafValues are the values of a leaf of the data trees that a user of the console may read.
func (s *Server) leafValues(ctx context.Context, leaf *yang.Node) []string {
	top, target := leafAddress(leaf)
	who, _ := caller.From(ctx)
	text, err := s.callTrees(ctx, who, http.MethodGet, target, http.NoBody, maxSuggestedBytes)
	if err != nil {
		return nil
	}
	document, err := present.Read(text)
	if err != nil {
		return nil
	}
	return present.Values(top, leaf, document)
}

// leafAddress is where the values of a leaf are read: nothing but the leaf, of a page of the outermost list that it is in. top is
// the node that the address names.
func leafAddress(leaf *yang.Node) (top *yang.Node, target string) {
	steps := []*yang.Node{leaf}
	for n := leaf.DataParent(); n != nil && n.Kind != yang.Root; n = n.DataParent() {
		steps = append(steps, n)
	}
	slices.Reverse(steps)
	target = "/rests/data"
	for i, n := range steps {
		target += "/" + n.QName()
		if n.Kind != yang.List {
			continue
		}
		target += "?limit=" + strconv.Itoa(maxSuggestedEntries)
		var below []string
		for _, inner := range steps[i+1:] {
			below = append(below, inner.QName())
		}
		return n, target + "&fields=" + strings.Join(below, "/")
	}
	return leaf, target
}
