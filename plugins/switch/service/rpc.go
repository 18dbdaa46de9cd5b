package service

import (
	"context"
	"errors"
	"strings"
	"time"

	"ctl.internal/plugins/switch/discovery"
	"ctl.internal/plugins/switch/driver"
	"ctl.internal/plugins/switch/mib"
	"ctl.internal/plugins/switch/switchlist"
	"ctl.internal/plugins/switch/writes"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/operations"
	"ctl.internal/sdk/switchdriver"
)

// ReadRPCs returns the RPCs of a plugin without a host, which can only read. The benchmark measures them.
func ReadRPCs(inventory *switchlist.Inventory, drivers *driver.Chooser, survey *discovery.Surveyor) operations.Mux {
	return (&Service{inventory: inventory, drivers: drivers, survey: survey}).rpcs()
}

// rpcs returns the handlers of all RPCs by "module:rpc". Inputs are checked against the YANG modules
// before: a handler checks only what YANG cannot say.
func (s *Service) rpcs() operations.Mux {
	m := operations.Mux{}
	get(m, "topology:get-edge-list", ofNetwork(s, "edge-list-entry", edgesOf))
	get(m, "topology:get-node-list", ofNetwork(s, "node-list-entry", switchesOf))
	get(m, "topology:get-node-connector-list", ofNetwork(s, "node-connector-list-entry", portsOf))
	set(m, "topology:rediscover", func(ctx context.Context, _ operations.None) error {
		_, err := s.discover(ctx, discovery.All, nil)
		return err
	})
	set(m, "topology:set-discovery-interval", s.setDiscoveryInterval)
	get(m, "fdb:get-fdb-table", s.getFDBTable)
	get(m, "fdb:get-fdb-entry", s.getFDBEntry)
	set(m, "fdb:set-fdb-entry", s.setFDBEntry)
	set(m, "fdb:del-fdb-entry", s.delFDBEntry)
	get(m, "vlan:get-vlan-table", s.getVLANTable)
	set(m, "vlan:add-vlan", s.writeVLAN(true, false))
	set(m, "vlan:delete-vlan", s.deleteVLAN)
	set(m, "vlan:add-vlan-and-set-ports", s.writeVLAN(true, true))
	set(m, "vlan:set-vlan-ports", s.writeVLAN(false, true))
	set(m, "acl:create-acl-profile", s.applyACL(switchdriver.ACLCreateProfile))
	set(m, "acl:del-acl-profile", s.applyACL(switchdriver.ACLDeleteProfile))
	set(m, "acl:set-acl-rule", s.applyACL(switchdriver.ACLSetRule))
	set(m, "acl:del-acl-rule", s.applyACL(switchdriver.ACLDeleteRule))
	set(m, "acl:clear-acl-table", s.applyACL(switchdriver.ACLClear))
	set(m, "misc-config:set-stp-port-state", s.setSTPPortState)
	get(m, "misc-config:get-stp-port-state", s.getSTPPortState)
	get(m, "misc-config:get-stp-port-root", s.getSTPPortRoot)
	set(m, "misc-config:enable-stp", s.writeSTP(true))
	set(m, "misc-config:disable-stp", s.writeSTP(false))
	get(m, "misc-config:get-arp-table", s.getARPTable)
	get(m, "misc-config:get-arp-entry", s.getARPEntry)
	set(m, "misc-config:set-arp-entry", s.setARPEntry)
	set(m, "misc-config:delete-arp-entry", s.deleteARPEntry)
	get(m, "switch-db:reload-db", s.reloadDB)
	set(m, "switch-db:add-switch-entry", s.addSwitchEntry)
	set(m, "switch-db:delete-switch-entry", s.deleteSwitchEntry)
	set(m, "switch-db:clear-db", s.clearDB)
	set(m, "switch-db:update-db", s.updateDB)
	s.byName(m)
	return m
}

// rpcTime bounds a call that came without a deadline.
const rpcTime = 60 * time.Second

// get registers a handler. The paths of its faults are below the RPC's input, in the form the host gives them.
func get[In, Out any](m operations.Mux, name string, f func(context.Context, In) (Out, error)) {
	inner := operations.Func(f)
	module, _, _ := strings.Cut(name, ":")
	m[name] = operations.HandlerFunc(func(ctx context.Context, r *operations.Request) (any, error) {
		if _, ok := ctx.Deadline(); !ok {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, rpcTime)
			defer cancel()
		}
		out, err := inner.Invoke(ctx, r)
		if err != nil {
			return nil, below("/"+module+":input/", err)
		}
		return out, nil
	})
}

// set registers a handler whose RPC answers a result leaf. Its value is SUCCESS: failures are errors.
func set[In any](m operations.Mux, name string, f func(context.Context, In) error) {
	_, rpc, _ := strings.Cut(name, ":")
	get(m, name, func(ctx context.Context, in In) (map[string]string, error) {
		return map[string]string{rpc + "-result": "SUCCESS"}, f(ctx, in)
	})
}

// below puts the relative paths of faults below base.
func below(base string, err error) error {
	l := fault.List(nil)
	if e := (*fault.Error)(nil); !errors.As(err, &l) && errors.As(err, &e) {
		l = fault.List{e}
	}
	if l == nil {
		return err
	}
	out := make(fault.List, len(l))
	for i, e := range l {
		moved := *e
		if e.Path != "" && !strings.HasPrefix(e.Path, "/") {
			moved.Path = base + e.Path
		}
		out[i] = &moved
	}
	return out.Err()
}

// nodeIn names a switch.
type nodeIn struct {
	Node mib.MAC `json:"node-id"`
}

// switchOf finds the switch that a leaf of the input names.
func (s *Service) switchOf(leaf string, m mib.MAC) (*switchdriver.Switch, error) {
	sw, err := s.inventory.Find(m)
	if err != nil {
		return nil, fault.At(fault.NotFound, leaf, "%v", err)
	}
	return sw, nil
}

// reader returns the driver that has an operation for a switch, and the switch as that driver gets it.
func reader[T any](ctx context.Context, s *Service, m mib.MAC, operation string) (T, *switchdriver.Switch, error) {
	sw, err := s.switchOf("node-id", m)
	if err != nil {
		var none T
		return none, nil, err
	}
	return driver.For[T](ctx, s.drivers, sw, operation)
}

// change has a switch changed, by the process that acts on switches.
func (s *Service) change(ctx context.Context, m mib.MAC, o writes.Operation) error {
	sw, err := s.switchOf("node-id", m)
	if err == nil {
		_, err = s.writer.Do(ctx, sw, o)
	}
	return err
}

// station refuses a MAC address that is not of a single station.
func station(leaf string, m mib.MAC) error {
	if !m.Unicast() {
		return fault.At(fault.Invalid, leaf, "%d (%s) is a group address; only addresses of single stations can be set", uint64(m), m)
	}
	return nil
}
