package restconf

import (
	"bytes"
	"context"
	"net/http"
	"strings"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/restconf/tree"
	"ctl.internal/internal/nearest"
	"ctl.internal/internal/yang"
	"ctl.internal/sdk/fault"
)

// serveOperations serves …/operations and …/operations/module:rpc.
func (x *exchange) serveOperations() error {
	name := x.shiftSegment()
	switch {
	case len(x.path) > 0:
		return x.notFound()
	case name == "":
		return x.serveReadOnly(x.listOperations)
	}
	return x.callOperation(name)
}

// listOperations answers every rpc that may be called (RFC 8040 section 3.3.2).
func (x *exchange) listOperations() error {
	now := x.installed()
	ops := map[string][]any{}
	if own, err := ownSchema(); err == nil {
		for _, m := range own.Modules() {
			for _, r := range m.RPCs {
				ops[m.Name+":"+r.Name] = []any{nil}
			}
		}
	}
	for _, m := range now.Schema.Modules() {
		for _, r := range m.RPCs {
			if now.IsServed(m.Name) {
				ops[m.Name+":"+r.Name] = []any{nil}
			}
		}
	}
	return x.replyValue(map[string]any{x.env.qualifyName("operations"): ops})
}

// callOperation calls one rpc.
func (x *exchange) callOperation(name string) error {
	now := x.installed()
	module, rpc, ok := strings.Cut(name, ":")
	var aliases *yang.Aliases
	if ok {
		module, rpc, aliases = now.Aliases.Resolve(module, rpc)
	}
	r := now.Schema.RPC(module, rpc)
	invoke := func(input []byte) ([]byte, error) {
		return x.o.Invoker.Invoke(x.r.Context(), module, rpc, input)
	}
	if own, err := ownSchema(); err == nil && r == nil && own.RPC(module, rpc) != nil {
		r, invoke = own.RPC(module, rpc), x.callOwn(rpc)
	}
	if r == nil || !now.IsServed(module) {
		return fault.New(fault.NotFound, "there is no operation %.100q%s", name, x.suggestRPC(name))
	}
	if err := x.checkMethod("POST, OPTIONS"); err != nil {
		return err
	}
	if err := x.callable(r); err != nil {
		return err
	}
	_, body, err := x.readRequest()
	if err != nil {
		return err
	}
	o := x.bodyOptions()
	o.Defaults = true
	o.Aliases = aliases
	o.XML = x.inXML
	o.Tops = x.readTopData
	return x.call(r, body, o, invoke)
}

// call checks the input of an operation, invokes it and answers its output.
func (x *exchange) call(
	r *yang.RPC,
	body []byte,
	o yang.Options,
	invoke func(input []byte) ([]byte, error),
) error {
	input, err := r.DecodeInput(body, o)
	if err != nil {
		return err
	}
	if r.Paged() {
		return x.answerPages(r, input, invoke)
	}
	output, err := invoke(input)
	if err != nil {
		return applicationError{err}
	}
	if r.Output.HasConstraints() {
		if err := r.CheckOutput(output, o.At, x.readTopData()); err != nil {
			return x.outputMismatchError(r, err)
		}
	}
	return x.answerOutput(r, output)
}

// outputMismatchError says why an output cannot be answered: what is wrong with it is the plugin's business and in the log.
func (x *exchange) outputMismatchError(r *yang.RPC, err error) error {
	x.o.Log.WarnContext(
		x.r.Context(),
		"restconf: the output of an rpc does not match its schema",
		"module",
		r.Module,
		"rpc",
		r.Name,
		"error",
		err,
	)
	if fault.KindOf(err) == fault.TooBig {
		return applicationError{fault.New(
			fault.TooBig,
			"the output of %s:%s is too large: %v; request less data",
			r.Module,
			r.Name,
			err,
		)}
	}
	return applicationError{fault.New(
		fault.Internal,
		"the output of %s:%s does not match its schema; the log of ctld has the reason",
		r.Module,
		r.Name,
	)}
}

// suggestRPC suggests an rpc for an unknown name.
func (x *exchange) suggestRPC(name string) string {
	now := x.installed()
	var known []string
	for _, m := range now.Schema.Modules() {
		for _, r := range m.RPCs {
			if now.IsServed(m.Name) {
				known = append(known, m.Name+":"+r.Name)
			}
		}
	}
	return nearest.Hint(name, known)
}

// answerOutput answers a call that succeeded.
func (x *exchange) answerOutput(r *yang.RPC, output []byte) error {
	if len(r.Output.Members()) == 0 {
		if x.env == rfc8040 {
			x.w.WriteHeader(http.StatusNoContent)
			return nil
		}
		x.w.Header().Set("Content-Length", "0")
		x.w.WriteHeader(http.StatusOK)
		return nil
	}
	if len(bytes.TrimSpace(output)) == 0 {
		output = []byte("{}")
	}
	before, after := x.outputName(r)
	text := append(make([]byte, 0, len(before)+len(output)+len(output)/4+len(after)), before...)
	var err error
	if x.xml {
		text, err = r.AppendOutputXML(text, output)
	} else {
		text, err = r.AppendOutput(text, output, x.env.style)
	}
	if err != nil {
		if err = x.outputMismatchError(r, err); text == nil {
			return err
		}
	}
	return x.replyBody(append(text, after...))
}

// readTopData is the configuration and state that the conditions of an operation may look at; nil if they cannot be read.
func (x *exchange) readTopData() *yang.Data {
	at, err := x.everything(x.r.Context(), x.installed().Schema)
	if err != nil {
		x.o.Log.WarnContext(
			x.r.Context(),
			"restconf: the conditions of an operation cannot be checked",
			"error",
			err,
		)
		return nil
	}
	return at
}

// everything is the configuration and the observed state, with the defaults in use.
func (h *Handler) everything(ctx context.Context, set *yang.Set) (*yang.Data, error) {
	at := yang.NewData(set.Root, false)
	err := datastore.Read(ctx, h.o.Store, func(sn datastore.Snapshot) error {
		for _, ns := range []string{tree.ConfigNamespace, tree.OperationalNamespace} {
			one, err := tree.NewDraft(sn, ns, set).Load(nil)
			if err != nil {
				return err
			}
			if one != nil {
				at.Merge(one)
			}
		}
		return nil
	})
	at.AddDefaults(yang.Default, nil)
	return at, err
}
