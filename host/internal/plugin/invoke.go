package plugin

import (
	"context"
	"errors"
	"net/http"
	"time"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/plugin/hostsvc"
	"ctl.internal/internal/together"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/caller"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/operations"
	"ctl.internal/sdk/routes"
)

// Invoke executes an RPC of an installed module for the caller in ctx. input and
// output are the members of the RPC's input and output as JSON objects; nil = none.
// Errors are *fault.Error, fault.List or *UnavailableError.
func (m *Manager) Invoke(ctx context.Context, module, rpc string, input []byte) ([]byte, error) {
	op, ok := m.index.Load().rpcs[module+":"+rpc]
	if !ok {
		return nil, fault.New(
			fault.NotFound,
			"no installed feature serves the RPC %s:%s",
			module,
			rpc,
		)
	}
	return m.call(ctx, op, &operations.Request{
		Module: module,
		RPC:    rpc,
		Input:  input,
	})
}

// InvokeAction executes an action of an installed module, in the plugin that implements the module. It is as Invoke.
func (m *Manager) InvokeAction(ctx context.Context, r *operations.Request) ([]byte, error) {
	s := m.index.Load().modules[r.Module]
	if s == nil {
		return nil, fault.New(fault.NotFound, "no installed feature serves the action %s", r.Name())
	}
	return m.call(ctx, operation{s: s}, r)
}

func (m *Manager) call(ctx context.Context, op operation, r *operations.Request) ([]byte, error) {
	if op.repeatable {
		ctx = Safe(ctx)
	}
	if _, ok := ctx.Deadline(); !ok {
		limit := op.timeout
		if limit <= 0 {
			limit = m.limits.CallTimeout
		}
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	ctx, err := m.withMinRevision(ctx)
	if err != nil {
		return nil, err
	}
	return operations.NewClient(conn{s: op.s}).Call(ctx, r)
}

// Check asks the plugin that owns a tree, or whose trees are made of it, about a change that
// was worked out at a revision. The transaction and the edits are what belongs to the change.
func (m *Manager) Check(
	ctx context.Context,
	name string,
	at datastore.Revision,
	changes []*pluginv1.DocumentChange,
) (t datastore.Txn, edits []hostsvc.TreeEdit, err error) {
	s, err := m.findSupervisor(name)
	if err != nil {
		return t, nil, err
	}
	req := &pluginv1.CheckRequest{
		Revision: uint64(at),
		Changes:  changes,
		Caller:   caller.ToProto(ctx),
	}
	res, err := pluginv1.NewTreesClient(conn{s: s}).Check(Safe(ctx), req)
	if err != nil {
		return t, nil, fault.FromStatus(err)
	}
	return s.services.Decided(res.Compares, res.Ops)
}

// ServeRoute forwards a request to the plugin that serves its path. The caller is in
// the request's context. GET and HEAD survive a crash of the plugin as long as
// nothing was answered; begun reports whether something was, so that the caller can
// still answer the error.
func (m *Manager) ServeRoute(
	w http.ResponseWriter,
	r *http.Request,
	plugin string,
) (begun bool, err error) {
	s, err := m.findSupervisor(plugin)
	if err != nil {
		return false, err
	}
	bodyless := r.Body == nil || r.Body == http.NoBody || r.ContentLength == 0
	if bodyless && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
		r = r.WithContext(Safe(r.Context()))
	}
	c := routes.NewClient(conn{s: s, fresh: true})
	begun, err = c.Forward(w, r)
	var down interface{ RetryAfter() time.Duration }
	if !begun &&
		IsSafe(r.Context()) &&
		errors.As(err, &down) &&
		s.waitToRepeat(r.Context(), down.RetryAfter()) {
		s.stats.repeated.Add(1)
		begun, err = c.Forward(w, r)
	}
	return begun, err
}

// waitToRepeat waits until a call may be repeated: for a process of the plugin, or a short time
// for the node that runs it.
func (s *supervisor) waitToRepeat(ctx context.Context, pause time.Duration) bool {
	if !s.standby.Load() {
		return s.awaitInstance(ctx, true) == nil
	}
	return together.Sleep(ctx, min(pause, time.Second)) == nil
}
