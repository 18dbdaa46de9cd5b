package restconf

import (
	"ctl.internal/host/internal/restconf/tree"
	"ctl.internal/internal/yang"
	"ctl.internal/sdk/operations"
)

// action is the action that the rest of the path names, with the instance that it is bound to; nil if it names none.
// Actions are invoked on the operational state (RFC 8527 section 3.1), so neither below config nor in another datastore.
func (x *exchange) action(kind string) (tree.Path, *yang.RPC) {
	if kind == "config" || x.own || x.ds != "" && x.ds != "operational" {
		return nil, nil
	}
	now := x.installed()
	p, r := tree.ParseAction(now.Schema, x.path, now.Aliases.Module)
	if r == nil || !now.IsServed(p[0].Node.Module) || !now.IsServed(r.Module) {
		return nil, nil
	}
	return p, r
}

// invokeAction invokes an action on the instance at p (RFC 8040 section 3.6).
func (x *exchange) invokeAction(p tree.Path, r *yang.RPC) error {
	if err := x.checkMethod("POST, OPTIONS"); err != nil {
		return err
	}
	_, body, err := x.readRequest()
	if err != nil {
		return err
	}
	if err := x.reachable(p, false); err != nil { // who may not read the instance may not act on it (RFC 8341 section 3.1.3)
		return err
	}
	there, err := x.exists(p)
	if err != nil {
		return err
	}
	if !there {
		return missingDataError(p)
	}
	o := x.bodyOptions()
	o.Defaults = true
	o.XML = x.inXML
	o.At = append(p[:len(p):len(p)], tree.Step{}).Skeleton()
	if r.Input.HasConstraints() || r.Output.HasConstraints() {
		tops := x.readTopData()
		o.Tops = func() *yang.Data { return tops }
		if at := tree.Descend(tops, p); at != nil {
			o.At = at
		}
	}
	return x.call(r, body, o, func(input []byte) ([]byte, error) {
		request := &operations.Request{
			Module: r.Module,
			RPC:    r.Name,
			Path:   p.Key(),
			Input:  input,
		}
		return x.o.Invoker.InvokeAction(x.r.Context(), request)
	})
}

// exists reports whether the configuration or the observed state has an instance at a path. A container without presence
// is there where its parent is (RFC 7950 section 7.5.1).
func (x *exchange) exists(p tree.Path) (bool, error) {
	for ; len(p) > 0; p = p[:len(p)-1] {
		found, err := x.readInstance("data", "all", p)
		if err != nil || found.stored != nil || found.at != nil {
			return true, err
		}
		n := p.Node()
		if n.Kind != yang.Container || n.Presence {
			return false, nil
		}
	}
	return true, nil
}
