package mibdriver

import (
	"context"
	"slices"

	"ctl.internal/plugins/switch/discovery"
	"ctl.internal/plugins/switch/mib"
	"ctl.internal/plugins/switch/snmp"
	"ctl.internal/sdk/switchdriver"
)

// aggregates reads which ports are members of aggregates, if several have the same
// neighbour: from LAG-MIB, else from what LLDP announces of them, else from ifStackTable.
func (d *Driver) aggregates(ctx context.Context, t snmp.Target, o *discovery.Observation) error {
	if !o.Parallel() {
		return nil
	}
	return d.readAggregates(ctx, t, o)
}

// Aggregates returns ports with the aggregates that they are in now.
func (d *Driver) Aggregates(
	ctx context.Context,
	sw *switchdriver.Switch,
	ports []discovery.Port,
) ([]discovery.Port, error) {
	t, err := readTarget(sw)
	if err != nil {
		return nil, err
	}
	o := &discovery.Observation{Ports: slices.Clone(ports)}
	if err := d.readAggregates(ctx, t, o); err != nil {
		return nil, deviceFault(sw, err)
	}
	return o.Ports, nil
}

func (d *Driver) readAggregates(
	ctx context.Context,
	t snmp.Target,
	o *discovery.Observation,
) error {
	found := false
	read := func(oid string, number func(*discovery.Port) uint32) error {
		at := map[uint32]uint32{}
		err := d.walkColumns(ctx, t, 0, unsignedColumn(oid, at))
		for i := range o.Ports {
			p := &o.Ports[i]
			if p.Aggregate = at[number(p)]; p.Aggregate == number(p) { // itself: it is alone
				p.Aggregate = 0
			}
			found = found || p.Aggregate != 0
		}
		return err
	}
	err := read(mib.AggPortAttached, func(p *discovery.Port) uint32 { return p.IfIndex })
	if err != nil || found {
		return err
	}
	err = read(mib.LLDPLocAggPort, func(p *discovery.Port) uint32 { return p.LLDPLocal })
	if err != nil || found {
		return err
	}
	types, stack := map[uint32]int32{}, discovery.Stack{}
	err = d.walkColumns(ctx, t, 0, fieldColumn(mib.IfType, types, func(kind *int32, v snmp.Value) {
		*kind = int32(v.Int())
	}),
		column{mib.IfStackStatus, func(ix []uint32, v snmp.Value) {
			if len(ix) == 2 && v.Int() == 1 { // active
				stack[ix[0]] = append(stack[ix[0]], ix[1])
			}
		}})
	stack.Aggregates(o, types)
	return err
}
