package server

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"ctl.internal/host/internal/aaa"
	"ctl.internal/host/internal/aaa/reqpath"
	"ctl.internal/host/internal/aaa/right"
	"ctl.internal/host/internal/address"
	"ctl.internal/internal/yang"
	"ctl.internal/sdk/fault"
)

// actsOn implements aaa.Options.ActsOn.
func (s *Server) actsOn(p reqpath.Path) bool {
	r := s.operationAt(p)
	return r != nil && r.Annotations.ActsOn != ""
}

func (s *Server) operationAt(p reqpath.Path) *yang.RPC {
	if s.catalog == nil {
		return nil
	}
	now := s.catalog.Installed()
	at := address.Parse(now, p)
	if at.Kind != address.Operation || at.Module == "" {
		return nil
	}
	return now.Schema.RPC(at.Module, at.Node)
}

// touchedAt implements aaa.Options.Touched.
func (s *Server) touchedAt(ctx context.Context, p reqpath.Path, input []byte) ([]right.Resource, error) {
	r := s.operationAt(p)
	if r == nil || r.Annotations.ActsOn == "" {
		return nil, fault.New(fault.NotFound, "%s is no operation that says what it acts on", p.Canonical())
	}
	checked, err := r.DecodeInput([]byte(`{"input":`+string(input)+"}"), yang.Options{Defaults: true})
	if err != nil {
		return nil, err
	}
	return s.touchedBy(ctx, r, checked)
}

// touchedBy asks the plugin of an operation what a call would act on.
func (s *Server) touchedBy(ctx context.Context, r *yang.RPC, input []byte) ([]right.Resource, error) {
	all, err := s.askTouches(ctx, r.Annotations.ActsOn, map[string]any{
		"operation": r.Module + ":" + r.Name,
		"input":     string(input),
	})
	if err != nil {
		return nil, fault.Wrap(
			fault.Denied,
			err,
			"it is not known what %s:%s would act on, so rights by port do not permit it: %v",
			r.Module,
			r.Name,
			err,
		)
	}
	return resourcesOf(all), nil
}

// named is a resource with the name of its port.
type named struct {
	right.Resource
	name string
}

func resourcesOf(all []named) []right.Resource {
	out := make([]right.Resource, len(all))
	for i, one := range all {
		out[i] = one.Resource
	}
	return out
}

// askTouches calls the operation that says what others act on.
func (s *Server) askTouches(ctx context.Context, operation string, input map[string]any) ([]named, error) {
	module, rpc, _ := strings.Cut(operation, ":")
	if s.catalog.Installed().Schema.RPC(module, rpc) == nil {
		return nil, fault.New(fault.Unavailable, "%s is not there", operation)
	}
	text, err := json.Marshal(input)
	if err != nil {
		return nil, err
	}
	output, err := s.plugins.Invoke(ctx, module, rpc, text)
	if err != nil {
		return nil, err
	}
	var answer struct {
		Entries []struct {
			Node string `json:"node-id"`
			Port uint32 `json:"port"`
			Name string `json:"port-name"`
			VLAN uint32 `json:"vlan-id"`
		} `json:"entry"`
	}
	if err := json.Unmarshal(output, &answer); err != nil {
		return nil, fault.Wrap(fault.Internal, err, "the answer of %s cannot be read: %v", operation, err)
	}
	all := make([]named, 0, len(answer.Entries))
	for _, e := range answer.Entries {
		all = append(all, named{right.Resource{Node: e.Node, Port: e.Port, VLAN: e.VLAN}, e.Name})
	}
	return all, nil
}

// findPorts implements aaa.Options.Ports: it asks whoever knows switches, one after the other.
func (s *Server) findPorts(ctx context.Context, node string, ports []string) ([]right.Resource, error) {
	asked := map[string]bool{}
	for _, m := range s.catalog.Installed().Schema.Modules() {
		for _, r := range m.RPCs {
			if r.Annotations.ActsOn != "" {
				asked[r.Annotations.ActsOn] = true
			}
		}
	}
	all := []error{}
	for _, operation := range slices.Sorted(maps.Keys(asked)) {
		found, err := s.portsOf(ctx, operation, node, ports)
		if err == nil && len(ports) == 0 {
			found = found[:min(len(found), 1)] // the switch itself
		}
		if err == nil {
			return resourcesOf(found), nil
		}
		all = append(all, err)
	}
	if len(all) == 0 {
		return nil, fault.New(fault.Unavailable, "no plugin that is installed knows switches: install its feature first")
	}
	return nil, fault.Wrap(fault.KindOf(all[0]), all[0], "%v", errors.Join(all...))
}

func (s *Server) portsOf(ctx context.Context, operation, node string, ports []string) ([]named, error) {
	input := map[string]any{yang.KindSwitch: node}
	if len(ports) > 0 {
		input[yang.KindPort] = ports
	}
	return s.askTouches(ctx, operation, input)
}

// storeRight implements aaa.Options.StoreRight.
func (s *Server) storeRight(ctx context.Context, path string, value json.RawMessage) error {
	return s.restconf.Config().Set(ctx, s.catalog.Installed().Schema, "/"+aaa.RightsNode+path, value)
}

// scopeOf are the rights by port of the caller of ctx; nil = none confines the caller.
func (s *Server) scopeOf(ctx context.Context) (*aaa.Scope, error) {
	if s.aaa == nil {
		return nil, nil
	}
	return s.aaa.ScopeOf(ctx)
}

// invokeWithin carries out an operation for somebody who has rights by port: it acts on nothing, and its output shows nothing, that
// is in none of the caller's sets.
func (s *Server) invokeWithin(
	ctx context.Context,
	scope *aaa.Scope,
	module, rpc string,
	input []byte,
	call func(context.Context) ([]byte, error),
) ([]byte, error) {
	r := s.catalog.Installed().Schema.RPC(module, rpc)
	if r == nil || r.Annotations.ActsOn == "" {
		return nil, fault.New(fault.Denied, "%s:%s does not say what switch, port or VLAN it acts on, so rights by port do not permit it", module, rpc)
	}
	all, err := s.touchedBy(ctx, r, input)
	if err != nil {
		return nil, err
	}
	reads := s.readsOnly(module, rpc)
	if !reads && len(all) == 0 {
		return nil, fault.New(fault.Denied, "%s:%s names no switch, port or VLAN that it acts on, so rights by port do not permit it", module, rpc)
	}
	if err := scope.Check(all, !reads); err != nil {
		return nil, err
	}
	output, err := call(aaa.WithinRights(ctx))
	if err != nil || !reads {
		return output, err
	}
	object, err := decodeObject(output)
	if err != nil {
		return nil, err
	}
	p := &rowPruner{
		scope: scope,
		ports: func(node string) ([]named, error) {
			return s.portsOf(ctx, r.Annotations.ActsOn, node, nil)
		},
		names: map[string]map[string][]uint32{},
	}
	p.pruneTop(r.Output, object, all)
	return json.Marshal(object)
}

// rowPruner leaves out of an output what its reader may not see.
type rowPruner struct {
	scope *aaa.Scope
	ports func(node string) ([]named, error)
	names map[string]map[string][]uint32 // numbers of ports, by node-id and name
}

// pruneTop prunes an output. What it says of no row in particular is of the switch that the input names.
func (p *rowPruner) pruneTop(at *yang.Node, object map[string]any, input []right.Resource) {
	var top right.Resource
	if len(input) > 0 {
		top.Node = input[0].Node
	}
	top, _ = resourceIn(at, object, top)
	p.pruneMembers(at, object, top)
	if p.scope.Sees(top) {
		return
	}
	for _, n := range at.Members() {
		if n.Kind != yang.List {
			delete(object, n.Name)
			delete(object, n.QName())
		}
	}
}

// resourceIn is a resource with what an object's own leaves say; marked is false if none of them is marked.
func resourceIn(at *yang.Node, object map[string]any, of right.Resource) (_ right.Resource, marked bool) {
	for _, n := range at.Members() {
		text, scalar := scalarText(memberOf(object, n))
		if !scalar || n.Annotations == nil {
			continue
		}
		number, err := strconv.ParseUint(text, 10, 32)
		switch n.Annotations.Resource {
		case yang.KindSwitch:
			of.Node = text
		case yang.KindPort:
			of.Port = uint32(number)
		case yang.KindVLAN:
			of.VLAN = uint32(number)
		default:
			continue
		}
		marked = true
		if err != nil && n.Annotations.Resource != yang.KindSwitch {
			of.Node = "" // what is no number is in no set
		}
	}
	return of, marked
}

func memberOf(object map[string]any, n *yang.Node) any {
	if v, ok := object[n.Name]; ok {
		return v
	}
	return object[n.QName()]
}

// pruneMembers prunes what is in an object. What is not in the schema is left out.
func (p *rowPruner) pruneMembers(at *yang.Node, object map[string]any, of right.Resource) {
	known := map[string]*yang.Node{}
	for _, n := range at.Members() {
		known[n.Name], known[n.QName()] = n, n
	}
	for name, value := range object {
		n := known[name]
		if n == nil {
			delete(object, name)
			continue
		}
		switch v := value.(type) {
		case map[string]any:
			one, _ := resourceIn(n, v, of)
			p.pruneMembers(n, v, one)
			if !p.scope.Sees(one) {
				delete(object, name)
			}
		case []any:
			object[name] = slices.DeleteFunc(v, func(row any) bool { return !p.keeps(n, row, of) })
		}
	}
}

// keeps reports whether an element of a list or leaf-list is shown, and prunes it.
func (p *rowPruner) keeps(n *yang.Node, row any, of right.Resource) bool {
	if object, ok := row.(map[string]any); ok {
		one, marked := resourceIn(n, object, of)
		p.pruneMembers(n, object, one)
		return marked && p.scope.Sees(one)
	}
	if n.Annotations == nil || n.Annotations.Resource == "" {
		return true // of an object that is shown
	}
	text, _ := scalarText(row)
	number, err := strconv.ParseUint(text, 10, 32)
	switch n.Annotations.Resource {
	case yang.KindPortName:
		return p.seesPort(text, of)
	case yang.KindPort:
		of.Port = uint32(number)
	case yang.KindVLAN:
		of.VLAN = uint32(number)
	case yang.KindSwitch:
		of.Node, err = text, nil
	}
	return err == nil && p.scope.Sees(of)
}

// seesPort reports whether all ports of a switch that have a name may be seen.
func (p *rowPruner) seesPort(name string, of right.Resource) bool {
	byName, ok := p.names[of.Node]
	if !ok {
		byName = map[string][]uint32{}
		all, err := p.ports(of.Node)
		for _, one := range all {
			if err == nil && one.Port != 0 {
				byName[one.name] = append(byName[one.name], one.Port)
			}
		}
		p.names[of.Node] = byName
	}
	return len(byName[name]) > 0 && !slices.ContainsFunc(byName[name], func(n uint32) bool {
		of.Port = n
		return !p.scope.Sees(of)
	})
}
