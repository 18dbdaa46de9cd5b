package operations

import (
	"context"
	"errors"
	"strings"
	"time"

	"ctl.internal/plugins/switch/driver"
	"ctl.internal/plugins/switch/inventory"
	"ctl.internal/plugins/switch/survey"
	"ctl.internal/plugins/switch/writes"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/operations"
	"ctl.internal/sdk/switchdriver"
)

// Handlers are what the RPCs need.
type Handlers struct {
	Inventory *inventory.Inventory
	Drivers   *driver.Chooser
	Survey    *survey.Surveyor
	// List changes the switch list; nil: it cannot be changed.
	List SwitchList
	// Do has a switch changed by the process that acts on switches; writes.Writer does.
	Do func(context.Context, *switchdriver.Switch, writes.Operation) ([]string, error)
	// Discover asks the switches, there too.
	Discover func(ctx context.Context, scope survey.Scope, progress func(done, total int)) (survey.Summary, error)
	// SaveInterval keeps the discovery interval, which counts for all nodes.
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
	add(m, "acl:create-acl-profile", h.createACLProfile)
	add(m, "acl:del-acl-profile", h.delACLProfile)
	add(m, "acl:set-acl-rule", h.setACLRule)
	add(m, "acl:del-acl-rule", h.delACLRule)
	add(m, "acl:clear-acl-table", h.clearACLTable)
	add(m, "misc-config:set-stp-port-state", h.setSTPPortState)
	add(m, "misc-config:get-stp-port-state", h.getSTPPortState)
	add(m, "misc-config:get-stp-port-root", h.getSTPPortRoot)
	add(m, "misc-config:enable-stp", h.enableSTP)
	add(m, "misc-config:disable-stp", h.disableSTP)
	add(m, "misc-config:get-arp-table", h.getARPTable)
	add(m, "misc-config:get-arp-entry", h.getARPEntry)
	add(m, "misc-config:set-arp-entry", h.setARPEntry)
	add(m, "misc-config:delete-arp-entry", h.deleteARPEntry)
	add(m, "switch-db:reload-db", h.reloadDB)
	add(m, "switch-db:add-switch-entry", h.addSwitchEntry)
	add(m, "switch-db:delete-switch-entry", h.deleteSwitchEntry)
	add(m, "switch-db:clear-db", h.clearDB)
	add(m, "switch-db:update-db", h.updateDB)
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

// change has a switch changed.
func (h *Handlers) change(ctx context.Context, sw *switchdriver.Switch, o writes.Operation) error {
	_, err := h.Do(ctx, sw, o)
	return err
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
