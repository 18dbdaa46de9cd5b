package restconf

import (
	"net/http"

	"ctl.internal/host/internal/restconf/tree"
	"ctl.internal/internal/yang"
	"ctl.internal/sdk/fault"
)

// What a module denies by default (RFC 8341, nacm:default-deny-all and nacm:default-deny-write) is open to those alone for
// whom Options.Opens says so. Access control has permitted the request itself by then.

// opens reports whether the caller may use a node or operation that is denied by default, at a path. A stream of changes is
// one for all its readers, so nothing is opened in it.
func (x *exchange) opens(method, path, module, name string) bool {
	if x.r == nil {
		return false
	}
	return x.o.Opens == nil || x.o.Opens(x.r.Context(), method, path, module, name)
}

// callable refuses an operation that is denied by default.
func (x *exchange) callable(r *yang.RPC) error {
	if !r.Annotations.DenyAll ||
		x.opens(
			http.MethodPost,
			rfc8040.root+"/operations/"+r.Module+":"+r.Name,
			r.Module,
			r.Name,
		) {
		return nil
	}
	return fault.New(
		fault.Denied,
		"the module %s denies the operation %s to all but administrators and whom a rule names it for",
		r.Module,
		r.Name,
	)
}

// closed reports whether a node is denied by default to the caller, for a read or for a write.
func (x *exchange) closed(n *yang.Node, at string, write bool) bool {
	a := n.Annotations
	if a == nil || !a.DenyAll && !(write && a.DenyWrite) {
		return false
	}
	method := http.MethodGet
	if write {
		method = x.r.Method
	}
	return !x.opens(method, rfc8040.root+"/data"+at, n.Module, n.Name)
}

// reachable refuses a path that leads to, or through, what is denied by default.
func (x *exchange) reachable(p tree.Path, write bool) error {
	for i, step := range p {
		if x.closed(step.Node, p[:i+1].Key(), write) {
			return fault.At(
				fault.Denied,
				p.String(),
				"the module %s denies %s to all but administrators and whom a rule names it for",
				step.Node.Module,
				step.Node.Name,
			)
		}
	}
	return nil
}

// hideDenied takes out of an instance at a path what is denied by default.
func (x *exchange) hideDenied(p tree.Path, at *yang.Data) {
	if at == nil || at.Node == nil || !at.Node.Denies() || at.Node.Kind == yang.AnyData {
		return
	}
	whole := at.IsArray()
	for c := range at.All() {
		if c.Node == nil {
			continue
		}
		below := append(p[:len(p):len(p)], tree.Step{Node: c.Node})
		if whole {
			below = p
		} else if x.closed(c.Node, below.Key(), false) {
			c.Remove()
			continue
		}
		x.hideDenied(below, c)
	}
}

// apply makes an edit, unless it writes what is denied by default.
func (x *exchange) apply(d *tree.Draft, e tree.Edit) (created bool, err error) {
	if err := x.reachable(e.Path, true); err != nil {
		return false, err
	}
	n := e.Path.Node()
	if n == nil {
		n = x.installed().Schema.Root
	}
	if !n.Denies() {
		return d.Apply(e)
	}
	if e.Value != nil {
		err = x.writable(e.Path, e.Value)
	}
	removes := e.Op == tree.Replace || e.Op == tree.Delete || e.Op == tree.Remove
	if err == nil && removes {
		var stored *yang.Data
		if stored, err = d.Load(e.Path); err == nil && stored != nil {
			err = x.writable(e.Path, stored)
		}
	}
	if err != nil {
		return false, err
	}
	return d.Apply(e)
}

// writable refuses an instance at a path that has something in it which is denied by default.
func (x *exchange) writable(p tree.Path, at *yang.Data) error {
	if at.Node == nil || !at.Node.Denies() || at.Node.Kind == yang.AnyData {
		return nil
	}
	for c := range at.All() {
		if c.Node == nil {
			continue
		}
		below := p
		if !at.IsArray() {
			below = append(p[:len(p):len(p)], tree.Step{Node: c.Node})
		}
		if x.closed(c.Node, below.Key(), true) {
			return x.reachable(below, true)
		}
		if err := x.writable(below, c); err != nil {
			return err
		}
	}
	return nil
}
