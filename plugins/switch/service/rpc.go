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
func ReadRPCs(
	inventory *switchlist.Inventory,
	drivers *driver.Chooser,
	survey *discovery.Surveyor,
) operations.Mux {
	return (&Service{
		inventory: inventory,
		drivers:   drivers,
		survey:    survey,
	}).rpcMux()
}

// rpcMux returns the handlers of all RPCs by "module:rpc"; each file registers those of its module. Inputs are checked
// against the YANG modules before: a handler checks only what YANG cannot say.
func (s *Service) rpcMux() operations.Mux {
	m := operations.Mux{}
	s.topologyRPCs(m)
	s.fdbRPCs(m)
	s.vlanRPCs(m)
	s.aclRPCs(m)
	s.configRPCs(m)
	s.listRPCs(m)
	s.byName(m)
	s.portRPCs(m)
	s.undoRPCs(m)
	s.planRPCs(m)
	s.inventoryRPCs(m)
	return m
}

// rpcTime bounds a call that came without a deadline.
const rpcTime = 60 * time.Second

// registerHandler registers a handler. The paths of its faults are below the RPC's input, in the form the host gives them.
func registerHandler[In, Out any](
	m operations.Mux,
	name string,
	f func(context.Context, In) (Out, error),
) {
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
			return nil, faultsBelow("/"+module+":input/", err)
		}
		return out, nil
	})
}

// registerResultHandler registers a handler whose RPC answers a result leaf. Its value is SUCCESS: failures are errors.
func registerResultHandler[In any](
	m operations.Mux,
	name string,
	f func(context.Context, In) error,
) {
	_, rpc, _ := strings.Cut(name, ":")
	registerHandler(m, name, func(ctx context.Context, in In) (map[string]string, error) {
		return map[string]string{rpc + "-result": "SUCCESS"}, f(ctx, in)
	})
}

// faultsBelow puts the relative paths of faults below base.
func faultsBelow(base string, err error) error {
	l := fault.List(nil)
	e := (*fault.Error)(nil)
	if !errors.As(err, &l) && errors.As(err, &e) {
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

// readerOf returns the driver that has an operation for a switch, and the switch as that driver gets it.
func readerOf[T any](
	ctx context.Context,
	s *Service,
	m mib.MAC,
	operation string,
) (T, *switchdriver.Switch, error) {
	sw, err := s.switchOf("node-id", m)
	if err != nil {
		var none T
		return none, nil, err
	}
	return driver.For[T](ctx, s.drivers, sw, operation)
}

// changeSwitch has a switch changed, by the process that acts on switches.
func (s *Service) changeSwitch(ctx context.Context, m mib.MAC, o writes.Operation) error {
	sw, err := s.switchOf("node-id", m)
	if err == nil {
		_, err = s.writer.Do(ctx, sw, o)
	}
	return err
}

// checkStation refuses a MAC address that is not of a single station.
func checkStation(leaf string, m mib.MAC) error {
	if !m.Unicast() {
		return fault.At(
			fault.Invalid,
			leaf,
			"%d (%s) is a group address; only addresses of single stations can be set",
			uint64(m),
			m,
		)
	}
	return nil
}
