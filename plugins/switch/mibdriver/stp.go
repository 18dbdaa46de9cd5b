package mibdriver

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"ctl.internal/plugins/switch/mib"
	"ctl.internal/plugins/switch/snmp"
	"ctl.internal/plugins/switch/writes"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/switchdriver"
)

// stpEnable are the values of dot1dStpPortEnable.
var stpEnable = map[bool]int64{true: 1, false: 2}

// ReadSTP reads dot1dStpPortTable. BRIDGE-MIB knows no state of the whole switch:
// spanning tree counts as enabled when any port takes part in it.
func (d *Driver) ReadSTP(
	ctx context.Context,
	sw *switchdriver.Switch,
	port uint32,
) ([]*switchdriver.STPPort, bool, error) {
	t, err := readTarget(sw)
	if err != nil {
		return nil, false, err
	}
	all, err := d.stpPorts(ctx, sw, t, port)
	if err != nil {
		return nil, false, err
	}
	out, on := make([]*switchdriver.STPPort, 0, len(all)), false
	for _, n := range slices.Sorted(maps.Keys(all)) {
		out, on = append(out, all[n]), on || all[n].Enabled
	}
	return out, on, nil
}

// stpPorts reads the ports of the table, or one of them.
func (d *Driver) stpPorts(
	ctx context.Context,
	sw *switchdriver.Switch,
	t snmp.Target,
	port uint32,
) (map[uint32]*switchdriver.STPPort, error) {
	all := map[uint32]*switchdriver.STPPort{}
	of := func(oid string, set func(*switchdriver.STPPort, snmp.Value)) column {
		return column{oid, func(ix []uint32, v snmp.Value) {
			if len(ix) != 1 || ix[0] == 0 || ix[0] > 0xffff {
				return
			}
			if all[ix[0]] == nil {
				all[ix[0]] = &switchdriver.STPPort{Port: ix[0]}
			}
			set(all[ix[0]], v)
		}}
	}
	err := d.walkColumns(ctx, t, 0, of(mib.StpPortState, func(p *switchdriver.STPPort, v snmp.Value) {
		p.State = int32(v.Int())
	}),
		of(mib.StpPortEnable, func(p *switchdriver.STPPort, v snmp.Value) {
			p.Enabled = v.Int() == stpEnable[true]
		}),
		of(mib.StpPortDesignatedRoot, func(p *switchdriver.STPPort, v snmp.Value) {
			p.DesignatedRoot = v.Bytes()
		}))
	if err != nil {
		return nil, deviceFault(sw, err)
	}
	switch {
	case len(all) == 0:
		return nil, fault.Device(fault.Unsupported, "switch %s has no spanning tree table (dot1dStpPortTable of BRIDGE-MIB)",
			switchdriver.Label(sw))
	case port == 0:
		return all, nil
	case all[port] == nil:
		return nil, fault.At(
			fault.NotFound,
			pathPort,
			"switch %s has no port %d in its spanning tree",
			switchdriver.Label(sw),
			port,
		)
	}
	return map[uint32]*switchdriver.STPPort{port: all[port]}, nil
}

// maxSTPPorts is how many ports one SET carries.
const maxSTPPorts = 16

// WriteSTP sets dot1dStpPortEnable of a port; for the whole switch, which the MIB has
// no object for, of all its ports. Ports that are so already are not touched.
func (d *Driver) WriteSTP(
	ctx context.Context,
	sw *switchdriver.Switch,
	port uint32,
	enable bool,
) error {
	r, w, err := readWriteTargets(sw)
	if err != nil {
		return err
	}
	before, err := d.stpPorts(ctx, sw, r, port)
	if err != nil {
		return err
	}
	steps := stpSteps(before, enable)
	if len(steps) == 0 {
		return nil
	}
	return d.applySteps(ctx, sw, r, w, steps, func() (string, error) {
		return d.stpDiffers(ctx, sw, port, enable)
	})
}

func stpSteps(before map[uint32]*switchdriver.STPPort, enable bool) (steps []step) {
	var ports []uint32
	for _, n := range slices.Sorted(maps.Keys(before)) {
		if before[n].Enabled != enable {
			ports = append(ports, n)
		}
	}
	for chunk := range slices.Chunk(ports, maxSTPPorts) {
		s := step{Step: writes.Step{What: "setting spanning tree of ports"}}
		for _, n := range chunk {
			s.addAssignment(
				mib.Sub(mib.StpPortEnable, n),
				writes.Integer,
				writes.Number(stpEnable[!enable]),
				writes.Number(stpEnable[enable]),
			)
		}
		steps = append(steps, s)
	}
	return steps
}

func (d *Driver) stpDiffers(
	ctx context.Context,
	sw *switchdriver.Switch,
	port uint32,
	enable bool,
) (string, error) {
	ports, _, err := d.ReadSTP(ctx, sw, port)
	if err != nil {
		return "", err
	}
	for _, p := range ports {
		if p.Enabled != enable {
			return fmt.Sprintf("spanning tree enabled %v at port %d", p.Enabled, p.Port), nil
		}
	}
	return "", nil
}
