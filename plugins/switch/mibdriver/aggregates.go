package mibdriver

import (
	"context"

	"ctl.internal/plugins/switch/discovery"
	"ctl.internal/plugins/switch/mib"
	"ctl.internal/plugins/switch/snmp"
)

// aggregates reads which ports are members of aggregates, if several have the same
// neighbour: from LAG-MIB, else from what LLDP announces of them, else from ifStackTable.
func (d *Driver) aggregates(ctx context.Context, t snmp.Target, o *discovery.Observation) error {
	if !o.Parallel() {
		return nil
	}
	found := false
	read := func(column string, number func(*discovery.Port) uint32) error {
		at := map[uint32]uint32{}
		err := d.snmp.Walk(ctx, t, []string{column}, func(_ int, ix []uint32, v snmp.Value) error {
			if len(ix) == 1 && v.Uint32() != ix[0] { // itself: it is alone
				at[ix[0]] = v.Uint32()
			}
			return nil
		})
		for i := range o.Ports {
			p := &o.Ports[i]
			p.Aggregate = at[number(p)]
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
	err = d.snmp.Walk(ctx, t, []string{mib.IfType, mib.IfStackStatus}, func(column int, ix []uint32, v snmp.Value) error {
		switch {
		case column == 0 && len(ix) == 1:
			types[ix[0]] = int32(v.Int())
		case column == 1 && len(ix) == 2 && v.Int() == 1: // active
			stack[ix[0]] = append(stack[ix[0]], ix[1])
		}
		return nil
	})
	stack.Aggregates(o, types)
	return err
}
