package operations

import (
	"context"
	"encoding/binary"
	"fmt"

	"ctl.internal/plugins/switch/driver"
	"ctl.internal/plugins/switch/mibdriver"
	"ctl.internal/plugins/switch/writes"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

// nodeIn names the switch.
type nodeIn struct {
	NodeID *int64 `json:"node-id"`
}

// nodePortIn names a port of a switch.
type nodePortIn struct {
	nodeIn
	Port *int32 `json:"port"`
}

// stpStates are the values of dot1dStpPortState.
var stpStates = map[int32]string{1: "DISABLED", 2: "BLOCKING", 3: "LISTENING", 4: "LEARNING", 5: "FORWARDING", 6: "BROKEN"}

func (h *Handlers) stpPort(ctx context.Context, in nodePortIn) (*switchdriver.Switch, *switchdriver.STPPort, error) {
	var c checker
	port := c.port(in.Port)
	sw, err := c.node(h.Inventory, in.NodeID)
	if err != nil {
		return nil, nil, err
	}
	d, sw, err := driver.For[switchdriver.STPReader](ctx, h.Drivers, sw, "ReadStp")
	if err != nil {
		return nil, nil, err
	}
	ports, _, err := d.ReadSTP(ctx, sw, port)
	if err != nil {
		return nil, nil, err
	}
	if len(ports) == 0 {
		return nil, nil, fault.At(fault.NotFound, "port", "switch %s has no port %d in its spanning tree", mibdriver.Name(sw), port)
	}
	return sw, ports[0], nil
}

type getSTPPortStateOut struct {
	State string `json:"stp-port-state"`
}

func (h *Handlers) getSTPPortState(ctx context.Context, in nodePortIn) (*getSTPPortStateOut, error) {
	sw, p, err := h.stpPort(ctx, in)
	if err != nil {
		return nil, err
	}
	name, ok := stpStates[p.State]
	if !ok {
		return nil, fault.Device(fault.Downstream, "switch %s tells the state %d of port %d, which there is not", mibdriver.Name(sw), p.State, p.Port)
	}
	return &getSTPPortStateOut{name}, nil
}

type getSTPPortRootOut struct {
	Root int64 `json:"root-node-id"`
}

// getSTPPortRoot answers the address of the bridge identifier; its priority is left out.
func (h *Handlers) getSTPPortRoot(ctx context.Context, in nodePortIn) (*getSTPPortRootOut, error) {
	sw, p, err := h.stpPort(ctx, in)
	if err != nil {
		return nil, err
	}
	if len(p.DesignatedRoot) != 8 {
		return nil, fault.Device(fault.Unsupported, "switch %s does not tell the root that port %d knows", mibdriver.Name(sw), p.Port)
	}
	return &getSTPPortRootOut{int64(binary.BigEndian.Uint64(p.DesignatedRoot) & (1<<48 - 1))}, nil
}

type setSTPPortStateIn struct {
	nodePortIn
	Enable *bool `json:"enable"`
}

type setSTPPortStateOut struct {
	Result string `json:"set-stp-port-state-result"`
}

func (h *Handlers) setSTPPortState(ctx context.Context, in setSTPPortStateIn) (*setSTPPortStateOut, error) {
	var c checker
	port := c.port(in.Port)
	if in.Enable == nil {
		c.missing("enable")
	}
	if err := h.writeSTP(ctx, &c, in.NodeID, port, in.Enable); err != nil {
		return nil, err
	}
	return &setSTPPortStateOut{success}, nil
}

// writeSTP sets spanning tree at a port, or with 0 of the switch.
func (h *Handlers) writeSTP(ctx context.Context, c *checker, node *int64, port uint32, enable *bool) error {
	sw, err := c.node(h.Inventory, node)
	if err != nil {
		return err
	}
	what := map[bool]string{true: "enabling spanning tree", false: "disabling spanning tree"}[*enable]
	if port != 0 {
		what += fmt.Sprintf(" at port %d", port)
	}
	return h.change(ctx, sw, writes.Operation{Name: "WriteStp", What: what, Port: port, Enable: *enable})
}

type enableSTPOut struct {
	Result string `json:"enable-stp-result"`
}

func (h *Handlers) enableSTP(ctx context.Context, in nodeIn) (*enableSTPOut, error) {
	on := true
	if err := h.writeSTP(ctx, &checker{}, in.NodeID, 0, &on); err != nil {
		return nil, err
	}
	return &enableSTPOut{success}, nil
}

type disableSTPOut struct {
	Result string `json:"disable-stp-result"`
}

func (h *Handlers) disableSTP(ctx context.Context, in nodeIn) (*disableSTPOut, error) {
	on := false
	if err := h.writeSTP(ctx, &checker{}, in.NodeID, 0, &on); err != nil {
		return nil, err
	}
	return &disableSTPOut{success}, nil
}
