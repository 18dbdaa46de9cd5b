package server

import (
	"context"
	"encoding/json"
	"net/url"

	"ctl.internal/host/internal/aaa"
	"ctl.internal/host/internal/aaa/reqpath"
	"ctl.internal/host/internal/address"
	"ctl.internal/host/internal/restconf/tree"
	"ctl.internal/internal/yang"
)

// canonicalPath implements aaa.Options.Canonical.
func (s *Server) canonicalPath(p reqpath.Path) (canonical reqpath.Path, readOnly bool) {
	if s.catalog == nil {
		return p, false
	}
	now := s.catalog.Installed()
	if at := address.Parse(now, p); at.Kind == address.Operation && at.Module != "" {
		one, err := reqpath.ParseString(operationPath(at.Module, at.Node))
		if err != nil {
			return p, false
		}
		return one, s.readsOnly(at.Module, at.Node)
	}
	depth := p.DataDepth()
	if depth == 0 {
		return p, false
	}
	below := p.Segments()[depth:]
	if path, err := tree.Parse(now.Schema, below, now.Aliases.Module); err == nil && len(path) > 0 {
		if one, err := reqpath.ParseString(dataAddress(path)); err == nil {
			return one, false
		}
	}
	root, err := reqpath.ParseString("/rests/data")
	if err != nil {
		return p, false
	}
	return reqpath.Of(root.Segments(), below), false
}

// permitsInput asks the roles that confine for what the input of an operation names.
func (s *Server) permitsInput(ctx context.Context, module, rpc string, input []byte) error {
	if s.aaa == nil {
		return nil
	}
	return s.aaa.PermitsInput(ctx, operationPath(module, rpc), func() []string {
		return s.namedBy(module, rpc, input)
	})
}

// namedBy are the texts of an operation's input that name what it acts on: those of the leaves that are marked as a resource.
func (s *Server) namedBy(module, rpc string, input []byte) (names []string) {
	r := s.catalog.Installed().Schema.RPC(module, rpc)
	if r == nil {
		return nil
	}
	object, err := decodeObject(input)
	if err != nil {
		return nil
	}
	return appendNamed(nil, r.Input, object)
}

func appendNamed(names []string, at *yang.Node, object map[string]any) []string {
	for _, n := range at.Members() {
		value, ok := object[n.Name]
		if !ok {
			value = object[n.QName()]
		}
		marked := n.Annotations != nil && n.Annotations.Resource != ""
		for _, one := range asList(value) {
			switch v := one.(type) {
			case map[string]any:
				names = appendNamed(names, n, v)
			case string:
				if marked {
					names = append(names, v)
				}
			case json.Number:
				if marked {
					names = append(names, v.String())
				}
			}
		}
	}
	return names
}

// asList is an array, or a value as the only element of one.
func asList(value any) []any {
	if list, ok := value.([]any); ok {
		return list
	}
	return []any{value}
}

// storeRole implements aaa.Options.StoreRole.
func (s *Server) storeRole(ctx context.Context, name string, role json.RawMessage) error {
	return s.restconf.Config().Set(
		ctx,
		s.catalog.Installed().Schema,
		"/"+aaa.RolesNode+"/role="+url.PathEscape(name),
		role,
	)
}
