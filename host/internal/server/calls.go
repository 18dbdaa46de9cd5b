package server

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"ctl.internal/host/internal/aaa"
	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/grant"
	"ctl.internal/host/internal/plugin/hostsvc"
	"ctl.internal/host/internal/restconf/tree"
	"ctl.internal/internal/together"
	"ctl.internal/internal/yang"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
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
	if err := i.s.permitsInput(ctx, module, rpc, input); err != nil {
		return nil, err
	}
	scope, err := i.s.scopeOf(ctx)
	if err != nil {
		return nil, err
	}
	if scope != nil {
		return i.s.invokeWithin(ctx, scope, module, rpc, input, func(ctx context.Context) ([]byte, error) {
			return i.invokePermitted(ctx, module, rpc, input)
		})
	}
	return i.invokePermitted(ctx, module, rpc, input)
}

// invokePermitted carries out what the roles and rights of the caller permit for the input.
func (i invoker) invokePermitted(
	ctx context.Context,
	module, rpc string,
	input []byte,
) ([]byte, error) {
	if h, ok := i.host[module+":"+rpc]; ok {
		out, err := h.Invoke(ctx, &operations.Request{
			Module: module,
			RPC:    rpc,
			Input:  input,
		})
		if err != nil {
			return nil, err
		}
		return operations.Encode(module, rpc, out)
	}
	d := i.s.disclosureTo(ctx, module)
	if d == nil {
		return i.s.plugins.Invoke(ctx, module, rpc, input)
	}
	names, err := d.refuseInput(input)
	if err != nil {
		return nil, err
	}
	output, err := i.s.plugins.Invoke(ctx, module, rpc, input)
	if err != nil {
		return nil, err
	}
	return d.pruneOutput(output, names)
}

// InvokeAction implements restconf.Invoker. The controller's own modules have no actions.
func (i invoker) InvokeAction(ctx context.Context, r *operations.Request) ([]byte, error) {
	return i.s.plugins.InvokeAction(ctx, r)
}

// pluginCalls are the RPCs that plugins call; it implements hostsvc.Operations.
type pluginCalls struct{ s *Server }

// Call implements hostsvc.Operations. A plugin that acts for a user may do what the
// user could do over HTTP, no more.
func (p pluginCalls) Call(
	ctx context.Context,
	plugin, module, rpc string,
	input []byte,
) (output []byte, err error) {
	now := p.s.catalog.Installed()
	module, rpc, aliases := now.Aliases.Resolve(module, rpc)
	defer func() { p.s.calledByPlugin(ctx, plugin, module, rpc, err) }()
	r := now.Schema.RPC(module, rpc)
	if r == nil {
		return nil, fault.New(
			fault.NotFound,
			"no installed feature serves the RPC %s:%s",
			module,
			rpc,
		)
	}
	if who, ok := caller.From(ctx); ok {
		ctx = aaa.Through(ctx, hostsvc.Served(ctx))
		err := p.s.aaa.Allows(ctx, who, "POST", "/restconf/operations/"+module+":"+rpc)
		if err != nil {
			return nil, err
		}
	} else {
		if err := p.s.plugins.Permitted(plugin, grant.RPC, module+":"+rpc); err != nil {
			return nil, err
		}
		ctx = aaa.AsPlugin(ctx, plugin)
	}
	body := `{"input":` + cmp.Or(string(input), "{}") + "}"
	in, err := r.DecodeInput([]byte(body), yang.Options{
		Defaults: true,
		Aliases:  aliases,
	})
	if err != nil {
		return nil, err
	}
	return p.s.invoker.Invoke(ctx, module, rpc, in)
}

// trees makes documents of what plugins write into YANG trees; it implements
// hostsvc.Trees.
type trees struct{ s *Server }

func (x trees) Draft(ctx context.Context, edits []hostsvc.TreeEdit, t *datastore.Txn) error {
	byTree := map[string][]tree.TextEdit{}
	for _, e := range edits {
		byTree[e.Namespace] = append(
			byTree[e.Namespace],
			tree.TextEdit{
				Path:   e.Path,
				Value:  e.Value,
				Delete: e.Delete,
			},
		)
	}
	if err := x.waitForModules(ctx, edits); err != nil {
		return err
	}
	schema := x.s.catalog.Installed().Schema
	_, err := x.s.store.Local(func(sn datastore.Snapshot) error {
		for _, ns := range []string{tree.ConfigNamespace, tree.OperationalNamespace} {
			if len(byTree[ns]) == 0 {
				continue
			}
			d := tree.NewDraft(sn, ns, schema)
			if err := d.ApplyText(byTree[ns]); err != nil {
				return err
			}
			if !d.Changed() {
				continue
			}
			if err := d.Check(); err != nil {
				return err
			}
			one, err := d.Txn(time.Now(), false)
			if err != nil {
				return err
			}
			t.Compares = append(t.Compares, one.Compares...)
			t.Ops = append(t.Ops, one.Ops...)
		}
		return nil
	})
	return err
}

// installTime is how long a plugin that has just started waits for its own modules.
const installTime = 5 * time.Second

// waitForModules waits until the modules of the edits are in the schema: a plugin may write its
// trees as soon as it runs, a little before its modules are served.
func (x trees) waitForModules(ctx context.Context, edits []hostsvc.TreeEdit) error {
	ctx, cancel := context.WithTimeout(ctx, installTime)
	defer cancel()
	for _, e := range edits {
		name := strings.TrimPrefix(e.Path, "/")
		if i := strings.IndexAny(name, "/="); i >= 0 {
			name = name[:i]
		}
		for x.s.catalog.Installed().Schema.Root.Member(name) == nil {
			if together.Sleep(ctx, 20*time.Millisecond) != nil {
				return fault.At(
					fault.Unavailable,
					e.Path,
					"no installed module has the node %s",
					name,
				)
			}
		}
	}
	return nil
}

// ownersOf are who must be asked about changes of a tree: the plugin that owns it, and those
// whose trees are made of it.
func (s *Server) ownersOf(qname string) (all []tree.Owner) {
	named := func(path string) bool { return strings.TrimPrefix(path, "/") == qname }
	for _, m := range s.plugins.Manifests() {
		if !slices.ContainsFunc(m.Owns, named) &&
			!(slices.ContainsFunc(m.Derives, named) && s.mayDerive(m, qname)) {
			continue
		}
		all = append(all, func(ctx context.Context, at datastore.Revision, changes []tree.Change) (d tree.Decision, err error) {
			docs := make([]*pluginv1.DocumentChange, len(changes))
			for i, c := range changes {
				docs[i] = &pluginv1.DocumentChange{
					Key:     c.Key,
					Value:   c.Value,
					Deleted: c.Deleted,
				}
			}
			var edits []hostsvc.TreeEdit
			d.Txn, edits, err = s.plugins.Check(ctx, m.Name, at, docs)
			for _, e := range edits {
				d.Edits = append(
					d.Edits,
					tree.TextEdit{
						Path:   e.Path,
						Value:  e.Value,
						Delete: e.Delete,
					},
				)
			}
			return d, err
		})
	}
	return all
}

// mayDerive reports whether a plugin may see the changes of a tree, as it may read it: the
// tree is of a module that it implements, or an operator granted it.
func (s *Server) mayDerive(m *pluginv1.Manifest, qname string) bool {
	module, _, _ := strings.Cut(qname, ":")
	implements := slices.ContainsFunc(m.YangModules, func(y *pluginv1.YangModule) bool {
		name, _, _ := strings.Cut(y.Name, "@")
		return y.Implemented && name == module
	})
	return implements || s.plugins.Permitted(m.Name, grant.Data, "/"+qname) == nil
}
