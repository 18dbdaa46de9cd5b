package operations

import (
	"context"
	"errors"
	"strings"
	"time"

	"ctl.internal/plugins/switch/driver"
	"ctl.internal/plugins/switch/inventory"
	"ctl.internal/plugins/switch/survey"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/operations"
)

// Handlers are what the RPCs need.
type Handlers struct {
	Inventory *inventory.Inventory
	Drivers   *driver.Chooser
	Survey    *survey.Surveyor
	// SaveInterval keeps the discovery interval over a restart; nil = not kept.
	SaveInterval func(context.Context, time.Duration) error
}

// Mux returns the RPCs by "module:rpc".
func (h *Handlers) Mux() operations.Mux {
	m := operations.Mux{}
	add(m, "topology:get-edge-list", h.getEdgeList)
	add(m, "topology:get-node-list", h.getNodeList)
	add(m, "topology:get-node-connector-list", h.getNodeConnectorList)
	add(m, "topology:rediscover", h.rediscover)
	add(m, "topology:set-discovery-interval", h.setDiscoveryInterval)
	add(m, "fdb:get-fdb-table", h.getFDBTable)
	add(m, "fdb:get-fdb-entry", h.getFDBEntry)
	add(m, "fdb:set-fdb-entry", h.setFDBEntry)
	add(m, "fdb:del-fdb-entry", h.delFDBEntry)
	add(m, "vlan:get-vlan-table", h.getVLANTable)
	add(m, "vlan:add-vlan", h.addVLAN)
	add(m, "vlan:delete-vlan", h.deleteVLAN)
	add(m, "vlan:add-vlan-and-set-ports", h.addVLANAndSetPorts)
	add(m, "vlan:set-vlan-ports", h.setVLANPorts)
	return m
}

// deadline bounds a call that came without one.
const deadline = 60 * time.Second

// add registers a typed function. Paths of its faults are below the RPC's input,
// in the form the host gives them.
func add[In, Out any](m operations.Mux, name string, f func(context.Context, In) (Out, error)) {
	inner := operations.Func(f)
	module, _, _ := strings.Cut(name, ":")
	m[name] = operations.HandlerFunc(func(ctx context.Context, r *operations.Request) (any, error) {
		if _, ok := ctx.Deadline(); !ok {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, deadline)
			defer cancel()
		}
		out, err := inner.Invoke(ctx, r)
		if err != nil {
			return nil, below("/"+module+":input", err)
		}
		return out, nil
	})
}

// below puts the paths of faults under base.
func below(base string, err error) error {
	if l := fault.List(nil); errors.As(err, &l) {
		for i, e := range l {
			l[i] = under(base, e)
		}
		return l.Err()
	}
	if e := (*fault.Error)(nil); errors.As(err, &e) {
		return under(base, e)
	}
	return err
}

func under(base string, e *fault.Error) *fault.Error {
	if e.Path == "" || strings.HasPrefix(e.Path, "/") {
		return e
	}
	moved := *e
	moved.Path = base + "/" + e.Path
	return &moved
}

// success is the value of every result leaf: failures are errors.
const success = "SUCCESS"
